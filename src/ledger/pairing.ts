import { type Expression, type ExpressionBuilder, type SqlBool, sql } from 'kysely';
import type { ListedRow, PairedPayout } from '../domain/classify.ts';
import { mayHaveBeenTaken } from '../domain/outcome.ts';
import type { Mode } from '../domain/payout.ts';
import type { Db, Ledger } from './open.ts';
import type { Tables } from './tables.ts';

/** A payout with every listed transfer that was paired with it. */
export type PairCase = { payout: PairedPayout; rows: ListedRow[] };

type InPair = ExpressionBuilder<Pick<Tables, 'listed' | 'payouts'>, 'listed' | 'payouts'>;

/** Listed rows paired per transaction, so that other writers get their turn. */
const rowsPerStep = 20_000;

/**
 * Pairs the run's listed rows with payouts of the mode: by reference, then by transfer id, then by trx.
 * Returns how many payouts were paired, agreeing or not.
 */
export async function pairListed(ledger: Ledger, run: string, mode: Mode): Promise<number> {
  for (let after: string | null = ''; after !== null; ) {
    const upTo = await boundary(ledger.db, run, after);
    const range = sql`run_id = ${run} and transfer_id > ${after} ${upTo === null ? sql`` : sql`and transfer_id <= ${upTo}`}`;
    await ledger.write(async (trx) => {
      for (const key of ['reference_key', 'transfer_id', 'trx'] as const) {
        const ours = sql`(select min(p.id) from payouts p where p.mode = ${mode} and p.${sql.ref(key)} = listed.${sql.ref(key)})`;
        await sql`update listed set payout_id = ${ours} where ${range} and payout_id is null`.execute(trx);
      }
    });
    after = upTo;
  }
  const row = await ledger.db
    .selectFrom('listed')
    .select((eb) => eb.fn.count<bigint>('payout_id').distinct().as('n'))
    .where('run_id', '=', run)
    .executeTakeFirstOrThrow();
  return Number(row.n);
}

/** The next cases (by payout id) that differ, can progress, or lack the listing's word: only these need classifying. */
export async function casesAfter(
  db: Db,
  run: string,
  mode: Mode,
  after: bigint,
  limit: number,
): Promise<PairCase[]> {
  const ids = await db
    .selectFrom('listed')
    .innerJoin('payouts', 'payouts.id', 'listed.payout_id')
    .leftJoin('attempts', (join) =>
      join.onRef('attempts.payout_id', '=', 'payouts.id').on('attempts.number', '=', 1n),
    )
    .select('listed.payout_id as id')
    .distinct()
    .where('listed.run_id', '=', run)
    .where('payouts.mode', '=', mode)
    .where('listed.payout_id', '>', after)
    .where((eb) =>
      eb.or([
        differs(eb),
        eb('attempts.began_at', 'is', null),
        eb('listed.created_at', '<', eb.ref('attempts.began_at')),
        severalRows(run),
      ]),
    )
    .orderBy('listed.payout_id')
    .limit(limit)
    .execute();
  return loadCases(
    db,
    run,
    ids.flatMap(({ id }) => id ?? []),
  );
}

/** Listed rows that belong to no payout, created at or after `since`, by transfer id. */
export function foreignAfter(
  db: Db,
  run: string,
  since: string,
  after: string,
  limit: number,
): Promise<ListedRow[]> {
  return db
    .selectFrom('listed')
    .select(listedColumns)
    .where('run_id', '=', run)
    .where('payout_id', 'is', null)
    .where('transfer_id', '>', after)
    .where((eb) => eb.or([eb('created_at', '>=', since), eb('created_at', '=', '')]))
    .orderBy('transfer_id')
    .limit(limit)
    .execute();
}

function differs(eb: InPair): Expression<SqlBool> {
  return eb.or([
    eb('listed.amount', 'is', null),
    eb('listed.amount', '<>', eb.ref('payouts.amount')),
    eb('listed.currency', '<>', eb.ref('payouts.currency')),
    eb('listed.account_number', '<>', eb.ref('payouts.account_number')),
    eb('listed.bank_code', '<>', eb.ref('payouts.bank_code')),
    eb('listed.domain', '<>', eb.ref('payouts.mode')),
    eb('listed.status', '<>', eb.ref('payouts.state')),
    eb('listed.fee', '<>', eb.ref('payouts.fee')),
    eb('payouts.evidence', 'not like', '%listing%'),
  ]);
}

function severalRows(run: string): Expression<SqlBool> {
  return sql<SqlBool>`exists (select 1 from listed other where other.run_id = ${run}
    and other.payout_id = listed.payout_id and other.transfer_id <> listed.transfer_id)`;
}

const listedColumns = [
  'transfer_id',
  'trx',
  'reference',
  'currency',
  'amount',
  'amount_text',
  'fee',
  'account_number',
  'bank_code',
  'domain',
  'status',
  'created_at',
  'updated_at',
] as const;

async function loadCases(db: Db, run: string, ids: bigint[]): Promise<PairCase[]> {
  if (ids.length === 0) return [];
  const payouts = await db.selectFrom('payouts').selectAll().where('id', 'in', ids).orderBy('id').execute();
  const attempts = await db
    .selectFrom('attempts')
    .select(['payout_id', 'began_at', 'outcome'])
    .where('payout_id', 'in', ids)
    .orderBy('number')
    .execute();
  const listed = await db
    .selectFrom('listed')
    .select([...listedColumns, 'payout_id'])
    .where('run_id', '=', run)
    // The range, and no order: else SQLite takes the primary key, and reads the whole listing for each chunk.
    .where('payout_id', '>=', ids[0] ?? 0n)
    .where('payout_id', '<=', ids.at(-1) ?? 0n)
    .where(sql<bigint>`+payout_id`, 'in', ids)
    .execute();
  const attemptsOf = Map.groupBy(attempts, (attempt) => attempt.payout_id);
  const inOrder = listed.toSorted((a, b) => (a.transfer_id < b.transfer_id ? -1 : 1));
  const rowsOf = Map.groupBy(inOrder, (row) => row.payout_id);
  return payouts.map((row) => {
    const own = attemptsOf.get(row.id) ?? [];
    const payout: PairedPayout = {
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
      mode: row.mode,
      state: row.state,
      evidence: row.evidence,
      fee: row.fee,
      // An adopted payout may have been sent by the ledger that was lost (P25).
      firstIntentAt: own[0]?.began_at ?? row.submitted_at,
      accepted: own.some((attempt) => attempt.outcome === 'accepted'),
      possiblyTaken: own.filter(({ outcome }) => mayHaveBeenTaken(outcome)).length + Number(row.unseen_sends),
      forgotten: row.unseen_sends > 0n,
    };
    return { payout, rows: rowsOf.get(row.id) ?? [] };
  });
}

/** The last transfer id of the next step, or null when the rest fits in it. */
async function boundary(db: Db, run: string, after: string): Promise<string | null> {
  const row = await db
    .selectFrom('listed')
    .select('transfer_id')
    .where('run_id', '=', run)
    .where('transfer_id', '>', after)
    .orderBy('transfer_id')
    .offset(rowsPerStep - 1)
    .limit(1)
    .executeTakeFirst();
  return row?.transfer_id ?? null;
}
