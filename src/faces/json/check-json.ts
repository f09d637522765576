import type { JsonOf } from '../../core/shapes/json-shapes.ts';
import type { Checked } from '../../intake/check.ts';
import { holdTexts } from '../../words/hold-words.ts';

/** The result of `check` for one file. */
export function checkedJson(checked: Checked): JsonOf<'check'>['files'][number] {
  const { file, ok, delimiter, lines, rows, skipped, totals, banks, warnings, problems } = checked;
  const { duplicates, retries, waits } = checked;
  const found = { file, ok, delimiter, lines, rows, skipped, totals, banks, warnings, problems };
  const hold_reasons = holdTexts(checked.holdReasons, null);
  return { ...found, problem_count: checked.problemCount, duplicates, retries, hold_reasons, waits };
}
