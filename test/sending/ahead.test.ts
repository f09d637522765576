import { afterEach, beforeEach, expect, it } from 'vitest';
import type { Outcome } from '../../src/domain/outcome.ts';
import { systemClock } from '../../src/runtime/clock.ts';
import { createSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts';
import type { Done } from '../../src/sending/flight.ts';
import { findHalt, halt } from '../../src/sending/halts.sql.ts';
import { createProgress } from '../../src/sending/progress.ts';
import type { ServiceClient } from '../../src/service/types.ts';
import { addBatch, makeLedger, states, type TestLedger } from '../support/ledger.ts';
import { clientOf, named, senderOf } from './setting.ts';

let ledger: TestLedger;
let sandbox: Sandbox;
let client: ServiceClient;
beforeEach(async () => {
  ledger = await makeLedger();
});
afterEach(async () => {
  await client.close();
  await sandbox.stop();
  await ledger.remove();
});

async function start(): Promise<void> {
  sandbox = await createSandbox({ settleMs: 60_000 });
  client = clientOf(sandbox);
}

const open = () =>
  ledger.db
    .selectFrom('attempts')
    .innerJoin('payouts', 'payouts.id', 'attempts.payout_id')
    .select('reference')
    .where('outcome', 'is', null)
    .execute();

it('P1: the next group is committed while the last is on the wire, so a crash strands two groups at most', async () => {
  await start();
  await addBatch(ledger, named(60));
  let most = 0;
  let onWire = 0;
  const watched: ServiceClient = {
    ...client,
    async bankTransfer(...order) {
      onWire += 1;
      expect(onWire).toBeLessThanOrEqual(4);
      const intents = (await open()).map(({ reference }) => reference);
      expect(intents, 'its own intent is committed').toContain(order[1]);
      most = Math.max(most, intents.length);
      return client.bankTransfer(...order).finally(() => {
        onWire -= 1;
      });
    },
  };
  const result = await senderOf(ledger, watched, { sendDeadlineMs: 60_000 }).run();
  expect(result).toMatchObject({ ended: 'drained', counts: { accepted: 60 } });
  expect(most).toBeGreaterThan(4);
  expect(most).toBeLessThanOrEqual(8);
});

const said = { httpStatus: 200, message: '', raw: '' };
const accepted: Outcome = { kind: 'accepted', transferId: '7', status: 'pending', ...said };
const halting: Outcome = { kind: 'unknown', code: '10', halts: true, ...said };

/**
 * Sends. The service takes at once. R-6 begins while wait for slots, and all others are
 * answered only after the next turn.
 */
async function sendSixth(sixth: () => Promise<Outcome>): Promise<{ ended: string; begun: string[] }> {
  await start();
  await addBatch(ledger, named(60));
  const begun: string[] = [];
  const turn = Promise.withResolvers<void>();
  const bankTransfer: ServiceClient['bankTransfer'] = async (_, reference) => {
    begun.push(reference);
    if (reference === 'R-6') return sixth();
    if (!['R-1', 'R-2'].includes(reference)) await turn.promise;
    return accepted;
  };
  const write: TestLedger['write'] = async (work) => {
    const isNext = begun.includes('R-6');
    const written = await ledger.write(work);
    if (isNext) setImmediate(turn.resolve);
    return written;
  };
  const { ended } = await senderOf(
    { ...ledger, write },
    { ...client, bankTransfer },
    { sendDeadlineMs: 60_000 },
  ).run();
  return { ended, begun };
}

const unsent = () =>
  ledger.db
    .selectFrom('attempts')
    .innerJoin('payouts', 'payouts.id', 'attempts.payout_id')
    .select(['reference', 'state'])
    .where('outcome', '=', 'not_sent')
    .execute();

it('P11: an answer that halts ends what waits for a slot as not sent', async () => {
  const { ended, begun } = await sendSixth(async () => halting);
  expect([ended, begun]).toEqual(['halted', named(6)]);
  expect(await open()).toEqual([]);
  expect(await unsent()).toEqual(['R-7', 'R-8', 'R-9'].map((reference) => ({ reference, state: 'ready' })));
  expect(await states(ledger)).toMatchObject({ 'R-6': 'unknown', 'R-60': 'ready' });
});

const lost: Outcome = { kind: 'unknown', code: null, halts: false, ...said };
const turnedAway: Outcome = { kind: 'turned_away', retryAfterMs: 1, code: null, ...said };

it.each([
  ['the process was asked to stop', [lost, lost, lost, lost], 'interrupted'],
  ['the service asked for a pause', [turnedAway, lost, lost, lost], 'halted'],
])(
  'P11: unknown outcomes in a row halt also where what waited was recalled: %s',
  async (why, answers, how) => {
    await start();
    await addBatch(ledger, named(60));
    const stop = new AbortController();
    const full = Promise.withResolvers<void>();
    const bankTransfer: ServiceClient['bankTransfer'] = async (_, reference) => {
      const n = Number(reference.slice(2));
      if (n <= 2) return accepted;
      if (n === 6) {
        if (how === 'interrupted') stop.abort();
        setTimeout(full.resolve, 50);
      }
      await full.promise;
      return answers[n - 3] ?? accepted;
    };
    const options = { sendDeadlineMs: 60_000 };
    const { ended } = await senderOf(ledger, { ...client, bankTransfer }, options).run({
      signal: stop.signal,
    });
    expect([ended, why, (await unsent()).length > 0]).toEqual([how, why, true]);
    expect(await findHalt(ledger.db)).toMatchObject({ causes: [{ kind: 'unknowns' }] });
  },
);

it('P11: a halt by a person ends what waits for a slot, once a turn has seen it', async () => {
  const { ended, begun } = await sendSixth(async () => {
    await ledger.write((trx) => halt(trx, { kind: 'person' }, new Date().toISOString()));
    return accepted;
  });
  // R-7 took the slot of R-6.
  expect([ended, begun]).toEqual(['halted', named(7)]);
  expect((await unsent()).map(({ reference }) => reference)).toEqual(['R-8', 'R-9']);
  expect(await open()).toEqual([]);
});

it('P3: intents wait for slots only where the service answers all and soon, and no rate limit counts', async () => {
  await start();
  const done = (kind: 'accepted' | 'unknown', tookMs: number): Done => {
    const said = { httpStatus: 200, message: '', raw: '' };
    const outcome: Outcome =
      kind === 'accepted'
        ? { kind, transferId: '7', status: 'pending', ...said }
        : { kind, code: null, halts: false, ...said };
    return {
      claim: { payoutId: 1n, attemptId: 1n, reference: 'R-1', body: '' },
      outcome,
      begun: true,
      aged: false,
      tookMs,
    };
  };
  const mostAfter = (answers: Done[], ahead = true): number => {
    const pause = { until: 0, acceptedAt: Number.NEGATIVE_INFINITY };
    const rules = { concurrency: 4, sendDeadlineMs: 5000, ahead };
    const progress = createProgress({ clock: systemClock(), pause }, rules);
    progress.note(answers);
    return progress.mostOpen(answers);
  };
  expect(mostAfter([])).toBe(1);
  expect(mostAfter([done('accepted', 499), done('accepted', 1)])).toBe(8);
  expect(mostAfter([done('accepted', 500), done('accepted', 1)])).toBe(4);
  expect(mostAfter([done('accepted', 1), done('unknown', 1)])).toBe(4);
  expect(mostAfter([done('accepted', 1)], false)).toBe(4);
});
