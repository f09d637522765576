import { join } from 'node:path';
import type { App } from '../../../src/app/app.ts';
import { unprovenEvidence } from '../../../src/core/ledger/barriers.ts';
import {
  areHoldingAll,
  holdReasonsOf,
  readReasons,
  reasonMark,
} from '../../../src/core/ledger/hold-reasons.ts';
import { batchHalts, haltMarks } from '../../../src/sending/halts.sql.ts';
import { approveVerb, reviewApproval } from '../../../src/verbs/approve.ts';
import { backupVerb } from '../../../src/verbs/backup.ts';
import { cancelVerb } from '../../../src/verbs/cancel.ts';
import { closePeriodVerb } from '../../../src/verbs/close-period.ts';
import { acknowledgeVerb, decideVerb, resolveVerb } from '../../../src/verbs/decide-discrepancies.ts';
import { holdVerb } from '../../../src/verbs/hold.ts';
import { holdAllVerb } from '../../../src/verbs/hold-all.ts';
import type { Refused } from '../../../src/verbs/obstacles.ts';
import { reconcileVerb } from '../../../src/verbs/reconcile.ts';
import { rejectVerb } from '../../../src/verbs/reject.ts';
import { releaseVerb } from '../../../src/verbs/release.ts';
import { releaseAllVerb } from '../../../src/verbs/release-all.ts';
import { reportVerb } from '../../../src/verbs/report.ts';
import { resendVerb } from '../../../src/verbs/resend.ts';
import { retryVerb } from '../../../src/verbs/retry.ts';
import { settleVerb } from '../../../src/verbs/settle.ts';
import { submitVerb } from '../../../src/verbs/submit.ts';
import { takeInVerb } from '../../../src/verbs/take-in.ts';
import type { Person } from '../../../src/verbs/verb.ts';
import { allVerbs, type VerbName } from '../../../src/verbs/verbs.ts';
import { evidenceDigest } from '../../../src/watching/evidence/weigh.ts';
import { limits, promise } from '../files.ts';
import type { Needs } from '../opening.ts';
import { type Move, noteCancelled, noteLetGo, type Stage } from '../stage.ts';

export type Outcome = { did: boolean; what: string };
/** What a verb is ordered about: a batch, or payouts of one. */
type Subject = { batch: string; references: string[] };
/** `before`: what makes something that the verb can end, where nothing does. */
export type Order = {
  needs?: Needs;
  before?: (stage: Stage, app: App) => Promise<void>;
  run(stage: Stage, app: App, about: About): Promise<Outcome>;
};
/**
 * Where the verb looks for what it acts on: first what the other moves touched, then what stands in the ledger. `acted`:
 * what it chose, for the moves that follow.
 */
export type About = { first: string[]; wrongly: boolean; acted: string[] };

const person = (name: string, uid: number): Person => ({ name, accounts: [{ name, uid }], noted: '' });
export const ada = person('Ada', 424_241);
export const bola = person('Bola', 424_242);
export const mayBePaidAgain = ['unknown', 'failed', 'refused', 'returned'];

const attended = (app: App) => ({ ...app, signal: new AbortController().signal });

function outcomeOf<Done extends { kind: string }>(
  done: Done | Refused,
  did: (done: Done) => boolean,
): Outcome {
  return isRefused(done)
    ? { did: false, what: `refused: ${done.why.kind}` }
    : { did: did(done), what: done.kind };
}

function isRefused(done: { kind: string }): done is Refused {
  return done.kind === 'refused' && 'why' in done;
}

