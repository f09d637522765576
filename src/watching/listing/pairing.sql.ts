import { setImmediate } from 'node:timers/promises';
import { sql } from 'kysely';
import type { ListedRow } from '../../core/domain/pair-conflicts.ts';
import type { PayoutRange } from '../../core/ledger/payout-ranges.ts';
import { field, idList, integerField, rowsOf, textsOf } from '../../core/storage/bulk.ts';
import { keyset } from '../../core/storage/keyset.ts';
import type { Db, Ledger, Trx } from '../../core/storage/ledger.ts';
import { judgedColumns } from './listed-columns.ts';
import { pairingKeys, payoutBy } from './staging.sql.ts';

/** Listed rows per step, so that other writers and webhooks get a turn. */
const rowsPerStep = 1_000;
/** How many pairs one UPDATE writes; each row of it searches all of them. */
const rowsPerUpdate = 100;
/** Rows per range, where a query only counts or few rows match. */
const rowsPerRange = 5_000;

/**
 * Pairs the run's listed rows that matched no payout when they were staged, since more may be known now. `onPaired`
 * gets each payout. Returns how many payouts are paired, whether they agree or not.
 */
export async function pairListed(
  ledger: Ledger,
  run: string,
  onPaired?: (payoutId: bigint) => void,
): Promise<number> {
  for await (const ids of unpaired(ledger.db, run, rowsPerStep)) {
    // Most often there is nothing to pair, and so nothing to write.
    if ((await pairable(ledger.db, { run, ids })).length === 0) continue;
    await ledger.write(async (trx) => {
      const pairs = await pairable(trx, { run, ids });
      await setPayouts(trx, run, pairs);
      for (const { payout_id } of pairs) onPaired?.(payout_id);
    });
  }
  let paired = 0;
  for await (const { after, upTo } of payoutSteps(ledger.db, run)) {
    const row = await ledger.db
      .selectFrom('listed')
      .select((eb) => eb.fn.count<bigint>('payout_id').distinct().as('n'))
      .where('run_id', '=', run)
      .where('payout_id', '>', after)
      .where('payout_id', '<=', upTo)
      .executeTakeFirstOrThrow();
    paired += Number(row.n);
  }
  return paired;
}

/** Unpairs what runs showed of payouts that are deleted; at most some 20 runs hold rows. */
export async function unpair(trx: Trx, payouts: readonly bigint[]): Promise<void> {
  const { rows } = await sql<{ id: string }>`
    select id from runs where exists (select 1 from listed where listed.run_id = runs.id)`.execute(trx);
  for (const { id } of rows) {
    const transfers = sql`(select transfer_id from listed indexed by listed_payout
      where run_id = ${id} and payout_id in ${idList(payouts)})`;
    await sql`update listed set payout_id = null, stray_key = reference_key
      where run_id = ${id} and transfer_id in ${transfers}`.execute(trx);
  }
}

type Pair = { transfer_id: string; payout_id: bigint };

/** Uses sub-queries: in a join with the given rows, SQLite reads the whole run, and all of them for each of its rows. */
async function setPayouts(trx: Trx, run: string, pairs: readonly Pair[]): Promise<void> {
  for (let from = 0; from < pairs.length; from += rowsPerUpdate) {
    const some = pairs.slice(from, from + rowsPerUpdate);
    await sql`update listed set payout_id = (select ${integerField('payout_id')} from ${rowsOf(some)} as row
        where ${field('transfer_id')} = listed.transfer_id)
      where run_id = ${run} and transfer_id in ${textsOf(some.map(({ transfer_id }) => transfer_id))}`.execute(
      trx,
    );
  }
}

const highest = 2n ** 63n - 1n;

/** The payouts that the run's list shows, in ranges of some thousand rows, so that webhooks get a turn. */
export async function* payoutSteps(db: Db, run: string): AsyncGenerator<PayoutRange> {
  for (let after = 0n; after < highest; ) {
    const last = await db
      .selectFrom('listed')
      .select('payout_id')
      .where('run_id', '=', run)
      .where('payout_id', '>', after)
      .orderBy('payout_id')
      .offset(rowsPerRange - 1)
      .limit(1)
      .executeTakeFirst();
    const upTo = last?.payout_id ?? highest;
    yield { after, upTo };
    after = upTo;
    await setImmediate();
  }
}

/** Returns those of these unpaired rows for which a payout exists now. */
async function pairable(db: Db | Trx, { run, ids }: { run: string; ids: string[] }) {
  const payouts = pairingKeys.map((key) => payoutBy(key, (column) => sql.ref(`l.${column}`)));
  const { rows } = await sql<Pair>`
    select found.transfer_id, found.payout_id from (
      select l.transfer_id, coalesce(${sql.join(payouts)}) as payout_id from listed l
      where l.run_id = ${run} and l.transfer_id in ${textsOf(ids)} and l.payout_id is null) found
    where found.payout_id is not null`.execute(db);
  return rows;
}

/**
 * The unpaired transfers of the run, some at a time. The query uses only indexed columns: with others, SQLite reads the
 * whole run by its primary key.
 */
export async function* unpaired(db: Db, run: string, limit: number): AsyncGenerator<string[]> {
  const pages = keyset<{ transfer_id: string }>(limit, (last) =>
    db
      .selectFrom('listed')
      .select('transfer_id')
      .where('run_id', '=', run)
      .where('payout_id', 'is', null)
      .where('transfer_id', '>', last?.transfer_id ?? '')
      .orderBy('transfer_id')
      .limit(limit)
      .execute(),
  );
  for await (const rows of pages) yield rows.map((row) => row.transfer_id);
}

/** Unpaired rows created at or after `since`, by transfer id, some at a time. */
export async function* foreignRows(
  db: Db,
  run: string,
  since: string,
  limit: number,
): AsyncGenerator<ListedRow[]> {
  for await (const ids of unpaired(db, run, limit)) {
    const rows = await db
      .selectFrom('listed')
      .select(judgedColumns)
      .where('run_id', '=', run)
      .where('transfer_id', 'in', textsOf(ids))
      .where((eb) => eb.or([eb('created_at', '>=', since), eb('created_at', '=', '')]))
      .orderBy('transfer_id')
      .execute();
    if (rows.length > 0) yield rows;
  }
}
