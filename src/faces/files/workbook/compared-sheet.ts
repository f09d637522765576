import type { ComparedPerson, PayeeComparison } from '../../../core/ledger/payee-comparisons.ts';
import { isOfSeries, payeeChangeNames } from '../../../sending/payee-facts.ts';
import type { Note } from './notes-sheet.ts';
import { heading, numberNote } from './summary-parts.ts';

/** The name of the sheet that compares a batch with the last of its series. */
export const comparedSheet = 'Compared with last time';

/** The widths of its columns in characters: what, the reference or currency, the row, before, now. */
export const comparedWidths = [40, 24, 10, 40, 40];

/** How a batch differs from the last of its series (P37): counts, totals, and a row for each change. */
export function comparedNotes(found: PayeeComparison): Note[][] {
  const { hundredfold, inflated, changes } = found;
  const with_ = isOfSeries(found)
    ? `With ${found.with} of ${found.day}.`
    : 'No batch of its series is earlier. Compared with what was paid before.';
  const counts: [string, number][] = [
    ...(isOfSeries(found)
      ? ([
          ['Joined', found.joined],
          ['Left', found.left],
        ] satisfies [string, number][])
      : []),
    ['Account changed', found.accountChanged],
    ['Name changed', found.nameChanged],
    ...(found.amounts ? ([['Amount changed', found.amounts.count]] satisfies [string, number][]) : []),
    ['Amount changed by more than half', found.amountChanged],
    // Counted only where the configuration asks for it: a zero could be false.
    ...(found.newPayees > 0 ? [['Never paid before', found.newPayees] satisfies [string, number]] : []),
    ['A hundred times the amount of before', hundredfold.count],
  ];
  const currencies = [...new Set([found.totalsBefore, found.totalsNow].flatMap(Object.keys))].toSorted();
  const totals = currencies.map((currency): Note[] => [
    'Total',
    currency,
    '',
    numberNote(found.totalsBefore[currency] ?? '0'),
    numberNote(found.totalsNow[currency] ?? '0'),
  ]);
  const warnings = inflated.map((currency): Note[] => [
    { text: `The ${currency} total is a hundred times that of before.`, look: 'bad' },
  ]);
  return [
    [{ text: comparedSheet, look: 'title' }],
    [{ text: with_, look: 'soft' }],
    [],
    heading('Payees'),
    ...counts.map(([name, count]): Note[] => [name, '', numberNote(`${count}`)]),
    [],
    headers('Totals', 'Currency', '', 'Before', 'Now'),
    ...totals,
    ...Object.entries(found.amounts?.sums ?? {}).map(([currency, sum]): Note[] => {
      return ['Changed amounts in all', currency, '', '', numberNote(sum)];
    }),
    ...warnings,
    [],
    ...changePart(found),
    ...(changes.length === 0 ? [['No account, name or amount changed.'] satisfies Note[]] : []),
    ...peoplePart('Joined', found.people?.joined ?? [], found.joined),
    ...peoplePart('Left', found.people?.left ?? [], found.left),
  ];
}

/** Those whom only one of the two batches pays; `all`: how many there are. */
function peoplePart(title: string, people: readonly ComparedPerson[], all: number): Note[][] {
  if (people.length === 0) return [];
  const rows = people.map(({ row, reference, name, account, amount }): Note[] => [
    name,
    reference,
    numberNote(`${row}`),
    account,
    amount,
  ]);
  return [
    [],
    headers(title, 'Reference', 'Row', 'Account', 'Amount'),
    ...rows,
    ...restNote(people, all, 'payees'),
  ];
}

function restNote(kept: readonly unknown[], all: number, what: string): Note[][] {
  return all > kept.length ? [[`The first ${kept.length} of ${all} ${what}. The ledger keeps no more.`]] : [];
}

function changePart({
  changes,
  accountChanged,
  nameChanged,
  amountChanged,
  newPayees,
}: PayeeComparison): Note[][] {
  if (changes.length === 0) return [];
  const all = accountChanged + nameChanged + amountChanged + newPayees;
  const rows = changes.map((one): Note[] => [
    payeeChangeNames[one.kind],
    one.reference,
    numberNote(`${one.row}`),
    one.old || '–',
    one.new,
  ]);
  const rest = restNote(changes, all, 'changes');
  return [headers('Change', 'Reference', 'Row', 'Before', 'Now'), ...rows, ...rest];
}

const headers = (...names: string[]): Note[] => names.map((text) => ({ text, look: 'header' }));
