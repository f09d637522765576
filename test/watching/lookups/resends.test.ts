import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { WitnessStatus } from '../../../src/core/domain/payout.ts';
import { createThrottle } from '../../../src/core/runtime/rate-limiter.ts';
import type { ServiceClient, ServiceTrouble } from '../../../src/core/service/types.ts';
import { createSandbox, type Sandbox } from '../../../src/sandbox/sandbox.ts';
import { noteCollection } from '../../../src/watching/collections/collections.sql.ts';
import { claimResend, nextDueRequest, resendsOf } from '../../../src/watching/lookups/resend-requests.sql.ts';
import { createResends, type Resends } from '../../../src/watching/lookups/resends.ts';
import { resendFigures } from '../../../src/watching/webhooks/webhook-figures.sql.ts';
import { startMerchant } from '../../sandbox/harness.ts';
import { clientOf } from '../../sending/setting.ts';
import { addBatch, at, makeLedger, type TestLedger } from '../../support/ledger.ts';
import { onPostgres } from '../../support/on-postgres/standing.ts';
import { handClock } from './setting.ts';

const minute = 60_000;
const hour = 60 * minute;
let ledger: TestLedger;
let clock: ReturnType<typeof handClock>;
beforeEach(async () => {
  ledger = await makeLedger();
  clock = handClock();
});
afterEach(() => ledger.remove());

/** How many requests wait, including those not due yet. */
async function waiting(): Promise<number> {
  const rows = await ledger.db
    .selectFrom('resend_requests')
    .select('id')
    .where('outcome', 'is', null)
    .execute();
  return rows.length;
}

type Calls = { kind: string; reference: string; at: string }[];

/** A service that answers each request as told, and what it was asked. */
function scripted(answers: ServiceTrouble[] = []) {
  const calls: Calls = [];
  const service: Pick<ServiceClient, 'resendWebhook'> = {
    async resendWebhook(kind, reference) {
      calls.push({ kind, reference, at: clock.iso() });
      const json = { success: true, status: '00' };
      return answers.shift() ?? { kind: 'reply', httpStatus: 200, json, raw: 'sent', date: null };
    },
  };
  return { calls, service };
}

const trouble = (
  reason: ServiceTrouble['reason'],
  retryAfterMs: number | null,
  httpStatus: number | null = 429,
): ServiceTrouble => ({ kind: 'trouble', reason, message: 'no', httpStatus, retryAfterMs });

/** `sleeps`: a clock whose sleeping moves it. */
function resendsOn(
  service: Pick<ServiceClient, 'resendWebhook'>,
  { perMinute = 0, receives = true, sleeps = false } = {},
): Resends {
  let ms = 0;
  const moving = {
    ...clock,
    sleep: async (by: number) => {
      ms = Date.parse(clock.iso()) - Date.parse(at(0)) + by;
      clock.set(ms);
    },
  };
  const own = sleeps ? moving : clock;
  const throttle = createThrottle({
    ledger,
    clock: own,
    name: 'test resends',
    perMs: minute,
    limit: perMinute,
  });
  return createResends({ ledger, clock: own, service, throttle, rules: { receives } });
}

const payouts = (...references: string[]) =>
  addBatch(ledger, references, { state: 'success', final_at: at(0) });
const stories = async (id: bigint) =>
  (await resendsOf(ledger.db, { kind: 'payout', id })).map((one) => one.outcome);
const hear = (payoutId: bigint, receivedAt: string, said: WitnessStatus = 'success') =>
  ledger.db
    .insertInto('webhooks')
    .values({
      digest: `${payoutId} ${receivedAt}`,
      received_at: receivedAt,
      last_received_at: receivedAt,
      deliveries: 1n,
      kind: 'payout',
      reference: null,
      trx: null,
      headers: '{}',
      body: Buffer.from(''),
      stale: 0n,
      applied_at: receivedAt,
      payout_id: payoutId,
      collection_id: null,
      verdict: 'says',
      said,
    })
    .execute();