/** How each verb is ordered: its input is chosen by what stands in the ledger, its evidence obtained as the command does. */
const orders: Record<VerbName, Order> = {
  approve: {
    needs: { second: { approval: true }, brakes: { approval: 'above', approvalAbove: limits.approvalAbove } },
    run: (stage, app, about) => approve(stage, app, about),
  },
  reject: {
    needs: { second: { approval: true }, brakes: { approval: 'above', approvalAbove: limits.approvalAbove } },
    run: (stage, app, about) => reject(stage, app, about),
  },
  hold: {
    async run(stage, app, about) {
      const { batch } = subject(stage, about, ['ready', 'held', 'sending']);
      const held = stage.town.brakes.holding(batch);
      const done = await holdVerb.run(app, { batch }, ada);
      if (done.kind === 'held') held();
      return outcomeOf(done, () => true);
    },
  },
  'hold-all': {
    async run({ town }, app) {
      const halted = town.brakes.holding(null);
      const done = await holdAllVerb.run(app, {}, ada);
      halted();
      return { did: true, what: done.kind };
    },
  },
  release: {
    needs: { second: { twins: true } },
    run: (stage, app, about) => release(stage, app, heldBatch(stage, about)),
  },
  'release-all': {
    before: async (stage, app) => {
      if (stage.town.inspector.isHalted()) return;
      const halted = stage.town.brakes.holding(null);
      await holdAllVerb.run(app, {}, ada);
      halted();
    },
    run: (stage, app) => releaseAll(stage, app),
  },
  cancel: {
    async run(stage, app, about) {
      const { batch, references } = subject(stage, about, ['ready', 'held', 'sending']);
      const [reference = ''] = references;
      return about.wrongly && reference !== '' ? cancelOne(app, reference) : cancel(stage, app, batch);
    },
  },
  retry: {
    run: (stage, app, about) =>
      retry(stage, app, subject(stage, about, mayBePaidAgain).references.slice(0, 1)),
  },
  settle: {
    run(stage, app, about) {
      const open = ['unknown', 'pending', 'held', 'ready'];
      const [reference = ''] = subject(stage, about, open).references;
      const paid = stage.town.service.book.timesPaid(reference) > 0;
      return settle(app, reference, paid === about.wrongly ? 'failed' : 'success');
    },
  },
  resend: {
    async run(stage, app, about) {
      const { references } = subject(stage, about, ['unknown', 'pending', 'success', 'failed', 'sending']);
      const parts = { ...app, signal: new AbortController().signal, meanwhile: async () => undefined };
      const done = await resendVerb.run(
        parts,
        { references: references.slice(0, 1), collections: false },
        ada,
      );
      return outcomeOf(done, ({ asked }) => asked.some(({ answer }) => answer !== null));
    },
  },
  report: {
    async run(stage, app, about) {
      const { batch } = subject(stage, about, []);
      return outcomeOf(await reportVerb.run(app, { batch }, ada), ({ files }) => files.length > 0);
    },
  },
  'take-in': {
    async run(stage, app) {
      const { path } = promise(stage, [{}, {}]);
      const done = await takeInVerb.run(attended(app), { files: [path], dryRun: false }, ada);
      return outcomeOf(done, ({ taken }) => taken.some(({ kind }) => kind === 'taken'));
    },
  },
  submit: {
    async run(stage, app) {
      const { path } = promise(stage, [{}, {}]);
      const done = await submitVerb.run(attended(app), { files: [path] }, ada);
      return outcomeOf(done, ({ taken }) => taken.some(({ kind }) => kind === 'taken'));
    },
  },
  reconcile: {
    run: (stage, app) =>
      reconcileAlone(stage, app, async () => {
        const input = { full: stage.number % 4 < 2, followUp: true };
        return outcomeOf(await reconcileVerb.run(attended(app), input, ada), () => true);
      }),
  },
  backup: {
    async run({ root, town }, app) {
      const file = join(root, `copy-${Math.floor(town.world.now())}.db`);
      return outcomeOf(await backupVerb.run(app, { file }, ada), () => true);
    },
  },
  decide: {
    needs: { stranger: true },
    async run(stage, app) {
      const note = 'looked into it';
      const decisions = openTo(stage, ['open']).map((id) => ({
        ids: [id],
        note,
        verdict: 'resolve' as const,
      }));
      const done = await decideVerb.run(app, { decisions }, ada);
      return outcomeOf(done, ({ changed }) => changed > 0);
    },
  },
  'close-period': {
    needs: { startsAt: Date.parse('2026-11-01T03:47Z'), movesAt: Date.parse('2026-11-01T04:02Z') },
    async run(_stage, app) {
      const [year = 0, month = 0] = app.clock.iso().split('-').map(Number);
      const before = month === 1 ? `${year - 1}-12` : `${year}-${String(month - 1).padStart(2, '0')}`;
      return outcomeOf(await closePeriodVerb.run(app, { month: before }, ada), () => true);
    },
  },
  acknowledge: {
    needs: { stranger: true },
    async run(stage, app) {
      const done = await acknowledgeVerb.run(app, { ids: openTo(stage, ['open']), note: '' }, ada);
      return outcomeOf(done, ({ changed }) => changed > 0);
    },
  },
  resolve: {
    needs: { stranger: true },
    async run(stage, app) {
      const ids = openTo(stage, ['open', 'acknowledged']);
      const done = await resolveVerb.run(app, { ids, note: 'looked into it' }, ada);
      return outcomeOf(done, ({ changed }) => changed > 0);
    },
  },
};

/** One move for each verb. */
export const verbMoves: [VerbName, Move][] = allVerbs.map(({ name, touchesMoney }) => [
  name,
  moveBy(orders[name], touchesMoney),
]);

