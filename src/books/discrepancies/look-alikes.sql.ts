import { type RawBuilder, sql } from 'kysely';
import { z } from 'zod';
import { witnessStatuses } from '../../core/domain/payout.ts';
import { later } from '../../core/domain/wait.ts';
import { field, integerField, rowsOf, textsOf } from '../../core/storage/bulk.ts';
import { jsonRows, literals } from '../../core/storage/dialect.ts';
import type { Db, Ledger } from '../../core/storage/ledger.ts';
import { unpaired } from '../../watching/listing/pairing.sql.ts';

/**
 * A transfer under another reference that resembles a payout: same account, bank, currency and amount, days apart at
 * most.
 */
export type AlikeTransfer = { transferId: string; reference: string; status: string; createdAt: string };
/** A payout that resembles a transfer that was not ordered here. */
export type AlikePayout = { reference: string; batch: string; state: string; submittedAt: string };

const nearMs = 3 * 86_400_000;
/** One more than a person sees, so that the text can say "and more". */
const most = 4;
const rowsPerStep = 2_000;

/**
 * Stores the run's transfers that belong to no payout but resemble an open one, so that each finds the other by key.
 * Nothing is matched by this. What an earlier run stored is removed.
 */
export async function findLookAlikes(ledger: Ledger, run: string): Promise<void> {
  const { mode } = ledger;
  await ledger.write(async (trx) => {
    const runs = trx.selectFrom('runs').select('id');
    await trx.deleteFrom('look_alikes').where('run_id', 'in', runs).execute();
  });
  for await (const ids of unpaired(ledger.db, run, rowsPerStep)) {
    await ledger.write((trx) =>
      sql`insert into look_alikes
        (run_id, account_number, amount, currency, bank_code, created_at, transfer_id, reference, status)
        select l.run_id, l.account_number, l.amount, l.currency, l.bank_code, l.created_at, l.transfer_id, l.reference, l.status
        from listed l where l.run_id = ${run} and l.transfer_id in ${textsOf(ids)} and l.payout_id is null
          and l.amount is not null and l.created_at <> '' and coalesce(lower(l.domain), ${mode}) = ${mode}
          and exists (select 1 from payouts p where ${sameOrder(sql`l`)} and ${unseen(run)})`.execute(trx),
    );
  }
}

const sameOrder = (other: RawBuilder<unknown>): RawBuilder<boolean> =>
  sql`p.account_number = ${other}.account_number and p.currency = ${other}.currency
    and p.amount = ${other}.amount and p.bank_code = ${other}.bank_code`;

/** True where payout `p` is unknown, or the service took it and the run's list has no row of it. */
const unseen = (run: string): RawBuilder<boolean> => sql`(p.state = 'unknown' or (
  p.state in (${literals(witnessStatuses)})
  and not exists (select 1 from listed own where own.run_id = ${run} and own.payout_id = p.id)))`;

const transferRows = z.array(z.tuple([z.string(), z.string(), z.string(), z.string()]));

/** Listed transfers, near in time, that resemble each of these payouts, by the payout's id; a few at most. */
export async function alikeTransfers(
  db: Db,
  run: string,
  payouts: readonly { id: bigint; submitted_at: string | null }[],
): Promise<Map<bigint, AlikeTransfer[]>> {
  if (payouts.length === 0 || !(await anyFound(db, run))) return new Map();
  const asked = payouts.flatMap(({ id, submitted_at }) =>
    submitted_at === null ? [] : [{ id, ...around(submitted_at) }],
  );
  // One query for each, with its own limit: a join would grow with the product of both sides.
  const { rows } = await sql<{ id: bigint; alikes: string }>`
    select p.id, (select ${jsonRows('f.transfer_id', 'f.reference', 'f.status', 'f.created_at')} from (
      select a.transfer_id, a.reference, a.status, a.created_at from look_alikes a
      where a.run_id = ${run} and ${sameOrder(sql`a`)}
        and a.created_at between ${field('since')} and ${field('until')}
      order by a.created_at, a.transfer_id limit ${most}) f) as alikes
    from ${rowsOf(asked)} as row join payouts p on p.id = ${integerField('id')}`.execute(db);
  return new Map(
    rows.flatMap(({ id, alikes }) => {
      const found = transferRows.parse(JSON.parse(alikes));
      if (found.length === 0) return [];
      return [
        [
          id,
          found.map(([transferId, reference, status, createdAt]) => ({
            transferId,
            reference,
            status,
            createdAt,
          })),
        ],
      ];
    }),
  );
}

const payoutRows = z.array(z.tuple([z.string(), z.string(), z.string(), z.string()]));

/**
 * The payouts (unknown, missing, or pending and unseen) that resemble each of these transfers of no payout, by transfer
 * id.
 */
export async function alikePayouts(
  db: Db,
  { run }: { run: string },
  transfers: readonly { transfer_id: string; created_at: string }[],
): Promise<Map<string, AlikePayout[]>> {
  if (transfers.length === 0 || !(await anyFound(db, run))) return new Map();
  const asked = transfers.flatMap(({ transfer_id, created_at }) =>
    created_at === '' ? [] : [{ transfer_id, created_at, ...around(created_at) }],
  );
  const missing = sql`exists (select 1 from discrepancies d where d.payout_id = p.id
    and d.kind = 'missing_at_service' and d.state <> 'resolved')`;
  // `cross join` keeps SQLite in this order: without statistics it would read the whole table for each of these.
  const { rows } = await sql<{ transfer_id: string; alikes: string }>`
    select a.transfer_id, (select ${jsonRows('f.reference', 'f.batch_id', 'f.state', 'f.submitted_at')} from (
      select p.reference, p.batch_id, p.state, p.submitted_at from payouts p
      where ${sameOrder(sql`a`)} and ${unseen(run)}
        and (p.state in ('unknown', 'pending') or ${missing})
        and p.submitted_at between ${field('since')} and ${field('until')}
      order by p.submitted_at, p.id limit ${most}) f) as alikes
    from ${rowsOf(asked)} as row cross join listed l cross join look_alikes a
    where l.run_id = ${run} and l.transfer_id = ${field('transfer_id')} and a.run_id = ${run}
      and a.account_number = l.account_number and a.amount = l.amount and a.currency = l.currency
      and a.bank_code = l.bank_code and a.created_at = l.created_at and a.transfer_id = l.transfer_id`.execute(
    db,
  );
  return new Map(
    rows.flatMap(({ transfer_id, alikes }) => {
      const found = payoutRows.parse(JSON.parse(alikes));
      if (found.length === 0) return [];
      return [
        [
          transfer_id,
          found.map(([reference, batch, state, submittedAt]) => ({ reference, batch, state, submittedAt })),
        ],
      ];
    }),
  );
}

function around(at: string): { since: string; until: string } {
  return { since: later(at, -nearMs), until: later(at, nearMs) };
}

async function anyFound(db: Db, run: string): Promise<boolean> {
  const row = await db
    .selectFrom('look_alikes')
    .select('transfer_id')
    .where('run_id', '=', run)
    .limit(1)
    .executeTakeFirst();
  return row !== undefined;
}