describe('resend requests', () => {
  it('reach the service, which delivers each webhook again', async () => {
    const merchant = await startMerchant();
    const sandbox: Sandbox = await createSandbox({ webhookUrl: merchant.url });
    const service = clientOf(sandbox);
    for (const reference of ['R-1', 'R-2']) sandbox.book.plant({ reference });
    const ids = await payouts('R-1', 'R-2', 'R-3');
    expect(await resendsOn(service).ask(ids)).toBe(3);
    await sandbox.idle();
    const heard = merchant.heard.map((h) => String(h.headers['x-webhook-reference']));
    expect(heard.toSorted()).toEqual(['R-1', 'R-2']);
    expect(await stories(ids[2] ?? 0n), 'the service knows no R-3').toEqual(['refused', null]);
    await service.close();
    await sandbox.stop();
    await merchant.stop();
  });

  // The throttle goes by the database's clock there, which no test can move.
  it.skipIf(onPostgres)(
    'spend the throttle in one burst, and what it keeps back goes out by itself later',
    async () => {
      const { calls, service } = scripted();
      const ids = await payouts('R-1', 'R-2', 'R-3', 'R-4', 'R-5');
      const resends = resendsOn(service, { perMinute: 2, sleeps: true });
      expect(await resends.ask(ids)).toBe(2);
      expect(await waiting()).toBe(5);
      let looked = 0;
      const meanwhile = async () => void looked++;
      expect(await resends.askDue({ forMs: 4 * minute, meanwhile })).toBe(3);
      expect(
        calls.map((call) => [call.reference, (Date.parse(call.at) - Date.parse(at(0))) / minute]),
      ).toEqual([
        ['R-1', 0],
        ['R-2', 0],
        ['R-3', 1],
        ['R-4', 1],
        ['R-5', 2],
      ]);
      expect(looked, 'look-ups are not kept waiting').toBeGreaterThan(2);
    },
  );

  it('are asked three times for one reference, further and further apart, then given up', async () => {
    const { calls, service } = scripted();
    const [id = 0n] = await payouts('R-1');
    const resends = resendsOn(service);
    await resends.ask([id]);
    for (const ms of [1, 9 * minute, 11 * minute, 60 * minute, 71 * minute, 9 * hour, 30 * hour]) {
      clock.set(ms);
      await resends.ask([id]);
      await resends.askDue({ forMs: 0 });
    }
    expect(calls.map((call) => (Date.parse(call.at) - Date.parse(at(0))) / minute)).toEqual([0, 11, 71]);
    expect(await resendFigures(ledger.db, clock.iso())).toEqual({
      asked: 1,
      heard: 0,
      gave_up: 1,
      waiting: 0,
    });
  });

  it('end with the webhook that is heard; one that only says pending is none', async () => {
    const { calls, service } = scripted();
    const [id = 0n] = await payouts('R-1');
    const resends = resendsOn(service);
    await resends.ask([id]);
    await hear(id, at(5), 'pending');
    clock.set(20 * minute);
    expect(await resends.askDue({ forMs: 0 })).toBe(1);
    await hear(id, at(21 * minute));
    // The third is not due yet, and nobody waits for it any more.
    expect(await stories(id)).toEqual(['asked', 'asked', null]);
    expect(await resendFigures(ledger.db, clock.iso())).toMatchObject({ heard: 1, waiting: 0 });
    clock.set(5 * hour);
    expect(await resends.askDue({ forMs: 0 })).toBe(0);
    expect(calls).toHaveLength(2);
    expect(await stories(id)).toEqual(['asked', 'asked', 'heard']);
    const figures = { asked: 1, heard: 1, gave_up: 0, waiting: 0 };
    expect(await resendFigures(ledger.db, clock.iso())).toEqual(figures);
  });

  it('leave the service alone for as long as it asks, in every process and after a restart', async () => {
    const { calls, service } = scripted([trouble('throttled', 5 * minute)]);
    const ids = await payouts('R-1', 'R-2');
    expect(await resendsOn(service).ask(ids)).toBe(0);
    expect(calls).toHaveLength(1);
    clock.set(4 * minute);
    expect(await resendsOn(service).ask(ids), 'another process').toBe(0);
    expect(calls).toHaveLength(1);
    clock.set(5 * minute + 1);
    expect(await resendsOn(service).ask(ids)).toBe(2);
    expect(await stories(ids[0] ?? 0n), 'a 429 counts towards no budget').toEqual(['asked', null]);
  });

  it('back off longer each time while the service gives no answer, and each may have been asked', async () => {
    const down = () => trouble('unreachable', null, null);
    const { calls, service } = scripted([down(), down(), down()]);
    const ids = await payouts('R-1', 'R-2', 'R-3', 'R-4');
    const resends = resendsOn(service, { sleeps: true });
    await resends.ask(ids);
    await resends.askDue({ forMs: 20 * minute });
    expect(calls.map((call) => (Date.parse(call.at) - Date.parse(at(0))) / minute).slice(0, 4)).toEqual([
      0, 1, 3, 7,
    ]);
    expect(await stories(ids[0] ?? 0n)).toEqual(['error', null]);
  });

  it('survive a crash between request and record: it costs one request of the budget and is never repeated at once', async () => {
    const { calls, service } = scripted();
    const [id = 0n] = await payouts('R-1');
    const dies: Pick<ServiceClient, 'resendWebhook'> = {
      resendWebhook: () => Promise.reject(new Error('killed here')),
    };
    await expect(resendsOn(dies).ask([id])).rejects.toThrow('killed here');
    expect(await resendsOn(service).ask([id])).toBe(0);
    clock.set(6 * minute);
    expect(await resendsOn(service).ask([id])).toBe(0);
    expect(await stories(id)).toEqual(['no_answer']);
    clock.set(20 * minute);
    expect(await resendsOn(service).ask([id])).toBe(1);
    expect(calls).toHaveLength(1);
  });

  it('are made once by two processes at once', async () => {
    const [id = 0n] = await payouts('R-1');
    const { service } = scripted();
    await resendsOn(service, { receives: true }).ask([id]);
    clock.set(11 * minute);
    const due = await nextDueRequest(ledger.db, { at: clock.iso() });
    if (!due) throw new Error('nothing is due');
    expect(await ledger.write((trx) => claimResend(trx, due, clock.iso(), false))).toBe(true);
    expect(await ledger.write((trx) => claimResend(trx, due, clock.iso(), false))).toBe(false);
    expect(await nextDueRequest(ledger.db, { at: clock.iso() })).toBeUndefined();
  });

  it('are not made where no webhook can reach us, unless a person asks', async () => {
    const { calls, service } = scripted();
    const [id = 0n] = await payouts('R-1');
    const resends = resendsOn(service, { receives: false });
    expect(await resends.ask([id])).toBe(0);
    expect(await waiting()).toBe(0);
    const asked = await resends.askFor([{ kind: 'payout', id }], { forMs: 0 });
    expect(asked).toEqual([{ reference: 'R-1', outcome: 'asked', message: 'sent' }]);
    expect(calls).toHaveLength(1);
  });

  it('are made for a person also when the budget is spent and the webhook was heard', async () => {
    const { calls, service } = scripted();
    const [id = 0n] = await payouts('R-1');
    const row = await ledger.write((trx) =>
      noteCollection(trx, { reference: 'C-1', at: at(0), byWebhook: true }),
    );
    await hear(id, at(1));
    const resends = resendsOn(service);
    for (let i = 0; i < 4; i++) {
      await resends.askFor(
        [
          { kind: 'payout', id },
          { kind: 'transaction', id: row.id },
        ],
        { forMs: 0 },
      );
    }
    expect(calls.filter((call) => call.kind === 'payout')).toHaveLength(4);
    expect(calls.filter((call) => call.kind === 'transaction')).toHaveLength(4);
    expect(await stories(id)).toEqual(['asked', 'asked', 'asked', 'asked']);
  });
});
