import { type RawBuilder, sql } from 'kysely';
import { isSameName } from '../core/domain/same-name.ts';
import { later } from '../core/domain/wait.ts';
import type { OtherName } from '../core/ledger/hold-reasons.ts';
import type { Db, Ledger, Trx } from '../core/storage/ledger.ts';
import type { PrecheckState } from '../core/storage/tables/brake-tables.ts';

/** A page of payouts. */
const chunk = 1000;
const shownNames = 5;

/** SQL condition for queries over `batches`: its checks before payment are done. */
export const isChecked: RawBuilder<boolean> = sql`batches.precheck in ('clear', 'accepted', 'begun')`;

/** `day`: the newest whose payouts may go (P38). What waits for a later one needs no answer yet. */
const hasPayable = (day: string): RawBuilder<boolean> =>
  sql`exists (select 1 from payouts as p
    where p.batch_id = batches.id and p.state = 'ready' and p.pay_on <= ${day})`;

/** A batch to look at before its first payout. */
export type Unchecked = { batch: string; state: PrecheckState; count: number };

/** How long a batch may wait for its first payout after a clear look. */
export const freshMs = 60_000;

/**
 * Ends clear looks whose batches have not begun for a minute: a limit, a hold or another batch may keep one waiting for
 * days. So does a look that a clock stamped ahead of `at`, ISO UTC (P33). The names stay compared.
 */
export async function expireLooks(ledger: Pick<Ledger, 'db' | 'write'>, at: string): Promise<void> {
  const old = sql<boolean>`(precheck = 'clear' and (precheck_at < ${later(at, -freshMs)} or precheck_at > ${at}))`;
  if (!(await ledger.db.selectFrom('batches').select('id').where(old).limit(1).executeTakeFirst())) return;
  await ledger.write((trx) => trx.updateTable('batches').set({ precheck: 'named' }).where(old).execute());
}

/**
 * Returns the batches to look at before they are paid, small ones first. None that is held: while a hold or a release is
 * under way only part of it is ready, and the look would clear the rest unseen.
 */
export async function batchesToCheck(db: Db, day: string): Promise<Unchecked[]> {
  const rows = await db
    .selectFrom('batches')
    .select(['id', 'precheck', 'row_count'])
    .where('phase', '=', 'loaded')
    .where('precheck', 'in', ['due', 'named', 'held'])
    .where('held', '=', 0n)
    .where(hasPayable(day))
    .orderBy('row_count')
    .orderBy('id')
    .execute();
  return rows.map(({ id, precheck, row_count }) => ({
    batch: id,
    state: precheck,
    count: Number(row_count),
  }));
}

/** A number that changes with every payout of the batch, and whenever a person holds or releases it. */
export async function batchVersion(db: Db, batch: string): Promise<bigint> {
  const row = await db
    .selectFrom('batches')
    .select('version')
    .where('id', '=', batch)
    .executeTakeFirstOrThrow();
  return row.version;
}

/** Keeps why the service gave no answer about a batch, for `status` and for a person who ends the wait (P32). */
export async function noteWait(trx: Trx, batch: string, why: string): Promise<void> {
  await trx
    .updateTable('batches')
    .set({ precheck_wait: why })
    .where('id', '=', batch)
    .where('precheck', 'in', ['due', 'named'])
    .where((eb) => eb.or([eb('precheck_wait', 'is', null), eb('precheck_wait', '<>', why)]))
    .execute();
}

/** Why a batch waits for its checks, and whether a person has ended them; null for a batch that is not there. */
export async function checkStanding(
  db: Db,
  batch: string,
): Promise<{ wait: string | null; accepted: boolean } | null> {
  const row = await db
    .selectFrom('batches')
    .select(['precheck', 'precheck_wait'])
    .where('id', '=', batch)
    .executeTakeFirst();
  return row ? { wait: row.precheck_wait, accepted: row.precheck === 'accepted' } : null;
}

/** Returns the batches that wait for their checks, how many payouts of each are ready, and why if they were asked about. */
export async function batchesAwaitingCheck(
  db: Db,
  day: string,
): Promise<{ batch: string; count: number; why: string | null }[]> {
  const rows = await db
    .selectFrom('batches')
    .innerJoin('payout_totals', 'payout_totals.batch_id', 'batches.id')
    .select((eb) => [
      'batches.id as batch',
      'batches.precheck_wait as why',
      eb.fn.sum<bigint>('payout_totals.n').as('count'),
    ])
    .where('batches.phase', '=', 'loaded')
    .where('batches.precheck', 'in', ['due', 'named', 'held'])
    .where('payout_totals.state', '=', sql.lit('ready' as const))
    .where('payout_totals.n', '>', 0n)
    .where(hasPayable(day))
    .groupBy(['batches.id', 'batches.precheck_wait'])
    .orderBy('batches.id')
    .execute();
  return rows.map(({ batch, count, why }) => ({ batch, count: Number(count), why }));
}

/** 1 for a payout `p` whose account was paid before with success under its name: nobody need be asked whose it is. */
const isKnown = sql<bigint>`case when exists (select 1 from payouts as q where q.account_number = p.account_number
    and q.currency = p.currency and q.bank_code = p.bank_code and q.account_name = p.account_name
    and q.state = 'success') then 1 else 0 end`;

/** An account that a batch pays. */
export type Beneficiary = { bankCode: string; accountNumber: string };

/**
 * Returns the accounts of the next ready payouts that are not known and have no answer, each once, and the place to go on
 * from; null at the end.
 */
