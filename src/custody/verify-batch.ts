import { createHash } from 'node:crypto';
import type { AdviceFacts } from '../core/domain/discrepancy.ts';
import { replacedEvent } from '../core/domain/history-event.ts';
import { hasComeToNothing } from '../core/domain/payout.ts';
import { readDetail } from '../core/ledger/history.ts';
import { readReasons, reasonColumns } from '../core/ledger/hold-reasons.ts';
import { idList } from '../core/storage/bulk.ts';
import type { Db } from '../core/storage/ledger.ts';
import type { Batch, Discrepancy, HistoryRow, Payout } from '../core/storage/tables/tables.ts';
import { createIdentityDigest } from './archive/identity.ts';
import { certify } from './certificate.ts';
import { type LedgerProblem, problems, problemsOf } from './ledger-problem.ts';
import { createBatchDigest } from './seal.ts';
import { everyPayout } from './snapshot.ts';
import type { BackupCheck } from './verify-backup.ts';
import { checkOrder, frozenAmount, frozenBody } from './verify-order.ts';
import {
  checkArchived,
  checkAttempts,
  checkChain,
  checkProjection,
  type ProvenAttempt,
  type ProvenEvents,
} from './verify-payout.ts';
import type { TotalsCheck } from './verify-totals.ts';

/** A batch with what was proven of it; P27 for the digest. */
export type ProvenBatch = {
  batch: string;
  /** An archive has its full histories: its digest and certificate are there. */
  archived: boolean;
  payouts: number;
  digest: string;
  certificate: { at_most_once: boolean; sends: number; decisions: number; not_taken: number };
};

/** Walks a batch once, in pages; `report` hears each problem. */
export async function checkBatch(
  db: Db,
  { id, backup, totals }: { id: string; backup: BackupCheck; totals: TotalsCheck | null },
  report: (found: readonly LedgerProblem[]) => void,
): Promise<ProvenBatch> {
  const batch = await db.selectFrom('batches').selectAll().where('id', '=', id).executeTakeFirstOrThrow();
  const digest = createBatchDigest();
  const tally = createTally(batch);
  const then = backup.batch(id);
  const figures = await totals?.batch(id);
  let payouts = 0;
  const archived = batch.archive_id === null ? null : createIdentityDigest();
  const certificate = { at_most_once: true, sends: 0, decisions: 0, not_taken: 0 };
  for await (const page of everyPayout(db, id)) {
    payouts += page.length;
    const paidTwice = await paidTwiceOf(db, page);
    for (const evidence of await evidenceOf(db, page)) {
      const { payout, history, attempts } = evidence;
      digest.add(payout.history_head);
      then.add(evidence);
      figures?.add(evidence);
      report(checkChain(evidence));
      if (archived) {
        archived.add(payout);
        report(checkArchived(evidence));
        continue;
      }
      report(checkProjection(evidence));
      report(checkAttempts(evidence));
      report(checkOrder(payout));
      report(tally.add(evidence));
      report(checkSuccessors(evidence));
      report(checkAnchor(batch, evidence));
      const twice = paidTwice.get(payout.id);
      const own = certify(history, attempts, twice?.transfers);
      certificate.sends += own.sends;
      certificate.decisions += own.decisions;
      certificate.not_taken += own.notTaken;
      if (own.problems.length > 0) certificate.at_most_once = false;
      // Once a person has resolved what was paid twice, only the certificate still says so.
      const open = twice?.state === 'resolved' ? certify(history, attempts) : own;
      report(problemsOf('at_most_once', payout.reference, open.problems));
    }
  }
  if (archived && archived.end() !== batch.archived_digest)
    report(problemsOf('archives', id, [{ kind: 'archived_payouts' }]));
  if (!archived) report(tally.end());
  report(checkHold(batch));
  report(then.end());
  report(figures?.end() ?? []);
  return { batch: id, archived: archived !== null, payouts, digest: digest.end(), certificate };
}

async function evidenceOf(db: Db, page: readonly Payout[]): Promise<ProvenEvents[]> {
  const wanted = idList(page.map((payout) => payout.id));
  const history = await db
    .selectFrom('history')
    .selectAll()
    .where('payout_id', 'in', wanted)
    .orderBy('payout_id')
    .orderBy('seq')
    .execute();
  const attempts = await db
    .selectFrom('attempts')
    .select(['id', 'payout_id', 'number', 'outcome', 'ended_at', 'code'])
    .where('payout_id', 'in', wanted)
    .orderBy('payout_id')
    .orderBy('number')
    .execute();
  const histories = Map.groupBy<bigint, HistoryRow>(history, (row) => row.payout_id);
  const tries = Map.groupBy<bigint, ProvenAttempt>(attempts, (row) => row.payout_id);
  return page.map((payout) => ({
    payout,
    history: histories.get(payout.id) ?? [],
    attempts: tries.get(payout.id) ?? [],
  }));
}

