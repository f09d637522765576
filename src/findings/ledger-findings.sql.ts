import { sql } from 'kysely';
import { openGroups } from '../books/discrepancies/discrepancies.sql.ts';
import { batchesForNewFile, unpaidSums } from '../books/unpaid.sql.ts';
import { discrepancyKinds } from '../core/domain/discrepancy-kinds.ts';
import { batchName } from '../core/domain/ids.ts';
import { formatMinor } from '../core/domain/money.ts';
import { later } from '../core/domain/wait.ts';
import { type HoldReason, readReasons } from '../core/ledger/hold-reasons.ts';
import { openRejectedFiles } from '../core/ledger/rejected-files.ts';
import type { Db, Ledger, Trx } from '../core/storage/ledger.ts';
import { serverMayApprove } from '../sending/approval.ts';
import { canaryResult, standingCanaries } from '../sending/canaries.sql.ts';
import { barrierCause, findHaltCauses } from '../sending/halts.sql.ts';
import { makersOf } from '../sending/makers.sql.ts';
import { refusedReferences } from '../watching/webhooks/refused-references.sql.ts';
import { type Finding, mostNames, plainFinding } from './finding.ts';
import { answerMs } from './kinds.ts';

type Group = {
  subject: string;
  currency: string | null;
  n: bigint;
  amount: bigint | null;
  mark: bigint | null;
  since?: string | null;
};

/**
 * Halts and failed canaries. The halt of a canary is the finding of its batch. `unnotedFall`: a barrier that only this
 * process knows of (P25). `judge`: also names canaries that went wrong and that no sender has judged yet.
 */
export async function haltFindings(
  db: Db | Trx,
  { unnotedFall }: Pick<Ledger, 'unnotedFall'>,
  judge?: { at: string; hours: number },
): Promise<Finding<'sending_halted' | 'canary_failed'>[]> {
  const fallen = unnotedFall ? [barrierCause(unnotedFall)] : [];
  const causes = [...fallen, ...(await findHaltCauses(db))];
  const batches = causes.map(({ batch }) => batch);
  for (const canary of await standingCanaries(db)) {
    const isBad =
      canary.state === 'failed' || (judge && (await canaryResult(db, canary, judge)).kind === 'failed');
    if (isBad) batches.push(canary.batch);
  }
  const kinds = Map.groupBy(
    causes.filter(({ batch }) => batch === null),
    ({ kind }) => kind,
  );
  return [
    ...[...kinds].map(([kind, own]) => ({
      ...plainFinding('sending_halted', kind),
      since: own.map(({ at }) => at).toSorted()[0] ?? null,
    })),
    ...[...new Set(batches)].flatMap((batch) =>
      batch === null ? [] : [plainFinding('canary_failed', batch)],
    ),
  ];
}

/** A stamp further ahead than this came from a clock that was set back since (P33). */
const aheadMs = 60_000;

/**
 * Payouts whose outcome has been unknown for longer than `overMs`; null: since ever so short. As of `at`, ISO UTC.
 */
export async function unknownFindings<K extends 'payout_unknown' | 'outcome_unknown'>(
  db: Db | Trx,
  kind: K,
  { at, overMs }: { at: string; overMs: number | null },
) {
  const isOver =
    overMs === null
      ? sql`1 = 1`
      : sql`(coalesce(a.ended_at, p.updated_at) <= ${later(at, -overMs)}
      or coalesce(a.ended_at, p.updated_at) > ${later(at, aheadMs)})`;
  const over = sql`from payouts p left join attempts a on a.id = p.last_attempt_id
    where p.state = 'unknown' and ${isOver}`;
  const groups =
    await sql<Group>`select '' as subject, p.currency, count(*) as n, cast(sum(p.amount) as bigint) as amount,
      max(coalesce(p.last_attempt_id, 0)) as mark, min(coalesce(p.submitted_at, p.updated_at)) as since
      ${over} group by p.currency order by p.currency`.execute(db);
  if (groups.rows.length === 0) return [];
  const first = await sql<{
    name: string;
  }>`select p.reference as name ${over} order by p.id limit ${sql.lit(mostNames)}`.execute(db);
  const measure = overMs === null ? 0 : overMs + 1;
  const names = first.rows.map(({ name }) => name);
  return [{ ...plainFinding(kind), ...sumOf(groups.rows), measure, names }];
}

/** Batches with payouts that came to nothing and are not paid again. */
export async function unpaidFindings(db: Db): Promise<Finding<'payout_unpaid'>[]> {
  const sums = (await unpaidSums(db)).map(({ batch, ...sum }) => {
    return { subject: batch, mark: null, ...sum };
  });
  const forNewFile = sums.length === 0 ? new Set() : await batchesForNewFile(db);
  return [...Map.groupBy(sums, ({ subject }) => subject)].map(([batch, own]) => ({
    ...plainFinding('payout_unpaid', batch),
    ...sumOf(own),
    facts: {
      states: [...Map.groupBy(own, ({ state }) => state)].map(([state, some]) => {
        return { state, count: some.reduce((sum, { n }) => sum + Number(n), 0) };
      }),
      newFile: forNewFile.has(batch),
    },
  }));
}

