import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import type { Found } from '../domain/discrepancy.ts';
import type { Mode } from '../domain/payout.ts';
import type { Db, Trx } from './open.ts';
import type { Discrepancy } from './tables.ts';

/** The run that finds or no longer finds; `at` is its clock, ISO UTC. */
export type SeenBy = { run: string; mode: Mode; at: string };

/** What a run could have seen: only then does not seeing it close a discrepancy. */
export type Sight = { complete: boolean; answered: readonly bigint[] };

const byEvidence = 'closed by evidence of run';

/** `D-` and 12 hex digits of mode, kind and subject: the same discrepancy has the same id for ever. */
function discrepancyId(mode: Mode, kind: string, subject: string): string {
  return `D-${createHash('sha256').update(`${mode}|${kind}|${subject}`).digest('hex').slice(0, 12)}`;
}

/**
 * Writes what the run found and returns how many of it were opened (new, or closed by evidence before and back again).
 * What a person acknowledged or resolved stays so, with its last sight renewed.
 */
export async function seen(trx: Trx, by: SeenBy, found: Found[]): Promise<number> {
  const rows = [
    ...new Map(found.map((one) => [discrepancyId(by.mode, one.kind, one.subject), one])).entries(),
  ];
  let opened = 0;
  for (let from = 0; from < rows.length; from += 500) {
    const chunk = rows.slice(from, from + 500);
    const known = await trx
      .selectFrom('discrepancies')
      .select(['id', 'state', 'note'])
      .where(
        'id',
        'in',
        chunk.map(([id]) => id),
      )
      .execute();
    const asBefore = known.filter((row) => row.state !== 'resolved' || !row.note.includes(byEvidence));
    opened += chunk.length - asBefore.length;
    await trx
      .insertInto('discrepancies')
      .values(chunk.map(([id, one]) => toRow(id, by, one)))
      .onConflict((conflict) =>
        conflict.column('id').doUpdateSet((eb) => ({
          payout_id: eb.ref('excluded.payout_id'),
          batch_id: eb.ref('excluded.batch_id'),
          trx: eb.ref('excluded.trx'),
          transfer_id: eb.ref('excluded.transfer_id'),
          expected: eb.ref('excluded.expected'),
          actual: eb.ref('excluded.actual'),
          difference: eb.ref('excluded.difference'),
          severity: eb.ref('excluded.severity'),
          evidence: eb.ref('excluded.evidence'),
          action: eb.ref('excluded.action'),
          last_seen_at: eb.ref('excluded.last_seen_at'),
          last_run_id: eb.ref('excluded.last_run_id'),
          state: sql<Discrepancy['state']>`case when ${reopens} then 'open' else discrepancies.state end`,
          resolved_at: sql<string | null>`case when ${reopens} then null else discrepancies.resolved_at end`,
        })),
      )
      .execute();
  }
  return opened;
}

/** Closes what this run could have seen and did not; the note says which run and where the payout stands now. */
export async function closeHealed(trx: Trx, by: SeenBy, sight: Sight): Promise<number> {
  const pairedNow = sql<boolean>`exists (select 1 from listed l where l.run_id = ${by.run} and l.payout_id is not null
    and (l.payout_id = discrepancies.payout_id or l.transfer_id = discrepancies.transfer_id))`;
  // Silence closes nothing: only a look-up of this run that found the transfer does.
  const answered = sql<boolean>`discrepancies.payout_id in (select value from json_each(${`[${sight.answered.join(',')}]`}))`;
  const standing = sql<string>`coalesce((select '; ledger: ' || p.state || ' by ' || p.evidence from payouts p
    where p.id = discrepancies.payout_id), '')`;
  const closed = await trx
    .updateTable('discrepancies')
    .set({
      state: 'resolved',
      resolved_at: by.at,
      note: sql<string>`case when note = '' then '' else note || '; ' end || ${`${byEvidence} ${by.run}`} || ${standing}`,
    })
    .where('mode', '=', by.mode)
    .where('state', '<>', 'resolved')
    .where('last_run_id', '<>', by.run)
    .where((eb) =>
      eb.or([
        eb('kind', 'in', ledgerKinds),
        eb.and([
          eb('kind', '=', 'missing_at_service'),
          eb.or([eb.and([eb.lit(sight.complete), answered]), pairedNow]),
        ]),
        eb.and([eb('kind', 'in', pairKinds), eb.or([eb.lit(sight.complete), pairedNow])]),
        eb.and([eb('kind', 'in', countKinds), eb.lit(sight.complete)]),
      ]),
    )
    .executeTakeFirst();
  return Number(closed.numUpdatedRows);
}