/** The payouts of which the service shows several transfers after several sends, with the state of that finding and their number. */
async function paidTwiceOf(
  db: Db,
  page: readonly Payout[],
): Promise<Map<bigint | null, { state: Discrepancy['state']; transfers: number }>> {
  const found = await db
    .selectFrom('discrepancies')
    .innerJoin('payouts', 'payouts.id', 'discrepancies.payout_id')
    .select(['discrepancies.payout_id', 'discrepancies.state', 'discrepancies.advice'])
    .where('discrepancies.payout_id', 'in', idList(page.map(({ id }) => id)))
    .where('kind', '=', 'paid_twice')
    // Of its own transfers: a successor that was paid too has a subject of its own.
    .whereRef('discrepancies.subject', '=', 'payouts.reference')
    .where((eb) => eb.or([eb('discrepancies.state', '<>', 'resolved'), eb('resolved_by', '=', 'person')]))
    .execute();
  return new Map(
    found.map(({ payout_id, state, advice }) => {
      const { transfers = 2 }: AdviceFacts = JSON.parse(advice);
      return [payout_id, { state, transfers }];
    }),
  );
}

/** At most one successor was ever made of a payout, and only of one that was not paid, or a cancelled successor (P20). */
function checkSuccessors({ payout, history }: ProvenEvents): LedgerProblem[] {
  const found = problems('successors', payout.reference);
  const made = history.filter(
    (row) => row.event === replacedEvent && readDetail(row.detail).keep !== undefined,
  );
  if (made.length > 1) found.add({ kind: 'successors', count: made.length });
  for (const { seq, from_state } of made) {
    const isCancelled = from_state === 'cancelled' && payout.successor_of !== null;
    if (!hasComeToNothing(from_state) && !isCancelled)
      found.add({ kind: 'successor_early', seq, state: from_state });
  }
  return found.list;
}

/** The chain begins with the batch it belongs to and the digest of what was frozen: neither can change later (P2). */
function checkAnchor({ id, body_digest }: Batch, { payout, history }: ProvenEvents): LedgerProblem[] {
  const found = problems('orders', payout.reference);
  const [first] = history;
  if (first?.event !== 'intake') return found.list;
  const { batch, bodies, body } = readDetail(first.detail);
  if (batch !== undefined && batch !== id) found.add({ kind: 'other_batch', batch: id });
  if (bodies !== undefined && bodies !== body_digest) found.add({ kind: 'other_bodies' });
  if (body !== undefined && body !== createHash('sha256').update(payout.body).digest('hex'))
    found.add({ kind: 'other_body' });
  return found.list;
}

/** Adds a batch up: rows, sums per currency, the digest of the frozen bodies, and what its phase forbids. */
function createTally(batch: Batch) {
  const bodies = createHash('sha256');
  const sums = new Map<string, { is: bigint; frozen: bigint }>();
  let rows = 0n;
  return {
    add({ payout, history }: ProvenEvents): LedgerProblem[] {
      // A successor that came as a row of this file is one of its rows; one that `retry` made has a body of its own.
      const isRow =
        payout.successor_of === null || readDetail(history[0]?.detail ?? '{}').bodies !== undefined;
      if (isRow) {
        rows += 1n;
        bodies.update(`${payout.body}\n`);
      }
      const sum = sums.get(payout.currency) ?? { is: 0n, frozen: 0n };
      sum.is += payout.amount;
      sum.frozen += frozenAmount(frozenBody(payout.body) ?? {}, payout.currency) ?? 0n;
      sums.set(payout.currency, sum);
      return checkPhase(batch, payout);
    },
    end(): LedgerProblem[] {
      const found = problems('balances', batch.id);
      if (batch.phase === 'loading' && batch.body_digest === '') return found.list;
      if (rows !== batch.row_count) found.add({ kind: 'row_count', was: batch.row_count, is: rows });
      for (const [currency, { is, frozen }] of sums)
        if (is !== frozen) found.add({ kind: 'sums', currency, is, frozen });
      if (batch.body_digest !== '' && bodies.digest('hex') !== batch.body_digest)
        found.add({ kind: 'body_digest' });
      return found.list;
    },
  };
}

function checkPhase({ phase, body_digest }: Batch, payout: Payout): LedgerProblem[] {
  const found = problems('phases', payout.reference);
  const { state } = payout;
  if (phase === 'loading' && (payout.attempt_count > 0n || (state !== 'held' && state !== 'ready')))
    found.add({ kind: 'state_in_phase', state, phase });
  if (phase === 'loading' && body_digest === '' && payout.history_seq > 0n)
    found.add({ kind: 'history_early' });
  if (phase === 'loaded' && payout.history_seq === 0n) found.add({ kind: 'history_none' });
  if (phase === 'cancelled' && (state === 'ready' || state === 'held' || state === 'sending'))
    found.add({ kind: 'state_in_phase', state, phase });
  return found.list;
}

/** Claims read `held`, people read the reasons. Where the two differ, a batch that a person holds could be sent. */
function checkHold({ id, held, hold_reasons }: Batch): LedgerProblem[] {
  const found = problems('phases', id);
  const columns = columnsOf(hold_reasons);
  if (columns === null) return found.add({ kind: 'reasons_unreadable' });
  if (columns.held === held) return [];
  return found.add({ kind: 'held', held });
}

function columnsOf(stored: string): ReturnType<typeof reasonColumns> | null {
  try {
    return reasonColumns(readReasons(stored));
  } catch {
    return null;
  }
}