export async function accountsToAsk(
  db: Db,
  batch: string,
  after: bigint,
): Promise<{ accounts: Beneficiary[]; payouts: number; next: bigint | null }> {
  const rows = await db
    .selectFrom('payouts as p')
    .leftJoin('account_names as n', (join) =>
      join
        .onRef('n.batch_id', '=', 'p.batch_id')
        .onRef('n.bank_code', '=', 'p.bank_code')
        .onRef('n.account_number', '=', 'p.account_number'),
    )
    .select(['p.id', 'p.bank_code', 'p.account_number', 'n.message', isKnown.as('known')])
    .where('p.batch_id', '=', batch)
    .where('p.state', '=', sql.lit('ready' as const))
    .where('p.id', '>', after)
    .orderBy('p.id')
    .limit(chunk)
    .execute();
  const open = rows.filter(({ message, known }) => message === null && known === 0n);
  const accounts = new Map(
    open.map(({ bank_code: bankCode, account_number: accountNumber }) => [
      `${bankCode} ${accountNumber}`,
      { bankCode, accountNumber },
    ]),
  );
  const next = rows.length < chunk ? null : (rows.at(-1)?.id ?? null);
  return { accounts: [...accounts.values()], payouts: rows.length, next };
}

/** Keeps what the service said, so that an interrupted look goes on where it ended. */
export async function keepNames(
  trx: Trx,
  batch: string,
  names: readonly (Beneficiary & { name: string | null; message: string })[],
): Promise<void> {
  const rows = names.map(({ bankCode, accountNumber, name, message }) => ({
    batch_id: batch,
    bank_code: bankCode,
    account_number: accountNumber,
    name,
    message,
  }));
  await trx
    .insertInto('account_names')
    .values(rows)
    .onConflict((on) => on.columns(['batch_id', 'bank_code', 'account_number']).doNothing())
    .execute();
}

/** Counts the ready payouts, known ones left out, whose account has another name at the service, or none; with the first. */
export async function otherNames(db: Db, batch: string): Promise<{ count: number; first: OtherName[] }> {
  const found: { count: number; first: OtherName[] } = { count: 0, first: [] };
  for (let after: bigint | null = 0n; after !== null; ) {
    const rows = await namesOf(db, batch, after);
    for (const row of rows) {
      if (row.name !== null && isSameName(row.account_name, row.name)) continue;
      found.count += 1;
      if (found.first.length < shownNames) found.first.push(otherName(row));
    }
    after = rows.length < chunk ? null : (rows.at(-1)?.id ?? null);
  }
  return found;
}

type Named = Awaited<ReturnType<typeof namesOf>>[number];

function namesOf(db: Db, batch: string, after: bigint) {
  return db
    .selectFrom('payouts as p')
    .leftJoin('account_names as n', (join) =>
      join
        .onRef('n.batch_id', '=', 'p.batch_id')
        .onRef('n.bank_code', '=', 'p.bank_code')
        .onRef('n.account_number', '=', 'p.account_number'),
    )
    .select([
      'p.id',
      'p.row_number',
      'p.reference',
      'p.account_number',
      'p.account_name',
      'n.name',
      'n.message',
    ])
    .where('p.batch_id', '=', batch)
    .where('p.state', '=', sql.lit('ready' as const))
    .where(isKnown, '=', 0n)
    .where('p.id', '>', after)
    .orderBy('p.id')
    .limit(chunk)
    .execute();
}

function otherName(row: Named): OtherName {
  return {
    row: Number(row.row_number),
    reference: row.reference,
    account: `…${row.account_number.slice(-4)}`,
    ours: row.account_name,
    theirs: row.name,
    message: row.message ?? 'no answer',
  };
}

/**
 * Records the result of a look, unless a payout was claimed or a person held or released the batch meanwhile. Returns
 * whether. `version`: the batch's when the look began; a look passes over payouts that are held.
 */
export async function setPrecheck(
  trx: Trx,
  batch: string,
  { state, at, version }: { state: 'named' | 'clear' | 'held'; at: string; version: bigint },
): Promise<boolean> {
  const { numUpdatedRows } = await trx
    .updateTable('batches')
    .set({ precheck: state, precheck_at: at, precheck_wait: null })
    .where('id', '=', batch)
    .where('version', '=', version)
    .where('precheck', 'in', ['due', 'named', 'clear', 'held'])
    .executeTakeFirst();
  return numUpdatedRows > 0n;
}

/**
 * Accepts what the checks found, because a person released the batch: it is not held for that again. The release of a
 * batch that nothing holds whole ends its wait for an answer (P32). Any other release makes the question due again.
 */
export async function acceptPrecheck(trx: Trx, batch: string): Promise<void> {
  await trx
    .updateTable('batches')
    .set({ precheck: 'accepted', precheck_wait: null })
    .where('id', '=', batch)
    .where((eb) =>
      eb.or([
        eb('precheck', '=', 'held'),
        eb.and([
          eb('precheck', 'in', ['due', 'named']),
          eb('precheck_wait', 'is not', null),
          eb('held', '=', 0n),
        ]),
      ]),
    )
    .execute();
  await trx
    .updateTable('batches')
    .set({ precheck_wait: null })
    .where('id', '=', batch)
    .where('precheck_wait', 'is not', null)
    .execute();
}

/** Makes the question due again, because payouts join what may go. */
export async function askAgain(trx: Trx, batch: string): Promise<void> {
  await trx
    .updateTable('batches')
    .set({ precheck: 'due', precheck_at: null, precheck_wait: null })
    .where('id', '=', batch)
    .execute();
}

/** Forgets the names of batches whose look has ended. */
export async function forgetNames(trx: Trx): Promise<void> {
  await sql`delete from account_names where not exists (select 1 from batches as b
    where b.id = account_names.batch_id and b.phase = 'loaded' and b.precheck in ('due', 'named'))`.execute(
    trx,
  );
}
