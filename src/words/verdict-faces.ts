import type { Verdict } from '../core/domain/verdict.ts';

/** How a verdict looks: `good` is green. */
export type VerdictLook = 'good' | 'bad' | 'none';

/**
 * Each verdict as every page, sheet, message and command shows it: the same words, with a sign of its own shape, so that
 * the colour only repeats it. Only `reconciled` is green.
 */
export const verdictFaces: Record<Verdict, { sign: string; name: string; look: VerdictLook }> = {
  reconciled: { sign: '✓', name: 'reconciled', look: 'good' },
  exceptions: { sign: '✗', name: 'exceptions', look: 'bad' },
  not_compared: { sign: '○', name: 'not compared', look: 'none' },
  none: { sign: '–', name: 'nothing to state', look: 'none' },
};

/** What a verdict means, where no statement is beside it. */
export const verdictSentences: Record<Verdict, string> = {
  reconciled: 'The ledger and the service’s list agree.',
  exceptions: 'Do not sign off before these lines are explained:',
  not_compared: 'Paid amounts rest on earlier evidence only. Do not sign off.',
  none: 'Nothing was sent, and the service lists nothing.',
};
