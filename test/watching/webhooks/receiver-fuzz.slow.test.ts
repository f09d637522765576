import { afterEach, beforeEach, expect, it } from 'vitest';
import { systemClock } from '../../../src/core/runtime/clock.ts';
import { applyWebhooks } from '../../../src/watching/webhooks/apply-inbox.ts';
import { mutate, randomFrom } from '../../fuzz/mutations.ts';
import { holdConversations } from '../../fuzz/raw-requests.ts';
import {
  exchange,
  proofOf,
  type Running,
  requestBytes,
  startReceiver,
  statusesOf,
} from '../../support/receiver.ts';

let running: Running;
beforeEach(async () => {
  running = await startReceiver({ requestTimeoutMs: 5000 });
});
afterEach(() => running.remove());

// The whole of it: node test/fuzz/requests.ts --runs 10000
it('answers 700 odd, broken and hostile conversations without a crash or a 5xx, and loses no delivery', async () => {
  const { held, statuses, problems } = await holdConversations(running, { runs: 700, seed: 20_261_121 });
  expect(problems).toEqual([]);
  expect(held).toBe(700);
  for (const status of [200, 400, 401, 404]) expect(statuses.get(status) ?? 0).toBeGreaterThan(0);
}, 60_000);

it('takes none of 1,000 signed requests that were changed in body, signature or headers', async () => {
  const random = randomFrom(7);
  const body = Buffer.from('{"event":"payout","reference":"ACME-0001","statusMessage":"success"}');
  const { payloadsignature = '', merchantsignature = '', authorization = '' } = proofOf(body);
  const signed = { body, proof: { payloadsignature, merchantsignature, authorization } };
  const requests = Array.from({ length: 1000 }, () => {
    const other = mutate(signed, random);
    return requestBytes(other.body, { headers: other.proof });
  });
  const statuses = await Promise.all(
    Array.from({ length: 16 }, async (_, lane) => {
      const own = requests.filter((_request, at) => at % 16 === lane);
      const heard: number[] = [];
      for (const request of own) heard.push(...statusesOf(await exchange(running.port, [request])));
      return heard;
    }),
  );
  expect(statuses.flat().every((status) => status === 401 || status === 400)).toBe(true);
  expect(await running.bodies()).toEqual([]);
}, 60_000);

it('P18: one event ten times, shuffled among others, has one effect', async () => {
  const events = Array.from(
    { length: 40 },
    (_, n) => `{"event":"payout","reference":"R-${n}","trx":"T${n}"}`,
  );
  const deliveries = events.flatMap((event, n) => Array.from({ length: n === 0 ? 10 : 2 }, () => event));
  const random = randomFrom(3);
  const shuffled = deliveries
    .map((event) => ({ event, at: random(1_000_000) }))
    .toSorted((a, b) => a.at - b.at)
    .map(({ event }) => event);
  const applied = Array.from({ length: 5 }, async () =>
    applyWebhooks({ ledger: running.ledger, clock: systemClock() }),
  );
  const replies = await Promise.all(shuffled.map((event) => exchange(running.port, [requestBytes(event)])));
  await Promise.all(applied);
  await applyWebhooks({ ledger: running.ledger, clock: systemClock() });
  expect(replies.flatMap(statusesOf)).toEqual(shuffled.map(() => 200));
  const rows = await running.ledger.db
    .selectFrom('webhooks')
    .select(['reference', 'deliveries', 'verdict'])
    .execute();
  expect(rows).toHaveLength(40);
  expect(rows.find((row) => row.reference === 'R-0')).toEqual({
    reference: 'R-0',
    deliveries: 10n,
    verdict: 'unmatched',
  });
});
