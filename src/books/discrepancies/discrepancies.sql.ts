import { createHash } from 'node:crypto';
import { type Expression, type ExpressionBuilder, type SqlBool, sql } from 'kysely';
import type { FoundDiscrepancy } from '../../core/domain/discrepancy.ts';
import {
  type DiscrepancyKind,
  kindRules,
  kindsWhere,
  type Severity,
} from '../../core/domain/discrepancy-kinds.ts';
import { type DiscrepancySighting, onSight, unresolvedStates } from '../../core/domain/discrepancy-life.ts';
import { severityOf } from '../../core/domain/severity.ts';
import { isClosedByPerson } from '../../core/domain/transition.ts';
import { idList, textsOf } from '../../core/storage/bulk.ts';
import { inParts } from '../../core/storage/keyset.ts';
import type { Db, Trx } from '../../core/storage/ledger.ts';
import type { Discrepancy, Tables } from '../../core/storage/tables/tables.ts';
import { addEvents } from './discrepancy-events.sql.ts';

/** The run that finds discrepancies or no longer finds them; `at` is its clock, ISO UTC. */
export type SeenBy = { run: string; at: string };

const dayMs = 86_400_000;

/** `D-` and 12 hex digits of kind and subject: the same discrepancy has the same id for ever. */
function discrepancyId(kind: string, subject: string): string {
  return `D-${createHash('sha256').update(`${kind}|${subject}`).digest('hex').slice(0, 12)}`;
}

/** What a run found, and the new state of the discrepancy. */
type Turn = { id: string; one: FoundDiscrepancy; firstSeenAt: string; sighting: DiscrepancySighting };

/**
 * Writes what the run found, with each event in its life. Returns how many discrepancies it opened: new ones, those that
 * were closed and came back, and those that changed after a person's decision.
 */
export async function seen(trx: Trx, by: SeenBy, found: FoundDiscrepancy[]): Promise<number> {
  const rows = [...new Map(found.map((one) => [discrepancyId(one.kind, one.subject), one])).entries()];
  let opened = 0;
  for (const some of inParts(rows, 500)) {
    const turns = await takeTurns(trx, by, some);
    if (turns.length === 0) continue;
    await upsert(
      trx,
      turns.map((turn) => toRow(by, turn)),
    );
    await addEvents(
      trx,
      turns.flatMap(({ id, sighting: { event } }) =>
        event ? [{ id, at: by.at, event: event.kind, source: `run ${by.run}`, note: event.note }] : [],
      ),
    );
    opened += turns.filter(({ sighting }) => sighting.opens).length;
  }
  return opened;
}

async function takeTurns(trx: Trx, by: SeenBy, all: [id: string, one: FoundDiscrepancy][]): Promise<Turn[]> {
  const closed = await closedByPerson(
    trx,
    all.map(([, one]) => one),
  );
  const isClosed = ({ payoutId }: FoundDiscrepancy): boolean => payoutId !== null && closed.has(payoutId);
  // P32: silence is no new evidence about what a person has closed.
  const rows = all.filter(([, one]) => !isClosed(one) || !kindRules[one.kind].isSilence);
  const known = await trx
    .selectFrom('discrepancies')
    .select(['id', 'state', 'resolved_by', 'note', 'expected', 'actual', 'reopened', 'first_seen_at'])
    .select('closed_with_payout')
    .where('id', 'in', textsOf(rows.map(([id]) => id)))
    .execute();
  const knownOf = new Map(known.map((row) => [row.id, row]));
  return rows.map(([id, one]) => {
    const row = knownOf.get(id);
    const before = row && {
      ...row,
      resolvedBy: row.resolved_by,
      reopened: Number(row.reopened),
      closedWithPayout: row.closed_with_payout === 1n,
    };
    const sighting = onSight(before, one, isClosed(one));
    return { id, one, firstSeenAt: row?.first_seen_at ?? by.at, sighting };
  });
}

/** The payouts among these that only a person's decision closes now (P32). */
async function closedByPerson(trx: Trx, found: readonly FoundDiscrepancy[]): Promise<Set<bigint>> {
  const ids = [...new Set(found.flatMap(({ payoutId }) => payoutId ?? []))];
  const rows = await trx
    .selectFrom('payouts')
    .select(['id', 'state', 'evidence'])
    .where('id', 'in', idList(ids))
    .execute();
  return new Set(rows.flatMap((row) => (isClosedByPerson(row) ? [row.id] : [])));
}

