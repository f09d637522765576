import { sql } from 'kysely';
import { discrepancyKinds } from '../core/domain/discrepancy-kinds.ts';
import { batchName } from '../core/domain/ids.ts';
import { formatMinor } from '../core/domain/money.ts';
import { type HoldReason, readReasons } from '../core/ledger/hold-reasons.ts';
import { later } from '../core/ledger/projection.ts';
import { openRejectedFiles } from '../core/ledger/rejected-files.ts';
import type { Db, Trx } from '../core/storage/ledger.ts';
import { standingCanaries } from '../sending/canaries.sql.ts';
import { findHaltCauses } from '../sending/halts.sql.ts';
import { refusedReferences } from '../watching/webhooks/refused-references.sql.ts';
import { type Finding, mostNames, plainFinding } from './finding.ts';
import { alertRules } from './kinds.ts';

type Group = {
  subject: string;
  currency: string | null;
  n: bigint;
  amount: bigint | null;
  mark: bigint | null;
};

/** Halts and failed canaries. The halt of a canary is the alert of its batch. */
export async function haltFindings(db: Db | Trx): Promise<Finding<'sending_halted' | 'canary_failed'>[]> {
  const causes = await findHaltCauses(db);
  const failed = (await standingCanaries(db)).filter(({ state }) => state === 'failed');
  const batches = [...causes.map(({ batch }) => batch), ...failed.map(({ batch }) => batch)];
  const kinds = causes.filter(({ batch }) => batch === null).map(({ kind }) => kind);
  return [
    ...[...new Set(kinds)].map((kind) => plainFinding('sending_halted', kind)),
    ...[...new Set(batches)].flatMap((batch) =>
      batch === null ? [] : [{ ...plainFinding('canary_failed', batch), names: [batch] }],
    ),
  ];
}

/** A stamp further ahead than this came from a clock that was set back since (P33). */
const aheadMs = 60_000;

/**
 * Payouts whose outcome is unknown for longer than the quiet period (P19), and those that are for less time; none of these
 * where the quiet period is no longer than that. As of `at`, ISO UTC.
 */
export async function unknownFindings(
  db: Db | Trx,
  { at, quietMs }: { at: string; quietMs: number },
): Promise<Finding<'payout_unknown' | 'outcome_unknown'>[]> {
  const soonMs = alertRules.outcome_unknown.faces.alerts.over ?? 0;
  return [
    ...(await unknownFor(db, 'payout_unknown', { at, ms: quietMs })),
    ...(quietMs > soonMs ? await unknownFor(db, 'outcome_unknown', { at, ms: soonMs }) : []),
  ];
}

async function unknownFor(
  db: Db | Trx,
  kind: 'payout_unknown' | 'outcome_unknown',
  { at, ms }: { at: string; ms: number },
): Promise<Finding<'payout_unknown' | 'outcome_unknown'>[]> {
  const over = sql`from payouts p left join attempts a on a.id = p.last_attempt_id
    where p.state = 'unknown' and (coalesce(a.ended_at, p.updated_at) <= ${later(at, -ms)}
      or coalesce(a.ended_at, p.updated_at) > ${later(at, aheadMs)})`;
  const groups =
    await sql<Group>`select '' as subject, p.currency, count(*) as n, cast(sum(p.amount) as bigint) as amount,
      max(coalesce(p.last_attempt_id, 0)) as mark ${over} group by p.currency order by p.currency`.execute(
      db,
    );
  if (groups.rows.length === 0) return [];
  const first = await sql<{
    name: string;
  }>`select p.reference as name ${over} order by p.id limit ${sql.lit(mostNames)}`.execute(db);
  return [{ ...plainFinding(kind), ...sumOf(groups.rows), names: first.rows.map(({ name }) => name) }];
}

/** The schema's partial index on batches has the same words. */
const holding = sql`b.phase = 'loaded' and b.hold_reasons <> '[]'`;

