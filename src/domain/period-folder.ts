import type { Mode } from './payout.ts';

/** The folder of a closed month below the reports: one for each mode, so that a trial never overwrites what was paid. */
export function periodFolder(mode: Mode, month: string): string {
  return mode === 'live' ? `period-${month}` : `period-${month}-${mode}`;
}
