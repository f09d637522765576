import { type Expression, type ExpressionBuilder, type RawBuilder, type SqlBool, sql } from 'kysely';
import { countPossiblyTaken, countSends } from '../../core/domain/outcome.ts';
import type { ListedRow, PairedPayout } from '../../core/domain/pair-conflicts.ts';
import type { Mode } from '../../core/domain/payout.ts';
import { type Began, firstIntent } from '../../core/ledger/known.ts';
import { ledgerMode } from '../../core/ledger/meta.ts';
import type { PayoutRange } from '../../core/ledger/payout-ranges.ts';
import { restsOnAny } from '../../core/ledger/stored-sets.ts';
import { idList, idsIn, idsText } from '../../core/storage/bulk.ts';
import type { Db } from '../../core/storage/ledger.ts';
import { prepared, unseen } from '../../core/storage/prepared.ts';
import type { Tables } from '../../core/storage/tables/tables.ts';
import { judgedColumns } from '../../watching/listing/listed-columns.ts';
import { payoutSteps } from '../../watching/listing/pairing.sql.ts';

/** A payout with every listed transfer that was paired with it. */
export type PairCase = { payout: PairedPayout; rows: ListedRow[] };

type InPair = ExpressionBuilder<Pick<Tables, 'listed' | 'payouts'>, 'listed' | 'payouts'>;

/**
 * The cases that differ, can progress, or lack the listing's word, by payout id, at most `limit` at a time: only these
 * need classifying. What happens to payouts between two of these groups counts. `walked` gets the ranges it went through.
 */
export async function* pairCases(
  db: Db,
  { run, walked }: { run: string; walked?: WalkedRange[] },
  limit: number,
): AsyncGenerator<PairCase[]> {
  for await (const range of payoutSteps(db, run)) {
    let any = false;
    for await (const cases of casesIn(db, { run, range }, limit)) {
      any = true;
      yield cases;
    }
    walked?.push({ ...range, any });
  }
}

/** Payouts that {@link pairCases} went through; `any`: it found a case among them. */
export type WalkedRange = PayoutRange & { any: boolean };

/** The cases of one range of payouts, at most `limit` at a time. */
export async function* casesIn(
  db: Db,
  { run, range }: { run: string; range: PayoutRange },
  limit: number,
): AsyncGenerator<PairCase[]> {
  const mode = await ledgerMode(db);
  let { after } = range;
  for (let more = true; more; ) {
    const found = await findCases(db, [run, mode, after, range.upTo, BigInt(limit)]);
    more = found.length === limit;
    after = found.at(-1)?.id ?? after;
    if (found.length > 0) yield await casesOf(db, { run, mode }, found);
  }
}

const payoutColumns = [
  'payouts.id',
  'payouts.batch_id',
  'payouts.reference',
  'payouts.reference_key',
  'payouts.transfer_id',
  'payouts.trx',
  'payouts.amount',
  'payouts.currency',
  'payouts.account_number',
  'payouts.bank_code',
  'payouts.state',
  'payouts.evidence',
  'payouts.fee',
  'payouts.fee_by',
  'payouts.other_fees',
  'payouts.submitted_at',
  'payouts.unseen_sends',
  'payouts.turned_run',
] as const;

/** Of run, mode, after, upTo, limit: each payout with one row of its own and its first attempt. */
const findCases = prepared((db, slot) =>
  db
    .selectFrom('listed')
    .innerJoin('payouts', 'payouts.id', 'listed.payout_id')
    .leftJoin('attempts', (join) =>
      join.onRef('attempts.payout_id', '=', 'payouts.id').on('attempts.number', '=', sql.lit(1n)),
    )
    .select(payoutColumns)
    .select(['payouts.attempt_count', 'attempts.began_at', 'attempts.outcome', 'attempts.clock_off_ms'])
    .select([
      'listed.transfer_id as listed_transfer_id',
      'listed.trx as listed_trx',
      'listed.reference as listed_reference',
      'listed.currency as listed_currency',
      'listed.amount as listed_amount',
      'listed.amount_text',
      'listed.fee as listed_fee',
      'listed.account_number as listed_account_number',
      'listed.bank_code as listed_bank_code',
      'listed.domain',
      'listed.status',
      'listed.created_at',
      'listed.updated_at',
    ])
    .select(sql<bigint>`case when ${severalRows(slot(0))} then 1 else 0 end`.as('several'))
    .where('listed.run_id', '=', unseen(slot<string>(0)))
    .where('listed.payout_id', '>', slot<bigint>(2))
    .where('listed.payout_id', '<=', slot<bigint>(3))
    .where((eb) =>
      eb.or([
        differs(eb, slot<string>(1)),
        eb('attempts.began_at', 'is', null),
        eb('payouts.submitted_at', 'is', null),
        eb('listed.created_at', '<', eb.ref('payouts.submitted_at')),
        severalRows(slot(0)),
      ]),
    )
    .orderBy('listed.payout_id')
    .limit(sql<bigint>`cast(${slot(4)} as bigint)`),
);

type FoundCase = Awaited<ReturnType<typeof findCases>>[number];

function differs(eb: InPair, mode: RawBuilder<string>): Expression<SqlBool> {
  return eb.or([
    eb('listed.amount', 'is', null),
    eb('listed.amount', '<>', eb.ref('payouts.amount')),
    eb('listed.currency', '<>', eb.ref('payouts.currency')),
    eb('listed.account_number', '<>', eb.ref('payouts.account_number')),
    eb('listed.bank_code', '<>', eb.ref('payouts.bank_code')),
    eb('listed.domain', '<>', mode),
    eb('listed.status', '<>', eb.ref('payouts.state')),
    eb('listed.fee', '<>', eb.ref('payouts.fee')),
    eb.and([eb('listed.fee', 'is not', null), eb('payouts.fee', 'is', null)]),
    eb('payouts.other_fees', 'is not', null),
    eb.not(restsOnAny('payouts.evidence', ['listing'])),
    eb('payouts.turned_run', 'is not', null),
  ]);
}