/** Batches of which payouts wait for a person, who is not the one that held them. */
export async function heldFindings(db: Db | Trx): Promise<Finding<'batch_held'>[]> {
  const { rows } = await sql<Group & { reasons: string }>`select b.id as subject, b.hold_reasons as reasons,
      t.currency, cast(sum(t.n) as bigint) as n, cast(sum(t.amount) as bigint) as amount, null as mark
    from batches b join payout_totals t on t.batch_id = b.id
    where ${holding} and t.n > 0 and (t.state = 'held' or (t.state = 'ready' and b.held = 1))
    group by b.id, b.hold_reasons, t.currency order by b.id, t.currency`.execute(db);
  const waiting = rows.filter(({ reasons }) => readReasons(reasons).some(needsTelling));
  return [...Map.groupBy(waiting, ({ subject }) => subject)].map(([batch, own]) => ({
    ...plainFinding('batch_held', batch),
    ...sumOf(own),
    names: [batch],
    facts: { waitsForApproval: own.some(({ reasons }) => waitsForApproval(reasons)) },
  }));
}

/** Whether the stored reasons of a hold name an approval. */
export function waitsForApproval(holdReasons: string): boolean {
  return readReasons(holdReasons).some(({ kind }) => kind === 'approval');
}

/** A person made the others, and knows of them. */
function needsTelling({ kind }: HoldReason): boolean {
  return kind !== 'person' && kind !== 'cancelled' && kind !== 'releasing';
}

/**
 * Open discrepancies of high severity, by kind. Unknown outcomes are left out: they have an alert of their own. They are
 * named by their ids, since the references and currencies of foreign transfers are texts of strangers.
 */
export async function discrepancyFindings(db: Db | Trx, at: string): Promise<Finding<'discrepancy_high'>[]> {
  const open = sql`from discrepancies d left join payouts p on p.id = d.payout_id
    where d.state = 'open' and d.kind <> 'unknown_outcome'
      and (d.severity = 'high' or (d.later_severity = 'high' and d.graver_at <= ${at}))`;
  const groups = await sql<Group>`select d.kind as subject, p.currency, count(*) as n,
      cast(sum(p.amount) as bigint) as amount,
      max((select max(e.id) from discrepancy_events e where e.discrepancy_id = d.id
        and e.event in ('opened', 'reopened', 'changed'))) as mark
    ${open} group by d.kind, p.currency order by d.kind, p.currency`.execute(db);
  const kinds = discrepancyKinds.filter((kind) => groups.rows.some(({ subject }) => subject === kind));
  const findings: Finding<'discrepancy_high'>[] = [];
  for (const kind of kinds) {
    const first = await sql<{ name: string }>`select d.id as name ${open} and d.kind = ${kind}
      order by d.first_seen_at, d.id limit ${sql.lit(mostNames)}`.execute(db);
    const own = groups.rows.filter(({ subject }) => subject === kind);
    findings.push({
      ...plainFinding('discrepancy_high', kind),
      ...sumOf(own),
      names: first.rows.map(({ name }) => name),
    });
  }
  return findings;
}

function sumOf(groups: readonly Group[]): Pick<Finding, 'count' | 'mark' | 'totals'> {
  const totals = groups.flatMap(({ currency, amount }) =>
    currency === null || amount === null ? [] : [[currency, formatMinor(amount, currency)] as const],
  );
  return {
    count: groups.reduce((sum, { n }) => sum + Number(n), 0),
    mark: groups.reduce((most, { mark }) => (mark !== null && mark > most ? mark : most), 0n),
    totals: Object.fromEntries(totals),
  };
}

/** Files of the inbox that were refused, and batches without the rows that were left out. */
export async function rejectedFindings(db: Db | Trx): Promise<Finding<'file_rejected'>[]> {
  const byKind = Map.groupBy(await openRejectedFiles(db), ({ kind }) => kind);
  return [...byKind].map(([kind, files]) => ({
    ...plainFinding('file_rejected', kind, files.length),
    mark: files.reduce((most, { id }) => (id > most ? id : most), 0n),
    // As batches are named: a file's own name may say more than a message should.
    names: files.slice(0, mostNames).map(({ name }) => batchName(name)),
    facts: { files },
  }));
}

/** So many refused webhooks about our payouts since the last good one; before the first good one, each counts. */
const fewestRefused = 3;

/**
 * Webhooks about our own payouts whose signature is wrong, and none with a right one since. A stranger knows none of our
 * references, so that his forgeries are no alert.
 */
export async function signatureFindings(db: Db | Trx): Promise<Finding<'signatures_wrong'>[]> {
  const { references, isFirst } = await refusedReferences(db);
  if (references.length < (isFirst ? 1 : fewestRefused)) return [];
  const names = [...new Set(references)].slice(0, mostNames);
  return [{ ...plainFinding('signatures_wrong', '', references.length), names }];
}
