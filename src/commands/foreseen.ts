import type { App } from '../app/app.ts';
import { counted } from '../domain/counted.ts';
import { holdTexts } from '../sending/hold-words.ts';
import { totalsText } from './describe.ts';

type Checked = Awaited<ReturnType<App<'local'>['intake']['check']>>;

const shownBanks = 20;

/** True when neither the file nor any row would be refused. */
export function isTakenWhole({ ok, skipped }: Checked): boolean {
  return ok && skipped === 0;
}

/** What would be paid of an accepted file, and how many rows `skip_row` would leave out. */
export function takenText({ rows, skipped, totals }: Checked): string {
  const left =
    skipped === 0 ? '' : `; ${skipped} of its ${rows} rows would be left out (intake.on_invalid_row)`;
  return `${counted(rows - skipped, 'payout')}, ${totalsText(totals)}${left}`;
}

/** The file's totals by bank, and the brakes that it would meet. Empty for a file that would be refused. */
export function foreseenLines({ ok, banks, holdReasons, waits }: Checked): string[] {
  if (!ok) return [];
  const all = Object.entries(banks).toSorted(([a], [b]) => (a < b ? -1 : 1));
  const shown = all
    .slice(0, shownBanks)
    .map(([code, { count, totals }]) => `  bank ${code}: ${counted(count, 'payout')}, ${totalsText(totals)}`);
  return [
    ...shown,
    ...(all.length > shownBanks ? [`  and ${all.length - shownBanks} more banks: --json names them`] : []),
    ...holdTexts(holdReasons, null).map((reason) => `  would be held: ${reason}`),
    ...waits.map((wait) => `  would wait: ${wait}`),
  ];
}

/** The same for `--json`; the banks have their own field. */
export function foreseenJson({ holdReasons, waits }: Checked): Record<string, string[]> {
  return { hold_reasons: holdTexts(holdReasons, null), waits };
}
