import { resolve } from 'node:path';
import { counted } from '../../../core/domain/counted.ts';
import { visible } from '../../../core/domain/hidden.ts';
import { areHoldingAll } from '../../../core/ledger/hold-reasons.ts';
import type { Checked } from '../../../intake/check.ts';
import { submitCommand } from '../../../words/advice-text.ts';
import { checkedJson } from '../../json/check-json.ts';
import { withApp } from '../context/with-app.ts';
import type { Handler } from '../context/world.ts';
import { comparedLines } from '../kit/compared-lines.ts';
import { problemLines, retryLines, totalsText } from '../kit/describe.ts';
import { pathText } from '../kit/file-lines.ts';
import { closing } from '../kit/screen.ts';
import type { Terminal } from '../kit/terminal.ts';
import { terminalOf } from '../kit/terminal.ts';
import { bankLines, foreseenLines, isTakenWhole, leftText } from './foreseen.ts';
import { warningLines } from './warning-lines.ts';

/** How a file is shown: by the name that was typed, with every warning or with the first rows of each. */
type View = { name: string; verbose: boolean; terminal: Terminal };

/** At most this many duplicates and retries are printed. */
const most = 20;

/** `check FILE…`: prints what `submit` would say about these files. Records, moves and sends nothing. */
export const check: Handler = async (context, args, options) => {
  return withApp(context, { level: 'local', use: 'tries' }, async (app) => {
    const files: Checked[] = [];
    for (const file of args) files.push(await app.intake.check(resolve(context.cwd, file)));
    const { quiet } = context.options;
    const terminal = terminalOf(context, app.config, app.clock.iso());
    const verbose = options.verbose === true;
    // --quiet hides only success: what is refused or left out is printed.
    const lines = files.flatMap((checked) => {
      const view = { name: pathText(context.cwd, checked.file), verbose, terminal };
      if (!quiet) return fileLines(checked, view);
      return isTakenWhole(checked) ? [] : [headLine(checked, view), ...troubleLines(checked)];
    });
    const code = files.every(isTakenWhole) ? 0 : 3;
    const end = quiet ? [] : endLines(files, args, submitCommand(app.config.mode));
    return {
      code,
      screen: { blocks: [[...lines, ...end]] },
      json: { shape: 'check', fields: { files: files.map((one) => checkedJson(one)) } },
    };
  });
};

function fileLines(checked: Checked, view: View): string[] {
  const { ok, waits, holdReasons } = checked;
  const parts = [
    troubleLines(checked),
    comparedLines(checked.compared, view),
    remarksOn(checked, view),
    view.verbose && ok ? bankLines(checked, view.terminal) : [],
    foreseenLines({ ok, holdReasons, waits }),
  ].filter((part) => part.length > 0);
  return [headLine(checked, view), ...parts.flatMap((part) => ['', ...part]), ''];
}

/** `november.csv   120 payouts   NGN 4,190,001.45   comma, UTF-8`. */
function headLine(checked: Checked, { name, terminal }: View): string {
  const { ok, rows, skipped, totals, delimiter, problemCount } = checked;
  if (!ok)
    return `${visible(name)}   ${terminal.paint('bad', 'refused')}: ${counted(problemCount, 'problem')}`;
  const columns = delimiter === null ? [] : [`${delimiter}, UTF-8`];
  return [visible(name), counted(rows - skipped, 'payout'), totalsText(totals), ...columns].join('   ');
}

function troubleLines(checked: Checked): string[] {
  const left = leftText(checked);
  return [
    ...(left === '' ? [] : [`  ${left}`]),
    ...linesRead(checked),
    ...problemLines(checked.problems, checked.problemCount),
  ];
}

function remarksOn({ duplicates, retries, ...checked }: Checked, { name, verbose }: View): string[] {
  const shown = verbose ? duplicates : duplicates.slice(0, most);
  const rest = duplicates.length - shown.length;
  return [
    ...warningLines(checked, { verbose, more: `counterfoil check ${name} --verbose` }),
    ...shown.map((d) => `  possible duplicate: row ${d.row} (${d.reference}) looks like ${d.earlier}`),
    ...(rest > 0 ? [`  and ${rest} more possible duplicates`] : []),
    ...retryLines(retries),
  ];
}

/** What would become of the files, and the next command. */
function endLines(files: readonly Checked[], args: readonly string[], submit: string): string[] {
  const refused = files.filter(({ ok, takenAs }) => !ok && takenAs === null).length;
  const [again] = files.flatMap(({ takenAs }) => takenAs ?? []);
  const isHeld = ({ ok, holdReasons }: Checked): boolean => ok && areHoldingAll(holdReasons);
  const held = files.filter(isHeld).length;
  const isPart = files.some((one) => one.ok && one.holdReasons.length > 0 && !isHeld(one));
  const left = files.reduce((sum, { skipped }) => sum + skipped, 0);
  if (refused > 0) {
    const what = files.length === 1 ? 'Not ready' : `${refused} of ${files.length} files not ready`;
    const next = { Next: `correct the file, then counterfoil check ${args.join(' ')}` };
    return [`${what}: nothing of a refused file is paid.`, ...closing(next)];
  }
  if (again !== undefined) {
    const what = files.length === 1 ? 'it was' : 'what was refused was';
    const next = { Next: `counterfoil payouts --batch ${again}` };
    return [`Nothing to correct: ${what} taken before.`, ...closing(next)];
  }
  const who = files.length === 1 ? 'The batch' : `${held} of ${files.length} batches`;
  return [
    `Ready to submit${left > 0 ? `, without ${counted(left, 'row')}` : ''}.${held > 0 ? ` ${who} would be held.` : ''}${isPart ? ' Only its changed rows would wait.' : ''}`,
    ...closing({ Next: `${submit} ${args.join(' ')}` }),
  ];
}

/** Line and row counts when they differ: a quote may have merged lines. */
function linesRead({ lines, rows }: Checked): string[] {
  if (rows === 0 || lines === rows + 1) return [];
  return [`  read ${lines} lines as a header and ${counted(rows, 'row')}`];
}
