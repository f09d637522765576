import { counted } from '../core/domain/counted.ts';
import type { Verdict } from '../core/domain/verdict.ts';

/** How a verdict looks: `good` is green. */
export type VerdictLook = 'good' | 'bad' | 'none';

/**
 * A verdict as every page, sheet, message and command shows it: the same name, with a sign of its own shape, so that the
 * look and the terminal's colour only repeat it. `sentence`: what it means where no statement is beside it. `meaning`:
 * the same after the name, in a message.
 */
type Words = {
  sign: string;
  name: string;
  look: VerdictLook;
  colour: 'good' | 'bad' | 'doubt' | 'faint';
  sentence: string;
  meaning: string;
};

/** The only table of verdicts. Only `reconciled` is green. */
export const verdictWords: Record<Verdict, Words> = {
  reconciled: {
    sign: '✓',
    name: 'reconciled',
    look: 'good',
    colour: 'good',
    sentence: 'The ledger and the service’s list agree.',
    meaning: ': the list and the ledger agree',
  },
  exceptions: {
    sign: '✗',
    name: 'exceptions',
    look: 'bad',
    colour: 'bad',
    sentence: 'Do not sign off before these lines are explained:',
    meaning: ': the list and the ledger differ',
  },
  not_compared: {
    sign: '○',
    name: 'not compared',
    look: 'none',
    colour: 'doubt',
    sentence: 'Paid amounts rest on earlier evidence only. Do not sign off.',
    meaning: ': there was no usable list',
  },
  none: {
    sign: '–',
    name: 'nothing to state',
    look: 'none',
    colour: 'faint',
    sentence: 'Nothing was sent, and the service lists nothing.',
    meaning: '',
  },
};

/** What people did about the discrepancies of a run, while its verdict stands: the next run judges again. */
export function decidedWords(decided: number): string {
  return `${counted(decided, 'discrepancy was', 'discrepancies were')} decided, and none is open. The next run judges again.`;
}
