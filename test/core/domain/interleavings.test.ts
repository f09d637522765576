import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { AttemptOutcome } from '../../../src/core/domain/outcome.ts';
import type { PayoutState, WitnessStatus } from '../../../src/core/domain/payout.ts';
import { type LedgerEvent, type PayoutStanding, transition } from '../../../src/core/domain/transition.ts';
import type { Witness } from '../../../src/core/domain/witness.ts';
import { record } from '../../../src/core/ledger/record.ts';
import { addBatch, at, claimAt, makeLedger, payoutById } from '../../support/ledger.ts';
import { repeats } from '../../support/repeats.ts';

/** The one truth: whether the service took the POST, and what it did with it. */
type World = { taken: boolean; end: WitnessStatus };
/** Something that may be heard, at any time and any number of times. */
type Heard = Exclude<LedgerEvent, { kind: 'intent' }>;

const answer: Record<AttemptOutcome['kind'], AttemptOutcome> = {
  accepted: { kind: 'accepted', transferId: '7', status: 'pending', httpStatus: 200, message: '', raw: '' },
  refused: { kind: 'refused', code: '24', httpStatus: 400, message: '', raw: '' },
  not_sent: { kind: 'not_sent', message: '' },
  turned_away: { kind: 'turned_away', retryAfterMs: null, httpStatus: 429, code: null, message: '', raw: '' },
  unknown: { kind: 'unknown', code: null, httpStatus: null, message: '', raw: '', halts: false },
};
const attemptId = 1n;
const outcome = (kind: AttemptOutcome['kind']): Heard => ({
  kind: 'outcome',
  attemptId,
  outcome: answer[kind],
});
const witness = (source: Witness['source'], status: WitnessStatus): Heard => ({
  kind: 'witness',
  witness: { source, status, transferId: '7', trx: 'T', fee: null, message: null, settledAt: null },
});
const died: Heard = { kind: 'abandoned', attemptId, why: 'the process died' };
const notFound: Heard = { kind: 'looked_up', found: false };

/** What statuses a service shows on the way to this end, in its order. */
const way: Record<WitnessStatus, WitnessStatus[]> = {
  pending: ['pending'],
  success: ['pending', 'success'],
  failed: ['pending', 'failed'],
  returned: ['pending', 'success', 'returned'],
};

/** Everything that can be heard in this world without anybody lying; a look-up made too early finds nothing. */
function hearable({ taken, end }: World): Heard[] {
  if (!taken) return [...(['refused', 'unknown'] as const).map(outcome), died, notFound];
  const shown = way[end].flatMap((status) =>
    (['webhook', 'listing', 'details'] as const).map((source) => witness(source, status)),
  );
  return [outcome('accepted'), outcome('unknown'), died, notFound, ...shown];
}

/** A proving witness of the final truth. */
const proves = ({ end }: World, event: Heard): boolean =>
  event.kind === 'witness' && event.witness.source !== 'webhook' && event.witness.status === end;

const worlds = fc.record({
  taken: fc.constant(true),
  end: fc.constantFrom<WitnessStatus>('pending', 'success', 'failed', 'returned'),
});

/** A world, and what is heard of it in any order, any part of it any number of times. */
const stories = worlds.chain((world) =>
  fc.record({
    world: fc.constant(world),
    heard: fc.array(fc.constantFrom(...hearable(world)), { maxLength: 14 }),
    proof: fc.constantFrom(...hearable(world).filter((event) => proves(world, event))),
    place: fc.nat(14),
  }),
);

/** The payout's standing kept in memory as `record` keeps it in the ledger. */
function live(events: readonly Heard[]): { state: PayoutState; evidence: string; path: PayoutState[] } {
  const now: PayoutStanding = {
    state: 'ready',
    evidence: '',
    isNeverSent: true,
    otherAttemptOpen: false,
    otherUnderWay: false,
    forgetful: false,
    possiblyTaken: 0,
  };
  let ended: AttemptOutcome['kind'] | null = null;
  const path: PayoutState[] = [];
  const apply = (event: LedgerEvent): void => {
    const effect = transition(now, event);
    if (effect.kind === 'move') now.state = effect.to;
    if (effect.kind !== 'conflict') now.evidence = effect.evidence;
    path.push(now.state);
  };
  apply({ kind: 'intent', attemptId });
  now.isNeverSent = false;
  now.possiblyTaken = 1;
  for (const event of events) {
    // P4: compare-and-set on the attempt.
    if (event.kind === 'outcome' || event.kind === 'abandoned') {
      if (ended !== null && ended !== 'unknown') continue;
      if (ended !== null && event.kind === 'abandoned') continue;
      ended = event.kind === 'abandoned' ? 'unknown' : event.outcome.kind;
    }
    apply(event);
    now.possiblyTaken = ended === null || ended === 'unknown' || ended === 'accepted' ? 1 : 0;
  }
  return { state: now.state, evidence: now.evidence, path };
}

