import { amountText, counted, grouped } from '../../../core/domain/counted.ts';
import {
  type CountedState,
  type Mode,
  replacedStates,
  witnessStatuses,
} from '../../../core/domain/payout.ts';
import type { BatchCounts } from '../../../core/ledger/batches.ts';
import { stateWords } from '../../../words/state-words.ts';
import { heldBecause } from '../../json/list-json.ts';
import { payoutColours } from '../kit/colours.ts';
import type { Paint } from '../kit/ink.ts';

/** `november-20261122-3f9a1c   120 payouts   NGN 4,190,001.45   test mode`. */
export function batchHead({ batch, totals, counts }: BatchCounts, mode: Mode): string {
  const rows = Number(batch.row_count) || Object.values(counts).reduce((sum, n) => sum + n, 0);
  const amounts = Object.entries(totals).map(([currency, amount]) => amountText(currency, amount));
  return [batch.id, counted(rows, 'payout'), amounts.join(', '), `${mode} mode`].join('   ');
}

/** `accepted 118 (99 paid, 11 failed)   refused 1   unknown 1`: where the payouts of a batch stand. */
export function progressLine({ counts, state }: Pick<BatchCounts, 'counts' | 'state'>, paint: Paint): string {
  if (state === 'loading') return '  still being taken in';
  // After an answer that the service took the payout.
  const accepted = witnessStatuses;
  const sum = accepted.reduce((n, one) => n + (counts[one] ?? 0), 0);
  const final = accepted.filter((one) => one !== 'pending' && (counts[one] ?? 0) > 0);
  const ends = final.map((one) =>
    paint(payoutColours[one], `${grouped(`${counts[one]}`)} ${stateWords[one]}`),
  );
  const parts = [
    ...(sum === 0 ? [] : [`accepted ${grouped(`${sum}`)}${ends.length > 0 ? ` (${ends.join(', ')})` : ''}`]),
    ...([...replacedStates, 'refused', 'unknown', 'sending', 'ready', 'held', 'cancelled'] as const).flatMap(
      (one) => {
        const n = counts[one] ?? 0;
        return n === 0 ? [] : [paint(payoutColours[one], `${stateWords[one]} ${grouped(`${n}`)}`)];
      },
    ),
  ];
  return `  ${parts.join('   ')}`;
}

/** `12 paid, 1 failed`; `none` for none. */
export function payoutsText(counts: Partial<Record<CountedState, number>>): string {
  const parts = Object.entries(stateWords).flatMap(([state, word]) => {
    const n = Object.entries(counts).find(([name]) => name === state)?.[1] ?? 0;
    return n === 0 ? [] : [`${grouped(`${n}`)} ${word}`];
  });
  return parts.length > 0 ? parts.join(', ') : 'none';
}

export function heldLines({ batch, state }: BatchCounts): string[] {
  return heldBecause({ batch, state }).map((reason) => `  held: ${reason}`);
}
