import type { LocalApp } from '../app.ts';
import { totalsText } from './describe.ts';

type Checked = Awaited<ReturnType<LocalApp['intake']['check']>>;

const shownBanks = 20;

/** What a file comes to by bank, and which brakes it would meet; nothing for one that would be refused. */
export function foreseenLines({ ok, banks, holdReasons, waits }: Checked): string[] {
  if (!ok) return [];
  const all = Object.entries(banks).toSorted(([a], [b]) => (a < b ? -1 : 1));
  const shown = all
    .slice(0, shownBanks)
    .map(([code, { count, totals }]) => `  bank ${code}: ${count} payouts, ${totalsText(totals)}`);
  return [
    ...shown,
    ...(all.length > shownBanks ? [`  and ${all.length - shownBanks} more banks: --json names them`] : []),
    ...holdReasons.map((reason) => `  would be held: ${reason}`),
    ...waits.map((wait) => `  would wait: ${wait}`),
  ];
}

/** The same for `--json`; the banks are shown beside it. */
export function foreseenJson({ holdReasons, waits }: Checked): Record<string, string[]> {
  return { hold_reasons: holdReasons, waits };
}
