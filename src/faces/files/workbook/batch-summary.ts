import { money, readableTime } from '../../../books/presentation.ts';
import { byText } from '../../../books/sheet.ts';
import { counted } from '../../../core/domain/counted.ts';
import { type CountedState, countedStates, isReplaced } from '../../../core/domain/payout.ts';
import type { Batch, Payout } from '../../../core/storage/tables/tables.ts';
import { lookOf } from './looks.ts';
import type { Note } from './notes-sheet.ts';
import { headerRow, heading, numberNote } from './summary-parts.ts';

type Sum = { count: bigint; amount: bigint };
type Counted = Pick<Payout, 'currency' | 'amount'>;

/** Adds up the payouts of a batch by currency and how they count while its rows are written, and those with open discrepancies. */
export function createBatchTally() {
  const currencies = new Map<string, Map<CountedState, Sum>>();
  let questioned = 0;
  return {
    currencies,
    questioned: () => questioned,
    add({ currency, amount }: Counted, state: CountedState, hasOpen: boolean): void {
      const states = currencies.get(currency) ?? new Map<CountedState, Sum>();
      const { count, amount: sum } = states.get(state) ?? { count: 0n, amount: 0n };
      states.set(state, { count: count + 1n, amount: sum + amount });
      currencies.set(currency, states);
      if (hasOpen) questioned += 1;
    },
  };
}
export type BatchTally = ReturnType<typeof createBatchTally>;

/** The first sheet of results.xlsx: what became of the batch, by currency and state. */
export function batchSummary(batch: Batch, tally: BatchTally, zone: string): Note[][] {
  const taken = `Taken in ${readableTime(batch.created_at, zone)} (${zone}) as ${batch.id}.`;
  const questioned = tally.questioned();
  const open: Note =
    questioned === 0
      ? 'No open discrepancy is known. Whether these payouts were compared: index.html, column Verdict.'
      : {
          text: `${counted(questioned, 'payout')} with an open discrepancy: see the column open_discrepancy.`,
          look: 'bad',
        };
  const look = lookOf('payout_state');
  const rows = [...tally.currencies]
    .toSorted(([a], [b]) => byText(a, b))
    .flatMap(([currency, states]) => {
      const present = countedStates.flatMap((state) => {
        const sum = states.get(state);
        return sum ? [{ state, ...sum }] : [];
      });
      // Its money counts once, with the payout that pays it again.
      const all = present.filter(({ state }) => !isReplaced(state)).reduce(added, { count: 0n, amount: 0n });
      return [
        ...present.map(({ state, count, amount }): Note[] => [
          { text: state.replaceAll('_', ' '), look: look?.(state) ?? 'plain' },
          currency,
          numberNote(`${count}`),
          numberNote(money(amount, currency)),
        ]),
        [
          { text: `All payouts in ${currency}`, look: 'total' },
          { text: currency, look: 'total' },
          numberNote(`${all.count}`, 'total'),
          numberNote(money(all.amount, currency), 'total'),
        ] satisfies Note[],
      ];
    });
  return [
    [{ text: `Results of ${batch.file_name}`, look: 'title' }],
    [{ text: taken, look: 'soft' }],
    [],
    heading('Where the money is'),
    headerRow('State', 'Payouts'),
    ...rows,
    [],
    heading('What needs a person'),
    [open],
  ];
}

function added(a: Sum, b: Sum): Sum {
  return { count: a.count + b.count, amount: a.amount + b.amount };
}