async function upsert(trx: Trx, rows: Discrepancy[]): Promise<void> {
  await trx
    .insertInto('discrepancies')
    .values(rows)
    .onConflict((conflict) =>
      conflict.column('id').doUpdateSet((eb) => ({
        payout_id: eb.ref('excluded.payout_id'),
        batch_id: eb.ref('excluded.batch_id'),
        reference: eb.ref('excluded.reference'),
        trx: eb.ref('excluded.trx'),
        transfer_id: eb.ref('excluded.transfer_id'),
        currency: eb.ref('excluded.currency'),
        expected: eb.ref('excluded.expected'),
        actual: eb.ref('excluded.actual'),
        difference: eb.ref('excluded.difference'),
        severity: eb.ref('excluded.severity'),
        later_severity: eb.ref('excluded.later_severity'),
        graver_at: eb.ref('excluded.graver_at'),
        evidence: eb.ref('excluded.evidence'),
        advice: eb.ref('excluded.advice'),
        shown_at: eb.ref('excluded.shown_at'),
        last_seen_at: eb.ref('excluded.last_seen_at'),
        last_run_id: eb.ref('excluded.last_run_id'),
        state: eb.ref('excluded.state'),
        resolved_by: eb.ref('excluded.resolved_by'),
        note: eb.ref('excluded.note'),
        reopened: eb.ref('excluded.reopened'),
        closed_with_payout: eb.ref('excluded.closed_with_payout'),
        resolved_at: sql<
          string | null
        >`case when excluded.state = 'resolved' then discrepancies.resolved_at end`,
      })),
    )
    .execute();
}

/** Raises the severity of what stays open with its age, also where this run could not see it again. */
export async function renewSeverity(trx: Trx, at: string): Promise<void> {
  await trx
    .updateTable('discrepancies')
    .set((eb) => ({
      severity: eb.fn.coalesce('later_severity', 'severity'),
      later_severity: null,
      graver_at: null,
    }))
    .where('state', '<>', 'resolved')
    .where('graver_at', '<=', at)
    .execute();
}

/** Filters as the `discrepancies` command takes them; `seenBefore` is an instant for `--older-than`. */
export type DiscrepancyFilter = {
  states?: readonly Discrepancy['state'][];
  ids?: readonly string[];
  kind?: DiscrepancyKind;
  batch?: string;
  currency?: string;
  seenBefore?: string;
};

/** The condition of a filter; without `states`, all that is not resolved. */
export function filtered(filter: DiscrepancyFilter) {
  return (eb: ExpressionBuilder<Tables, 'discrepancies'>): Expression<SqlBool> => {
    const all = [eb('discrepancies.state', 'in', filter.states ?? unresolvedStates)];
    if (filter.ids !== undefined) all.push(eb('discrepancies.id', 'in', namedIds(filter.ids)));
    if (filter.kind !== undefined) all.push(eb('discrepancies.kind', '=', filter.kind));
    if (filter.batch !== undefined) all.push(eb('discrepancies.batch_id', '=', filter.batch));
    if (filter.currency !== undefined) all.push(eb('discrepancies.currency', '=', filter.currency));
    if (filter.seenBefore !== undefined) all.push(eb('discrepancies.first_seen_at', '<=', filter.seenBefore));
    return eb.and(all);
  };
}

/** Any number of ids as one parameter. */
function namedIds(ids: readonly string[]) {
  return textsOf(ids);
}

/** Of a kind that comes before all others. */
export const isUrgent = sql<boolean>`kind in (${sql.join(kindsWhere(({ rating }) => rating.urgent))})`;

/** 0 for what comes before all others, then by severity. */
const gravityRank = sql`case when ${isUrgent} then 0 when severity = 'high' then 1 when severity = 'medium' then 2 else 3 end`;

/** Discrepancies that are not resolved (or in the given states), the gravest and oldest first; `limit` from `offset` on. */
export function listOpen(db: Db | Trx, filter: DiscrepancyFilter, limit?: number, offset = 0) {
  const query = db
    .selectFrom('discrepancies')
    .selectAll()
    .where(filtered(filter))
    .orderBy(gravityRank)
    .orderBy('first_seen_at')
    .orderBy('id');
  return (limit === undefined ? query : query.limit(limit).offset(offset)).execute();
}

