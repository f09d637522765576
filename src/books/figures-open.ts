import type { Db } from '../core/storage/ledger.ts';
import { findHalt } from '../sending/halts.sql.ts';
import { ageDays } from './ageing.ts';
import { type OpenQuestion, openQuestions, openSums } from './discrepancies/open-questions.sql.ts';
import type { RunScope } from './discrepancies/run-facts.sql.ts';
import type { FrozenWords } from './frozen-words.ts';
import { money, zoned } from './presentation.ts';
import { asIs, byText, sheetOf } from './sheet.ts';

/** How many open discrepancies are shown with beneficiary and amount; discrepancies.csv has all. */
const actionLimit = 1_000;

const actionSheet = sheetOf<OpenQuestion & { cut: string; zone: string; words: FrozenWords }>({
  ...asIs('severity', 'kind', 'reference', 'account_name', 'account_number', 'bank_code', 'currency'),
  amount: ({ money: minor, currency }) => (minor === null ? '' : money(minor, currency)),
  ...asIs('expected', 'actual', 'difference'),
  first_seen_at: ({ first_seen_at, zone }) => zoned(first_seen_at, zone),
  age_days: ({ first_seen_at, cut }) => `${ageDays(first_seen_at, cut)}`,
  next_step: (one) => one.words.step(one),
  action: (one) => one.words.action(one),
  command: (one) => one.words.command(one),
  batch: ({ batch_id }) => batch_id ?? '',
  discrepancy_id: ({ id }) => id,
  ...asIs('transfer_id', 'trx', 'evidence'),
});

const openSheet = sheetOf<Awaited<ReturnType<typeof openSums>>[number]>({
  ...asIs('currency', 'severity', 'kind', 'state'),
  count: ({ count }) => `${count}`,
  amount: ({ amount, currency }) => money(amount, currency),
});

/** What a person must do, as sheets: the gravest open discrepancies, how many there are of each, and a halt. */
export async function openRows(
  db: Db,
  scope: RunScope,
  { zone, words }: { zone: string; words: FrozenWords },
): Promise<Record<string, string[][]>> {
  const questions = await openQuestions(db, scope, actionLimit);
  const sums = await openSums(db, scope);
  const halt = await findHalt(db);
  const key = ({ currency, severity, kind, state }: (typeof sums)[number]): string =>
    [currency, severity, kind, state].join('\0');
  return {
    action: actionSheet.all(questions.map((one) => ({ ...one, cut: scope.cut, zone, words }))),
    open: openSheet.all(sums.toSorted((a, b) => byText(key(a), key(b)))),
    halt: [
      ['cause', 'since', 'kinds'],
      ...(halt
        ? [[words.halt(halt.causes), zoned(halt.at, zone), halt.causes.map(({ kind }) => kind).join(' ')]]
        : []),
    ],
  };
}
