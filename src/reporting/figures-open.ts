import { type OpenQuestion, openQuestions, openSums } from '../reconciliation/open-questions.sql.ts';
import type { Scope } from '../reconciliation/run-facts.sql.ts';
import type { Db } from '../storage/ledger.ts';
import { ageDays } from './ageing.ts';
import { actionFor, commandFor, stepFor } from './discrepancy-words.ts';
import { haltInWords } from './halt-words.ts';
import { money, zoned } from './presentation.ts';
import { byText, sheetOf } from './sheet.ts';

/** How many open discrepancies are shown with beneficiary and amount; discrepancies.csv has all. */
const actionLimit = 1_000;

const actionSheet = sheetOf<{ one: OpenQuestion; cut: string; zone: string }>({
  severity: ({ one }) => one.severity,
  kind: ({ one }) => one.kind,
  reference: ({ one }) => one.reference,
  account_name: ({ one }) => one.account_name ?? '',
  account_number: ({ one }) => one.account_number ?? '',
  bank_code: ({ one }) => one.bank_code ?? '',
  currency: ({ one }) => one.currency,
  amount: ({ one }) => (one.money === null ? '' : money(one.money, one.currency)),
  expected: ({ one }) => one.expected,
  actual: ({ one }) => one.actual,
  difference: ({ one }) => one.difference,
  first_seen_at: ({ one, zone }) => zoned(one.first_seen_at, zone),
  age_days: ({ one, cut }) => `${ageDays(one.first_seen_at, cut)}`,
  next_step: ({ one }) => stepFor(one),
  action: ({ one }) => actionFor(one),
  command: ({ one }) => commandFor(one),
  batch: ({ one }) => one.batch_id ?? '',
  discrepancy_id: ({ one }) => one.id,
  transfer_id: ({ one }) => one.transfer_id ?? '',
  trx: ({ one }) => one.trx ?? '',
  evidence: ({ one }) => one.evidence,
});
const openSheet = sheetOf<Awaited<ReturnType<typeof openSums>>[number]>({
  currency: ({ currency }) => currency,
  severity: ({ severity }) => severity,
  kind: ({ kind }) => kind,
  state: ({ state }) => state,
  count: ({ count }) => `${count}`,
  amount: ({ amount, currency }) => money(amount, currency),
});

/** What a person must do, as sheets: the gravest open discrepancies, how many there are of each, and a halt. */
export async function openRows(db: Db, scope: Scope, zone: string): Promise<Record<string, string[][]>> {
  const questions = await openQuestions(db, scope, actionLimit);
  const sums = await openSums(db, scope);
  const halt = await haltInWords(db);
  const key = ({ currency, severity, kind, state }: (typeof sums)[number]): string =>
    [currency, severity, kind, state].join('\0');
  return {
    action: actionSheet.all(questions.map((one) => ({ one, cut: scope.cut, zone }))),
    open: openSheet.all(sums.toSorted((a, b) => byText(key(a), key(b)))),
    halt: [
      ['cause', 'since', 'kinds'],
      ...(halt ? [[halt.cause, zoned(halt.at, zone), halt.kinds.join(' ')]] : []),
    ],
  };
}