/**
 * Batches of which payouts wait for a person. `askedMs`: now, where the operator's own server is asked for approvals, so
 * that nobody hears about one before that server had its time.
 */
export async function heldFindings(
  db: Db | Trx,
  askedMs: number | null = null,
): Promise<Finding<'batch_held'>[]> {
  const { rows } = await sql<
    Group & { reasons: string; asked: string }
  >`select b.id as subject, b.hold_reasons as reasons,
      coalesce((select q.asked_at from approval_questions q where q.batch_id = b.id), b.created_at) as asked,
      t.currency, cast(sum(t.n) as bigint) as n, cast(sum(t.amount) as bigint) as amount, null as mark,
      b.created_at as since
    from batches b join payout_totals t on t.batch_id = b.id
    where b.phase <> 'loading' and t.n > 0 and (t.state = 'held' or (t.state = 'ready' and b.held = 1))
    group by b.id, b.hold_reasons, b.created_at, t.currency order by b.id, t.currency`.execute(db);
  const byBatch = Map.groupBy(rows, ({ subject }) => subject);
  const makers = await makersOf(db, [...byBatch.keys()]);
  return [...byBatch].map(([batch, own]) => {
    const reasons = readReasons(own[0]?.reasons ?? '[]');
    const isAsked = askedMs !== null && Math.abs(askedMs - Date.parse(own[0]?.asked ?? '')) <= answerMs;
    return {
      ...plainFinding('batch_held', batch),
      ...sumOf(own),
      measure: reasons.filter((one) => needsTelling(one) && !(isAsked && serverMayApprove(one))).length,
      facts: {
        waitsForApproval: reasons.some(({ kind }) => kind === 'approval'),
        makers: makers.get(batch) ?? [],
      },
    };
  });
}

/** Batches about which the operator's own server was asked, and has not decided. */
export async function unansweredFindings(
  db: Db | Trx,
  nowMs: number,
): Promise<Finding<'approval_unanswered'>[]> {
  const waiting = (await heldFindings(db)).filter(({ facts }) => facts.waitsForApproval);
  const asked = await db
    .selectFrom('approval_questions')
    .select(['batch_id', 'asked_at', 'problem'])
    .where('rejected_at', 'is', null)
    .execute();
  return waiting.flatMap(({ subject, count }) => {
    const one = asked.find(({ batch_id }) => batch_id === subject);
    if (!one) return [];
    const { asked_at: since, problem } = one;
    const measure = Math.abs(nowMs - Date.parse(since));
    return [{ ...plainFinding('approval_unanswered', subject, count), since, measure, facts: { problem } }];
  });
}

/** A person made the others, and knows of them. */
function needsTelling({ kind }: HoldReason): boolean {
  return kind !== 'person' && kind !== 'cancelled' && kind !== 'releasing';
}

/** Open discrepancies by kind and severity, the gravest first. */
export async function openFindings(db: Db): Promise<Finding<'discrepancy_open'>[]> {
  return (await openGroups(db)).map(({ kind, severity, count, since }) => ({
    ...plainFinding('discrepancy_open', kind, count),
    since,
    facts: { severity },
  }));
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

function sumOf(groups: readonly Group[]): Pick<Finding, 'count' | 'mark' | 'totals' | 'since'> {
  const minor = new Map<string, bigint>();
  for (const { currency, amount } of groups)
    if (currency !== null && amount !== null) minor.set(currency, (minor.get(currency) ?? 0n) + amount);
  const totals = [...minor].map(([currency, amount]) => [currency, formatMinor(amount, currency)] as const);
  return {
    count: groups.reduce((sum, { n }) => sum + Number(n), 0),
    mark: groups.reduce((most, { mark }) => (mark !== null && mark > most ? mark : most), 0n),
    totals: Object.fromEntries(totals),
    since: groups.flatMap(({ since }) => since ?? []).toSorted()[0] ?? null,
  };
}

/** Files of the inbox that were refused, and batches without the rows that were left out. */
export async function rejectedFindings(db: Db | Trx): Promise<Finding<'file_rejected'>[]> {
  const byKind = Map.groupBy(await openRejectedFiles(db), ({ kind }) => kind);
  return [...byKind].map(([kind, files]) => ({
    ...plainFinding('file_rejected', kind, files.length),
    since: files[0]?.since ?? null,
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
  const plain = plainFinding('signatures_wrong', '', references.length);
  return [{ ...plain, measure: references.length, names }];
}

/** Writes to the ledger for real: only a commit shows that it can be written. Throws what the ledger throws. */
export async function probeLedger(ledger: Pick<Ledger, 'write'>): Promise<void> {
  await ledger.write(async (trx) => {
    await trx
      .insertInto('tallies')
      .values({ name: 'probes', n: 1n })
      .onConflict((conflict) => conflict.column('name').doUpdateSet({ n: sql`tallies.n + excluded.n` }))
      .execute();
  });
}