/** Somebody orders it in a process of its own. */
export function moveBy({ needs, before, run }: Order, touchesMoney: boolean): Move {
  return {
    touchesMoney,
    ...(needs && { needs }),
    begin(stage, seat) {
      const about: About = {
        first: seat.others.flatMap(({ touched }) => touched),
        wrongly: stage.number % 2 === 1,
        acted: [],
      };
      stage.command(
        async (app) => {
          await before?.(stage, app);
          const { did, what } = await run(stage, app, about);
          seat.touched.push(...about.acted);
          stage.note(seat, did, what);
        },
        (life) => {
          life.dawdle(() => stage.random.between(0, 60));
          void life.died.then(() => {
            if (stage.reconciling?.name === life.name) stage.reconciling.alive = false;
            stage.note(seat, false, 'its process ended');
          });
        },
      );
    },
  };
}

/** Payouts in one of these states: those that other moves touched first, then by the number of the play. */
export function subject(
  { town, number }: Stage,
  { first, acted }: About,
  states: readonly string[],
): Subject {
  const sql = `select reference, batch_id, state from payouts p join batches b on b.id = p.batch_id
    where b.phase = 'loaded' and not exists (select 1 from payouts s where s.successor_of = p.id) order by p.id`;
  const all = town.inspector.rows<{ reference: string; batch_id: string; state: string }>(sql);
  const fit = states.length === 0 ? all : all.filter(({ state }) => states.includes(state));
  const near = fit.filter(({ reference }) => first.includes(reference));
  const some = near.length > 0 ? near : fit;
  const start = some.length === 0 ? 0 : Math.floor(number / 2) % some.length;
  const turned = near.length > 0 ? near : [...some.slice(start), ...some.slice(0, start)];
  acted.push(...turned.slice(0, 1).map(({ reference }) => reference));
  return {
    batch: turned[0]?.batch_id ?? all[0]?.batch_id ?? '',
    references: turned.map(({ reference }) => reference),
  };
}

/** A batch that something holds; else the one that the verb would look at first. */
export function heldBatch(stage: Stage, about: About): string {
  const near = subject(stage, about, ['held']).batch;
  const sql = "select id, hold_reasons from batches where phase = 'loaded' order by id = ? desc, id";
  const all = stage.town.inspector.rows<{ id: string; hold_reasons: string }>(sql, near);
  const held = all.find(({ hold_reasons }) =>
    readReasons(hold_reasons).some(({ kind }) => kind !== 'releasing'),
  );
  return held?.id ?? near;
}

export function openTo({ town }: Stage, states: readonly string[]): string[] {
  return town.inspector
    .rows<{ id: string; state: string }>('select id, state from discrepancies order by id')
    .filter(({ state }) => states.includes(state))
    .map(({ id }) => id);
}

/** One reconciliation at a time, as the lock beside the ledger has it: here each life has a lock of its own. */
export async function reconcileAlone(
  stage: Stage,
  { workers }: App,
  work: () => Promise<Outcome>,
): Promise<Outcome> {
  if (stage.reconciling?.alive) return { did: false, what: 'refused: reconciling' };
  const own = { name: workers.id, alive: true };
  stage.reconciling = own;
  return work().finally(() => {
    own.alive = false;
  });
}

/** Cancels what of a batch was never sent. */
export async function cancel(stage: Stage, app: App, batch: string): Promise<Outcome> {
  const done = await cancelVerb.run(app, { batch }, ada);
  if (!isRefused(done)) noteCancelled(stage, batch, true);
  return outcomeOf(done, ({ done: { cancelled, withdrawn } }) => cancelled + withdrawn > 0);
}

async function cancelOne(app: App, reference: string): Promise<Outcome> {
  const done = await cancelVerb.run(app, { reference }, ada);
  return outcomeOf(done, ({ done: { cancelled, withdrawn } }) => cancelled + withdrawn > 0);
}

/** The batch that waits for an approval. */
export function awaitingApproval(stage: Stage, first: string[]): string {
  const sql = `select b.id from batches b where b.phase = 'loaded' and b.hold_reasons like '%"approval"%'
    order by exists (select 1 from payouts p where p.batch_id = b.id and p.reference = ?) desc, b.id`;
  const [waiting] = stage.town.inspector.rows<{ id: string }>(sql, first[0] ?? '');
  return waiting?.id ?? subject(stage, { first, wrongly: false, acted: [] }, []).batch;
}

