import type { JsonOf } from '../../core/shapes/json-shapes.ts';
import type { Checked } from '../../intake/check.ts';
import { shownComparison } from '../../sending/payee-facts.ts';
import { holdTexts, sightOfAll } from '../../words/hold-words.ts';

/** The result of `check` for one file. Without names, what earlier batches paid is masked; the file is the reader's own. */
export function checkedJson(checked: Checked, { names } = sightOfAll): JsonOf<'check'>['files'][number] {
  const { file, ok, delimiter, lines, rows, skipped, totals, banks, warnings, problems } = checked;
  const { duplicates, retries, waits } = checked;
  const found = { file, ok, delimiter, lines, rows, skipped, totals, banks, warnings, problems };
  const hold_reasons = holdTexts(checked.holdReasons, null);
  const compared = comparedJson(
    checked.compared && shownComparison(checked.compared, names ? 'nothing' : 'earlier'),
  );
  return {
    ...found,
    problem_count: checked.problemCount,
    duplicates,
    retries,
    compared,
    hold_reasons,
    waits,
  };
}

/** Null without a batch before: then nothing can be said to have changed. */
function comparedJson(found: Checked['compared']): JsonOf<'check'>['files'][number]['compared'] {
  if (found === null || found.with === null) return null;
  const { joined, left, totalsBefore, totalsNow } = found;
  const changes = found.changes.map(({ was: _was, ...change }) => change);
  return {
    ...{ with: found.with, joined, left },
    account_changed: found.accountChanged,
    name_changed: found.nameChanged,
    amount_changed: found.amountChanged,
    totals_before: totalsBefore,
    totals_now: totalsNow,
    changes,
  };
}
