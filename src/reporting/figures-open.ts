import { type OpenQuestion, openQuestions, openSums } from '../reconciliation/open-questions.sql.ts';
import type { Scope } from '../reconciliation/run-facts.sql.ts';
import { findHalt } from '../sending/halts.sql.ts';
import type { Db } from '../storage/ledger.ts';
import { commandFor } from './next-command.ts';
import { money, zoned } from './presentation.ts';

/** As many open discrepancies are told with who and how much; all of them are in discrepancies.csv. */
const actionLimit = 1_000;

const actionColumns = [
  'severity',
  'kind',
  'reference',
  'account_name',
  'account_number',
  'bank_code',
  'currency',
  'amount',
  'expected',
  'actual',
  'difference',
  'first_seen_at',
  'age_days',
  'action',
  'command',
  'batch',
  'discrepancy_id',
  'transfer_id',
  'trx',
];
const openColumns = ['currency', 'severity', 'kind', 'state', 'count', 'amount'];

const dayMs = 86_400_000;

/** What a person must do, as sheets: the gravest open discrepancies, how many there are of each, and a halt. */
export async function openRows(db: Db, scope: Scope, zone: string): Promise<Record<string, string[][]>> {
  const questions = await openQuestions(db, scope, actionLimit);
  const sums = await openSums(db, scope);
  const halt = await findHalt(db);
  const counts = sums.map((one) => [
    one.currency,
    one.severity,
    one.kind,
    one.state,
    `${one.count}`,
    money(one.amount, one.currency),
  ]);
  return {
    action: [actionColumns, ...questions.map((question) => actionCells(question, scope.cut, zone))],
    open: [openColumns, ...counts.toSorted((a, b) => (a.join('\0') < b.join('\0') ? -1 : 1))],
    halt: [
      ['cause', 'since', 'kinds'],
      ...(halt ? [[halt.cause, zoned(halt.at, zone), halt.kinds.join(' ')]] : []),
    ],
  };
}

function actionCells(one: OpenQuestion, cut: string, zone: string): string[] {
  const age = Math.max(0, Math.floor((Date.parse(cut) - Date.parse(one.first_seen_at)) / dayMs));
  return [
    one.severity,
    one.kind,
    one.reference,
    one.account_name ?? '',
    one.account_number ?? '',
    one.bank_code ?? '',
    one.currency,
    one.money === null ? '' : money(one.money, one.currency),
    one.expected,
    one.actual,
    one.difference,
    zoned(one.first_seen_at, zone),
    `${age}`,
    one.action,
    commandFor(one),
    one.batch_id ?? '',
    one.id,
    one.transfer_id ?? '',
    one.trx ?? '',
  ];
}
