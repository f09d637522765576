import type { App } from '../../../app/app.ts';
import { counted } from '../../../core/domain/counted.ts';
import { amountWarnings } from '../../../sending/payee-facts.ts';
import { submitCommand } from '../../../words/advice-text.ts';
import { checkedJson } from '../../json/check-json.ts';
import type { Result } from '../context/result.ts';
import type { Context } from '../context/world.ts';
import { comparedLines } from '../kit/compared-lines.ts';
import { problemLines, retryLines, totalsText } from '../kit/describe.ts';
import { pathText } from '../kit/file-lines.ts';
import { foreseenLines, isTakenWhole, leftText } from './foreseen.ts';
import { refusedLines } from './submit-lines.ts';
import type { TakenFiles } from './submit-standing.ts';

/** `submit --dry-run`: shows what would be taken in and what refused; records nothing. */
export function describeDryRun(taken: TakenFiles[], { cwd }: Context, { config }: App<'local'>): Result {
  const dry = taken.flatMap((t) => (t.kind === 'dry_run' ? [t.checked] : []));
  const refused = taken.flatMap((t) => (t.kind === 'refused' ? [t] : []));
  const lines = dry.flatMap((c) => {
    const name = pathText(cwd, c.file);
    const left = leftText(c);
    return [
      c.ok
        ? `would take  ${name}   ${counted(c.rows - c.skipped, 'payout')}   ${totalsText(c.totals)}`
        : `would refuse  ${name}: ${counted(c.problemCount, 'problem')}`,
      ...(left === '' ? [] : [`  ${left}`]),
      ...problemLines(c.problems, c.problemCount),
      ...comparedLines(c.compared, { verbose: false }),
      ...(c.compared ? amountWarnings(c.compared) : []).map((text) => `  warning: ${text}`),
      ...retryLines(c.retries),
      ...foreseenLines(c),
    ];
  });
  const batches = dry.flatMap((c) => {
    if (!c.ok) return [];
    const { file, skipped, totals, warnings, banks, retries, compared, hold_reasons, waits } = checkedJson(c);
    const rows = { rows: c.rows - skipped, skipped, ...(skipped > 0 && { problems: c.problems }) };
    return [{ file, ...rows, totals, warnings, banks, retries, compared, hold_reasons, waits }];
  });
  const bad = [...dry.filter((c) => !c.ok), ...refused].map(({ file, problems, problemCount }) => {
    return { file, problem_count: problemCount, problems };
  });
  const next = batches.length > 0 && bad.length === 0 ? submitCommand(config.mode) : '';
  return {
    code: refused.length === 0 && dry.every(isTakenWhole) ? 0 : 3,
    screen: {
      blocks: [[...lines, ...refusedLines(taken, cwd)]],
      end: { Next: next === '' ? '' : `${next}, without --dry-run` },
    },
    json: { shape: 'submit --dry-run', fields: { dry_run: true, batches, refused: bad } },
  };
}