function severalRows(run: RawBuilder<unknown>): RawBuilder<SqlBool> {
  return sql<SqlBool>`exists (select 1 from listed other where other.run_id = ${run}
    and other.payout_id = listed.payout_id and other.transfer_id <> listed.transfer_id)`;
}

type Own = { run: string; mode: Mode };

/** Nearly every payout has one row and one attempt, and is known already; of the others everything is read. */
async function casesOf(db: Db, { run, mode }: Own, found: readonly FoundCase[]): Promise<PairCase[]> {
  const others = new Set(found.flatMap((row) => (isPlain(row) ? [] : [row.id])));
  const loaded = new Map(
    (await loadCases(db, { run, mode }, [...others])).map((one) => [one.payout.id, one]),
  );
  const cases: PairCase[] = [];
  for (const row of found) {
    const whole = loaded.get(row.id);
    if (cases.at(-1)?.payout.id === row.id) continue;
    cases.push(whole ?? { payout: pairedPayout(row, mode, [row]), rows: [shownRow(row)] });
  }
  const late = await returnedSince(db, run, cases);
  for (const { payout } of cases) payout.cameBackSince = late.has(payout.id);
  return cases;
}

/** The payouts that came back after the run's list was begun. Entries say so: clocks may jump (P33). */
async function returnedSince(db: Db, run: string, cases: readonly PairCase[]): Promise<Set<bigint>> {
  const ids = cases.flatMap(({ payout }) => (payout.state === 'returned' ? [payout.id] : []));
  if (ids.length === 0) return new Set();
  const { rows } = await sql<{ id: bigint }>`select distinct h.payout_id as id from history h
    where h.payout_id in ${idList(ids)} and h.to_state = 'returned' and h.from_state <> 'returned'
      and h.id > (select history_mark from runs where id = ${run})`.execute(db);
  return new Set(rows.map(({ id }) => id));
}

function isPlain({ several, attempt_count, began_at }: FoundCase): boolean {
  return several === 0n && attempt_count === 1n && began_at !== null;
}

function shownRow(row: FoundCase): ListedRow {
  return {
    transfer_id: row.listed_transfer_id,
    trx: row.listed_trx,
    reference: row.listed_reference,
    currency: row.listed_currency,
    amount: row.listed_amount,
    amount_text: row.amount_text,
    fee: row.listed_fee,
    account_number: row.listed_account_number,
    bank_code: row.listed_bank_code,
    domain: row.domain,
    status: row.status,
    created_at: row.created_at,
    updated_at: row.updated_at,
  };
}

const selectPayouts = prepared((db, slot) =>
  db
    .selectFrom('payouts')
    .select(payoutColumns)
    .where('id', 'in', idsIn(slot(0))),
);

const selectAttempts = prepared((db, slot) =>
  db
    .selectFrom('attempts')
    .select(['payout_id', 'began_at', 'outcome', 'clock_off_ms'])
    .where('payout_id', 'in', idsIn(slot(0)))
    .orderBy('number'),
);

/** Of run, first id, last id, ids: the range, and no order, else SQLite reads the whole listing by its primary key. */
const selectListed = prepared((db, slot) =>
  db
    .selectFrom('listed')
    .select([...judgedColumns, 'payout_id'])
    .where('run_id', '=', slot<string>(0))
    .where('payout_id', '>=', slot<bigint>(1))
    .where('payout_id', '<=', slot<bigint>(2))
    .where(sql<bigint>`+payout_id`, 'in', idsIn(slot(3))),
);

/** The cases of these payouts, whose ids are in order. */
async function loadCases(db: Db, { run, mode }: Own, ids: readonly bigint[]): Promise<PairCase[]> {
  const [first] = ids;
  if (first === undefined) return [];
  const text = idsText(ids);
  const payouts = await selectPayouts(db, [text]);
  const attemptsOf = Map.groupBy(await selectAttempts(db, [text]), (attempt) => attempt.payout_id);
  const listed = await selectListed(db, [run, first, ids.at(-1) ?? first, text]);
  const inOrder = listed.toSorted((a, b) => (a.transfer_id < b.transfer_id ? -1 : 1));
  const rowsOf = Map.groupBy(inOrder, (row) => row.payout_id);
  return payouts.map((row) => ({
    payout: pairedPayout(row, mode, attemptsOf.get(row.id) ?? []),
    rows: rowsOf.get(row.id) ?? [],
  }));
}

type PayoutPart = Awaited<ReturnType<typeof selectPayouts>>[number];

/** `own`: the payout's attempts in their order. */
function pairedPayout(row: PayoutPart, mode: Mode, own: readonly Began[]): PairedPayout {
  return {
    id: row.id,
    batchId: row.batch_id,
    reference: row.reference,
    referenceKey: row.reference_key,
    transferId: row.transfer_id,
    trx: row.trx,
    amount: row.amount,
    currency: row.currency,
    accountNumber: row.account_number,
    bankCode: row.bank_code,
    mode,
    state: row.state,
    evidence: row.evidence,
    fee: row.fee,
    fee_by: row.fee_by,
    other_fees: row.other_fees,
    turnedRun: row.turned_run,
    cameBackSince: false,
    firstIntentAt: firstIntent(row.submitted_at, own),
    accepted: own.some((attempt) => attempt.outcome === 'accepted'),
    sends: countSends(own, row.unseen_sends),
    possiblyTaken: countPossiblyTaken(own, row.unseen_sends),
    forgotten: row.unseen_sends > 0n,
  };
}
