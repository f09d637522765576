import type { App } from '../../../app/app.ts';
import { grouped } from '../../../core/domain/counted.ts';
import { holdTexts } from '../../../words/hold-words.ts';
import { totalsText } from '../kit/describe.ts';
import type { Terminal } from '../kit/terminal.ts';

type Checked = Awaited<ReturnType<App<'local'>['intake']['check']>>;

/** True when neither the file nor any row would be refused. */
export function isTakenWhole({ ok, skipped }: Checked): boolean {
  return ok && skipped === 0;
}

/** How many rows `skip_row` would leave out; empty for none. */
export function leftText({ rows, skipped }: Pick<Checked, 'rows' | 'skipped'>): string {
  return skipped === 0 ? '' : `${skipped} of its ${rows} rows would be left out (intake.on_invalid_row)`;
}

/** The brakes that an accepted file would meet. Empty for a file that would be refused. */
export function foreseenLines({
  ok,
  holdReasons,
  waits,
}: Pick<Checked, 'ok' | 'holdReasons' | 'waits'>): string[] {
  if (!ok) return [];
  return [
    ...holdTexts(holdReasons, null).map((reason) => `  would be held: ${reason}`),
    ...waits.map((wait) => `  would wait: ${wait}`),
  ];
}

/** The file's totals by bank, as a table. */
export function bankLines({ banks }: Pick<Checked, 'banks'>, terminal: Terminal): string[] {
  const all = Object.entries(banks).toSorted(([a], [b]) => (a < b ? -1 : 1));
  return terminal.table(
    [
      { title: 'Bank', cell: ([code]) => code },
      { title: 'Payouts', right: true, cell: ([, { count }]) => grouped(`${count}`) },
      { title: 'Total', right: true, cell: ([, { totals }]) => totalsText(totals) },
    ],
    all,
  );
}