/** Filters as the `discrepancies` command takes them; `seenBefore` is an instant for `--older-than`. */
export type DiscrepancyFilter = {
  mode: Mode;
  states?: Discrepancy['state'][];
  kind?: string;
  batch?: string;
  seenBefore?: string;
};

/** Discrepancies that are not resolved (or in the given states), the gravest and oldest first. */
export function listOpen(db: Db, filter: DiscrepancyFilter): Promise<Discrepancy[]> {
  let query = db
    .selectFrom('discrepancies')
    .selectAll()
    .where('mode', '=', filter.mode)
    .where('state', 'in', filter.states ?? ['open', 'acknowledged']);
  if (filter.kind !== undefined) query = query.where('kind', '=', filter.kind);
  if (filter.batch !== undefined) query = query.where('batch_id', '=', filter.batch);
  if (filter.seenBefore !== undefined) query = query.where('first_seen_at', '<=', filter.seenBefore);
  const rank = sql`case severity when 'high' then 0 when 'medium' then 1 else 2 end`;
  return query.orderBy(rank).orderBy('first_seen_at').orderBy('id').execute();
}

/** How many are open, by kind; acknowledged ones are not counted. */
export async function countOpen(db: Db, mode: Mode): Promise<Record<string, number>> {
  const rows = await db
    .selectFrom('discrepancies')
    .select(['kind', (eb) => eb.fn.countAll<bigint>().as('n')])
    .where('mode', '=', mode)
    .where('state', '=', 'open')
    .groupBy('kind')
    .orderBy('kind')
    .execute();
  return Object.fromEntries(rows.map((row) => [row.kind, Number(row.n)]));
}

const reopens = sql`discrepancies.state = 'resolved' and discrepancies.note like ${`%${byEvidence}%`}`;

/** Kinds the ledger alone decides: every run sees all of them. */
const ledgerKinds = [
  'stale_pending',
  'unknown_outcome',
  'webhook_missing',
  'webhook_conflict',
  'returned_after_success',
];
/** Kinds that one listed row shows: seeing that row paired is enough to see that they are gone. */
const pairKinds = [
  'status_conflict',
  'amount_conflict',
  'currency_conflict',
  'beneficiary_conflict',
  'fee_conflict',
  'mode_conflict',
  'reference_collision',
  'missing_in_ledger',
];
/** Kinds that a count shows: only a complete listing can show that they are gone. */
const countKinds = ['duplicate_at_service', 'paid_twice'];

function toRow(id: string, by: SeenBy, found: Found): Discrepancy {
  return {
    id,
    mode: by.mode,
    kind: found.kind,
    subject: found.subject,
    payout_id: found.payoutId,
    batch_id: found.batchId,
    reference: found.reference,
    trx: found.trx,
    transfer_id: found.transferId,
    currency: found.currency,
    expected: found.expected,
    actual: found.actual,
    difference: found.difference,
    severity: found.severity,
    evidence: found.evidence,
    action: found.action,
    state: 'open',
    note: '',
    first_seen_at: by.at,
    last_seen_at: by.at,
    last_run_id: by.run,
    resolved_at: null,
  };
}