/** Somebody else turns down a batch that waits for an approval. */
async function reject(stage: Stage, app: App, { first }: About): Promise<Outcome> {
  const batch = awaitingApproval(stage, first);
  const { reasons } = await holdReasonsOf(app.ledger.db, batch);
  const isPart = !areHoldingAll(reasons);
  const done = await rejectVerb.run(app, { batch, reason: 'the wrong month' }, bola);
  if (!isRefused(done) && !isPart) noteCancelled(stage, batch, true);
  return outcomeOf(done, ({ done: { cancelled, withdrawn } }) => cancelled + withdrawn > 0);
}

/** Somebody else approves what was shown of a batch that waits for it. */
export async function approve(stage: Stage, app: App, { first }: { first: string[] }): Promise<Outcome> {
  const batch = awaitingApproval(stage, first);
  const review = await reviewApproval(app, batch, bola);
  noteCancelled(stage, batch, false);
  noteLetGo(stage, batch);
  if (review.kind === 'may') stage.town.brakes.approves(batch, Number(review.shown.throughId));
  const digest = review.kind === 'may' ? review.shown.digest : '';
  return outcomeOf(await approveVerb.run(app, { batch, digest }, bola), ({ kind }) => kind === 'approved');
}

/** Lifts what the person saw of the batch. */
export async function release(stage: Stage, app: App, batch: string): Promise<Outcome> {
  const { town } = stage;
  const { reasons } = await holdReasonsOf(app.ledger.db, batch);
  const shown = [
    ...reasons.map(reasonMark),
    ...(await batchHalts(app.ledger.db, batch)).map(({ mark }) => mark),
  ];
  noteCancelled(stage, batch, false);
  noteLetGo(stage, batch);
  town.brakes.releasing(batch);
  town.lateBytes.releasing(batch);
  const done = await releaseVerb.run(app, { batch, shown }, ada);
  return outcomeOf(
    done,
    ({ seen, released, canary }) => seen.length + released.moved > 0 || canary !== undefined,
  );
}

/** Lifts the halts that the person saw, and ends an adopted ledger's wait where a list was shown not to prove enough. */
export async function releaseAll({ town }: Stage, app: App): Promise<Outcome> {
  const shown = await haltMarks(app.ledger.db);
  const evidence = await unprovenEvidence(app.ledger.db);
  town.brakes.releasing(null);
  if (evidence !== null) town.fall.announceEnd();
  const note = evidence === null ? {} : { note: 'no other list will come', evidence };
  const done = await releaseAllVerb.run(app, { shown, ...note }, ada);
  return { did: done.lifted !== undefined || typeof done.waived === 'object', what: done.kind };
}

/** Orders these again on what the service says now, and sends them, as the command does. */
export async function retry(stage: Stage, app: App, references: string[]): Promise<Outcome> {
  const { town } = stage;
  const { payouts } = await app.decisions.find(references);
  if (payouts.length === 0) return { did: false, what: 'nothing to retry' };
  for (const { batch_id } of payouts) noteCancelled(stage, batch_id, false);
  const ids = payouts.map(({ id }) => id);
  const since = app.clock.iso();
  await app.lookUps.lookUp(ids);
  const { digest, cases } = await app.decisions.weigh(ids, since);
  if (cases.every(({ judgement }) => judgement.kind === 'no'))
    return { did: false, what: 'the evidence forbids it' };
  for (const reference of references) {
    const last = town.inspector.lastAttempt(reference);
    const sentAt = last ? town.begunAt(last.id) : 0;
    const afterQuietPeriod = town.world.now() - sentAt > town.weather.quietPeriodMs;
    town.decisions.announceRetry(reference, { afterQuietPeriod });
  }
  const done = await retryVerb.run({ ...app, through: app }, { references, since, digest }, ada);
  return outcomeOf(done, (decision) => decision.kind === 'decided' && decision.decided.length > 0);
}

/** Closes one on what the service says now, as the command does. */
export async function settle(app: App, reference: string, as: 'success' | 'failed'): Promise<Outcome> {
  const { payouts } = await app.decisions.find([reference]);
  if (payouts.length === 0) return { did: false, what: 'nothing to settle' };
  const ids = payouts.map(({ id }) => id);
  const since = app.clock.iso();
  await app.lookUps.lookUp(ids);
  const { cases } = await app.decisions.weigh(ids, since);
  const open = cases.filter(({ remedies }) => remedies.includes('settle'));
  if (open.length === 0) return { did: false, what: 'the evidence forbids it' };
  const named = open.map((one) => ({ reference: one.payout.reference, digest: evidenceDigest([one]) }));
  const input = { payouts: named, as, note: 'the bank statement says so', since };
  return outcomeOf(await settleVerb.run(app, input, ada), ({ settled }) => settled.length > 0);
}