/** Open discrepancies of one kind and severity. `reference`, `difference` and `currency` are of the only one. */
export type OpenGroup = Pick<
  Discrepancy,
  'severity' | 'kind' | 'reference' | 'subject' | 'difference' | 'currency'
> & {
  count: number;
  /** When the oldest was first seen, ISO UTC. */
  since: string;
};

/** Counts what is open by kind and severity, the gravest first. */
export async function openGroups(db: Db): Promise<OpenGroup[]> {
  const rank = sql`min(${gravityRank})`;
  const rows = await db
    .selectFrom('discrepancies')
    .select(['severity', 'kind'])
    .select((eb) => [
      eb.fn.countAll<bigint>().as('n'),
      eb.fn.min('reference').as('reference'),
      eb.fn.min('subject').as('subject'),
      eb.fn.min('difference').as('difference'),
      eb.fn.min('currency').as('currency'),
      eb.fn.min('first_seen_at').as('since'),
    ])
    .where('state', '=', 'open')
    .groupBy(['severity', 'kind'])
    .orderBy(rank)
    .orderBy('since')
    .orderBy('kind')
    .execute();
  return rows.map(({ n, ...row }) => ({ ...row, count: Number(n) }));
}

/** Counts what is open in each batch. */
export async function openByBatch(db: Db): Promise<Map<string, number>> {
  const rows = await db
    .selectFrom('discrepancies')
    .select(['batch_id', (eb) => eb.fn.countAll<bigint>().as('n')])
    .where('state', '=', 'open')
    .groupBy('batch_id')
    .execute();
  return new Map(rows.flatMap(({ batch_id: batch, n }) => (batch === null ? [] : [[batch, Number(n)]])));
}

/** Counts what a filter finds, by kind and state. */
export function countFiltered(db: Db | Trx, filter: DiscrepancyFilter) {
  return db
    .selectFrom('discrepancies')
    .select(['kind', 'state', (eb) => eb.fn.countAll<bigint>().as('n')])
    .where(filtered(filter))
    .groupBy(['kind', 'state'])
    .orderBy('kind')
    .orderBy('state')
    .execute();
}

/** Counts discrepancies by kind: those that are open, without acknowledged ones, unless `states` says otherwise. */
export async function countOpen(
  db: Db,
  states: readonly Discrepancy['state'][] = ['open'],
): Promise<Record<string, number>> {
  const rows = await countFiltered(db, { states });
  return Object.fromEntries(rows.map((row) => [row.kind, Number(row.n)]));
}

function toRow(by: SeenBy, { id, one, firstSeenAt, sighting }: Turn): Discrepancy {
  const { state, resolvedBy, note, reopened, closedWithPayout } = sighting;
  return {
    id,
    kind: one.kind,
    subject: one.subject,
    payout_id: one.payoutId,
    batch_id: one.batchId,
    reference: one.reference,
    trx: one.trx,
    transfer_id: one.transferId,
    currency: one.currency,
    expected: one.expected,
    actual: one.actual,
    difference: one.difference,
    ...gravityOf(one, firstSeenAt, by.at),
    evidence: one.evidence,
    advice: JSON.stringify(one.advice),
    state,
    resolved_by: resolvedBy,
    note,
    reopened: BigInt(reopened),
    closed_with_payout: closedWithPayout ? 1n : 0n,
    shown_at: one.shownAt || null,
    first_seen_at: firstSeenAt,
    last_seen_at: by.at,
    last_run_id: by.run,
    resolved_at: null,
  };
}

function gravityOf(
  one: FoundDiscrepancy,
  firstSeenAt: string,
  at: string,
): { severity: Severity; later_severity: Severity | null; graver_at: string | null } {
  const ageDays = Math.floor((Date.parse(at) - Date.parse(firstSeenAt)) / dayMs);
  const severity = severityOf({ ...one, ageDays });
  const after = kindRules[one.kind].rating.afterDays;
  if (after === null || ageDays >= after) return { severity, later_severity: null, graver_at: null };
  const graverAt = new Date(Date.parse(firstSeenAt) + after * dayMs).toISOString();
  return { severity, later_severity: severityOf({ ...one, ageDays: after }), graver_at: graverAt };
}
