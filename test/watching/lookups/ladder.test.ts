import { expect, it } from 'vitest';
import type { LedgerEvent } from '../../../src/core/domain/transition.ts';
import { record } from '../../../src/core/ledger/record.ts';
import type { ServiceClient } from '../../../src/core/service/types.ts';
import { applyWebhooks } from '../../../src/watching/webhooks/apply-inbox.ts';
import { named } from '../../sending/setting.ts';
import { addBatch, at, claimAt, payoutById, recordOutcome, replies } from '../../support/ledger.ts';
import { deliver, lookUpsOf } from './setting.ts';
import { client, clock, ledger, sandbox, withService } from './with-service.ts';

const minute = 60_000;
const hour = 60 * minute;
withService();

async function send(ms: number, limit = 1): Promise<bigint> {
  const claims = await claimAt(ledger, at(ms), limit);
  for (const claim of claims) await recordOutcome(ledger, at(ms), claim, replies.unknown());
  return claims[0]?.payoutId ?? 0n;
}
const tell = (ms: number, payoutId: bigint, event: LedgerEvent) =>
  ledger.write((trx) => record(trx, at(ms), [{ payoutId, source: 'test', event }]));
const ask = (service = client) => lookUpsOf(ledger, clock, service).askDue({ budget: 99 });
/** The minutes, from `from` on, at which something was asked. */
async function askedAt(from: number, minutes: number, service = client): Promise<number[]> {
  const asked: number[] = [];
  for (let n = 0; n <= minutes; n++) {
    clock.set(from + n * minute);
    if ((await ask(service)) > 0) asked.push(n);
  }
  return asked;
}
const due = () =>
  ledger.db
    .selectFrom('inquiries')
    .select(['payout_id', 'rung', 'due_at'])
    .where('outcome', 'is', null)
    .execute();

it('P19: the ladder begins anew when a retry became unknown again, however long ago the first attempt was', async () => {
  await addBatch(ledger, ['R-1']);
  const id = await send(0);
  await askedAt(0, 200);
  await tell(30 * hour, id, { kind: 'retry', to: 'ready', automatic: false, why: 'a person' });
  await send(30 * hour);
  // What was overdue is asked at once, and is no rung.
  expect(await askedAt(30 * hour, 185)).toEqual([0, 1, 5, 15, 60, 120, 180]);
});

it('P19: an adopted payout climbs the same ladder, counted from the adoption', async () => {
  const [id = 0n] = await addBatch(ledger, ['R-1']);
  await tell(30 * hour, id, { kind: 'adopted', since: at(0), why: 'restored' });
  expect(await askedAt(30 * hour, 125)).toEqual([1, 5, 15, 60, 120]);
});

it('P19: look-ups that get no answer climb the same ladder', async () => {
  await addBatch(ledger, ['R-1']);
  await send(0);
  await sandbox.stop();
  expect(await askedAt(0, 65)).toEqual([1, 5, 15, 60]);
});

it('P19: hourly to the end of the quiet period, then daily until closed', async () => {
  await addBatch(ledger, ['R-1']);
  const id = await send(0);
  const hours: number[] = [];
  for (let n = 0; n <= 24 * 6; n++) {
    clock.set(n * hour);
    if ((await ask()) > 0) hours.push(n);
  }
  // Asked by the hour, the first rungs take an hour each.
  expect(hours.slice(0, 26)).toEqual(Array.from({ length: 26 }, (_, i) => i + 1));
  expect(hours.slice(27)).toEqual([51, 75, 99, 123]);
  await tell(200 * hour, id, { kind: 'settle', as: 'failed', note: 'the bank said so' });
  clock.set(900 * hour);
  expect(await ask()).toBe(0);
});

it('P19: a look-up out of turn leaves the rung where it was', async () => {
  await addBatch(ledger, ['R-1']);
  const id = await send(0);
  await lookUpsOf(ledger, clock, client).lookUp([id]);
  expect(await due()).toEqual([{ payout_id: id, rung: 0n, due_at: at(minute) }]);
});

it('P19: within its budget the oldest come first, so that each gets its turn', async () => {
  await addBatch(ledger, named(6));
  await send(0, 6);
  clock.set(hour);
  const asked: string[] = [];
  const service: ServiceClient = {
    ...client,
    fetchTransferDetails: (reference) => {
      asked.push(reference);
      return client.fetchTransferDetails(reference);
    },
  };
  for (let n = 0; n < 3; n++) await lookUpsOf(ledger, clock, service).askDue({ budget: 2 });
  expect(new Set(asked)).toEqual(new Set(named(6)));
});

it('an interrupted look-up loop leaves the rest due and loses nothing that was answered', async () => {
  await addBatch(ledger, named(6));
  await send(0, 6);
  clock.set(hour);
  const stop = new AbortController();
  const service: ServiceClient = {
    ...client,
    fetchTransferDetails: (reference) => {
      stop.abort();
      return client.fetchTransferDetails(reference);
    },
  };
  const asked = await lookUpsOf(ledger, clock, service).askDue({ budget: 99, signal: stop.signal });
  expect(asked).toBeGreaterThan(0);
  expect(asked).toBeLessThan(6);
  const open = await due();
  expect(open).toHaveLength(6);
  expect(open.filter(({ rung }) => rung === 1n)).toHaveLength(asked);
});

it('two processes that ask at once climb one rung, not two', async () => {
  await addBatch(ledger, named(4));
  await send(0, 4);
  clock.set(hour);
  await Promise.all([ask(), ask()]);
  expect((await due()).map(({ rung }) => rung)).toEqual([1n, 1n, 1n, 1n]);
});

it('a webhook that comes while a look-up is on its way is asked about afterwards', async () => {
  await addBatch(ledger, ['R-1']);
  const id = await send(0);
  const order = { reference: 'R-1', account_number: '0123456789', bank_code: '000013', amount: '1500.00' };
  const transfer = sandbox.book.plant({ ...order, status: 'pending' });
  const slow: ServiceClient = {
    ...client,
    fetchTransferDetails: async (reference) => {
      const reply = await client.fetchTransferDetails(reference);
      await deliver(ledger, { trx: null });
      await applyWebhooks({ ledger, clock });
      return reply;
    },
  };
  clock.set(minute);
  await ask(slow);
  expect((await payoutById(ledger, id)).state).toBe('pending');
  sandbox.book.change(transfer.id, { status: 'success' });
  expect(await ask()).toBe(1);
  expect((await payoutById(ledger, id)).state).toBe('success');
});