const withProof = <T>(heard: readonly T[], proof: T, place: number): T[] => heard.toSpliced(place, 0, proof);

it('P14: a witness of the final truth anywhere among late and repeated events leads to that one end', () => {
  fc.assert(
    fc.property(stories, ({ world, heard, proof, place }) => {
      const { state } = live(withProof(heard, proof, place));
      expect(state).toBe(world.end);
    }),
    { numRuns: repeats() ? 5000 : 1000 },
  );
});

it('P14: there is never a success, failure or return without a witness that proves it', () => {
  fc.assert(
    fc.property(stories, ({ heard }) => {
      const { state, evidence, path } = live(heard);
      const told = heard.flatMap((event) =>
        event.kind === 'witness' && event.witness.source !== 'webhook' ? [event.witness.status] : [],
      );
      for (const final of ['success', 'failed', 'returned'] as const)
        if (path.includes(final)) expect(told).toContain(final);
      if (state === 'success' || state === 'failed') expect(evidence).toMatch(/listing|details/);
    }),
    { numRuns: repeats() ? 5000 : 1000 },
  );
});

it('P4: what was taken is never ready, refused or cancelled again, in whatever order it is heard', () => {
  fc.assert(
    fc.property(stories, ({ heard }) => {
      for (const state of live(heard).path)
        expect(['ready', 'held', 'refused', 'cancelled']).not.toContain(state);
    }),
    { numRuns: repeats() ? 5000 : 1000 },
  );
});

it('P4: what the service refused ends refused once its answer is heard, and is never more than unknown before', () => {
  const world: World = { taken: false, end: 'failed' };
  const heard = fc.array(fc.constantFrom(...hearable(world)), { maxLength: 10 });
  fc.assert(
    fc.property(heard, (events) => {
      const { state, path } = live(events);
      const answered = events.some((event) => event.kind === 'outcome' && event.outcome.kind === 'refused');
      expect(path.every((one) => ['sending', 'unknown', 'refused'].includes(one))).toBe(true);
      if (answered) expect(state).toBe('refused');
    }),
    { numRuns: repeats() ? 3000 : 600 },
  );
});

it('P17: with two POSTs that may have been taken, no order of words makes it failed while one may have succeeded', () => {
  const once: PayoutStanding = {
    state: 'unknown',
    evidence: '',
    isNeverSent: false,
    otherAttemptOpen: true,
    otherUnderWay: false,
    forgetful: false,
    possiblyTaken: 2,
  };
  const words = [...hearable({ taken: true, end: 'failed' }), outcome('refused'), outcome('not_sent')];
  const heard = fc.array(fc.constantFrom(...words), { maxLength: 12 });
  fc.assert(
    fc.property(heard, (events) => {
      const now = { ...once };
      for (const event of events) {
        const effect = transition(now, event);
        if (effect.kind === 'move') now.state = effect.to;
        if (effect.kind !== 'conflict') now.evidence = effect.evidence;
        expect(['sending', 'unknown', 'pending']).toContain(now.state);
      }
    }),
    { numRuns: repeats() ? 3000 : 600 },
  );
});

it('P14: the real ledger ends as the pure function does, in some hundred orders', async () => {
  const ledger = await makeLedger();
  const cases = fc.sample(stories, { numRuns: 200, seed: 7 });
  const ids = await addBatch(
    ledger,
    cases.map((_, i) => `R-${i}`),
  );
  const claims = new Map(
    (await claimAt(ledger, at(0), cases.length)).map((claim) => [claim.payoutId, claim]),
  );
  for (const [i, { world, heard, proof, place }] of cases.entries()) {
    const payoutId = ids[i] ?? 0n;
    const own = claims.get(payoutId)?.attemptId ?? 0n;
    const events = withProof(heard, proof, place);
    // One transaction each, as they would come, or all in one: the order within is kept.
    const together = i % 2 === 0 ? [events] : events.map((event) => [event]);
    for (const [turn, group] of together.entries()) {
      const told = group.map((event) => ({
        payoutId,
        source: 'test',
        event: 'attemptId' in event ? { ...event, attemptId: own } : event,
      }));
      await ledger.write((trx) => record(trx, at(turn + 1), told));
    }
    const { state, evidence } = await payoutById(ledger, payoutId);
    expect(
      { state, evidence },
      JSON.stringify(events, (_, value: unknown) => (typeof value === 'bigint' ? `${value}` : value)),
    ).toEqual({
      state: world.end,
      evidence: live(events).evidence,
    });
  }
  await ledger.remove();
});
