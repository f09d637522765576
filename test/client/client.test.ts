import { expect, it } from 'vitest';
import { ApiError, type CounterfoilEvent } from '../../src/client/client.ts';
import { serveApi, tokenOf } from '../faces/api/support.ts';
import { batchOf, until } from '../support/cli.ts';

type Ask = (url: string, init: RequestInit) => Promise<Response>;

/** A fetch whose answers get lost, this many times for each path, after the server has done the work. */
function losing(times: number, method: string): { fetch: Ask; lost: () => number } {
  const counts = new Map<string, number>();
  let lost = 0;
  const ask: Ask = async (place, init) => {
    const response = await fetch(place, init);
    const before = counts.get(place) ?? 0;
    if (init.method !== method || before >= times) return response;
    counts.set(place, before + 1);
    lost++;
    await response.arrayBuffer();
    throw new TypeError('fetch failed');
  };
  return { fetch: ask, lost: () => lost };
}

it('pays a file from the post to paid: taken in, approved by another, followed by events', async () => {
  const { as, home } = await serveApi({ settleMs: 1 }, { COUNTERFOIL_SUBMISSION_APPROVAL: 'always' });
  const taken = await as('dayo').postBatch(batchOf(2), { name: 'pay.csv', rows: 2 });
  expect(taken).toMatchObject({ state: 'held', rows: 2, dropped_by: 'dayo', skipped: 0 });
  const { digest } = await as('eve').getBatch({ batch: taken.batch });
  const approved = await as('ada').approveBatch({ batch: taken.batch, digest: digest ?? '' });
  expect(approved).toMatchObject({ batch: taken.batch, released: 2 });
  const paid = new Set<string>();
  const stop = new AbortController();
  const settling = setInterval(() => void home.sandbox.settleAll(), 200);
  for await (const event of as('rita').events({ signal: stop.signal })) {
    if (event.type !== 'payout.changed' || event.data.to !== 'success') continue;
    paid.add(event.reference ?? '');
    if (paid.size === 2) break;
  }
  clearInterval(settling);
  expect([...paid].toSorted()).toEqual(['PAY-0001', 'PAY-0002']);
  const csv = await (await as('rita').getResults({ batch: taken.batch })).text();
  expect(csv.match(/success/g)?.length).toBeGreaterThanOrEqual(2);
  const { payouts, next } = await as('rita').listPayouts({ batch: taken.batch, limit: 10 });
  expect(payouts.map(({ state }) => state)).toEqual(['success', 'success']);
  expect(next).toBeNull();
});

it('takes a post whose answer was lost for done when the same content is there, and a second post for none', async () => {
  const { as } = await serveApi();
  const { fetch, lost } = losing(2, 'POST');
  const client = as('dayo', { fetch });
  const taken = await client.postBatch(new Blob([batchOf(3)]), { name: 'pay.csv' });
  expect(lost()).toBe(2);
  expect(taken).toMatchObject({ rows: 3, file: 'pay.csv' });
  expect((await client.listBatches()).batches.map(({ batch }) => batch)).toEqual([taken.batch]);
  const second = as('dayo').postBatch(batchOf(3), { name: 'again.csv' });
  await expect(second).rejects.toMatchObject({
    name: 'ApiError',
    status: 409,
    kind: 'taken_before',
    details: { batch: taken.batch },
  });
});

it('takes no batch of an earlier post for this one, also when an answer was lost', async () => {
  const { as } = await serveApi();
  const { batch } = await as('dayo').postBatch(batchOf(2), { name: 'pay.csv' });
  const { fetch: losingPosts, lost } = losing(1, 'POST');
  /** The server as it is an hour after that post. */
  const hourLater: Ask = async (place, init) => {
    const answer = await losingPosts(place, init);
    const headers = {
      ...Object.fromEntries(answer.headers),
      date: new Date(Date.now() + 3_600_000).toUTCString(),
    };
    return new Response(await answer.text(), { status: answer.status, headers });
  };
  const again = as('dayo', { fetch: hourLater }).postBatch(batchOf(2), { name: 'pay.csv' });
  await expect(again).rejects.toMatchObject({ status: 409, kind: 'taken_before', details: { batch } });
  expect(lost()).toBe(1);
});

it('decides once when answers are lost: each try has the same Idempotency-Key', async () => {
  const { as } = await serveApi({}, { COUNTERFOIL_SCHEDULES_SUBMIT: '' });
  const { batch } = await as('dayo').postBatch(batchOf(2), { name: 'pay.csv' });
  const { fetch, lost } = losing(1, 'POST');
  expect(await as('femi', { fetch }).holdBatch({ batch })).toMatchObject({ batch, held: 2 });
  expect(lost()).toBe(1);
});

it('posts a stream once, and says that nobody knows when its answer is lost', async () => {
  const { as } = await serveApi();
  const { fetch } = losing(9, 'POST');
  const body = new Blob([batchOf(1)]).stream();
  const error: unknown = await as('dayo', { fetch })
    .postBatch(body, { name: 'pay.csv' })
    .catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(ApiError);
  expect(error).toMatchObject({ status: 0, fix: expect.stringContaining('repeat it') });
  expect((await as('eve').listBatches()).batches).toHaveLength(1);
});

it('says what is wrong and what helps, at once', async () => {
  const { as, url } = await serveApi();
  await expect(as('eve').getPayout({ reference: 'PAY-0001' })).rejects.toMatchObject({
    status: 403,
    problem: expect.stringContaining('no right'),
    fix: expect.stringContaining('read'),
  });
  const file = batchOf(2).replace('058', '');
  const refused = as('dayo').postBatch(file, { name: 'pay.csv' });
  await expect(refused).rejects.toMatchObject({ status: 422, details: { problem_count: 1 } });
  const check = await as('dayo').postBatch(file, { name: 'pay.csv', check: 'true' });
  expect(check.files[0]).toMatchObject({ file: 'pay.csv', ok: false });
  const nobody = as('eve', { url: 'http://127.0.0.1:1', retries: 1 });
  await expect(nobody.listBatches()).rejects.toMatchObject({ status: 0 });
  expect(() => as('eve').getBatch({ batch: '' })).toThrow('batch is missing');
  expect(url).toMatch(/^http:/);
});

it('gives up on a server that turns requests away after a bounded number of tries', async () => {
  let asked = 0;
  const fetch: Ask = async () => {
    asked++;
    return new Response('busy', { status: 503 });
  };
  const { as } = await serveApi();
  await expect(as('eve', { fetch, retries: 2 }).listRuns()).rejects.toMatchObject({ status: 503 });
  expect(asked).toBe(3);
});

it('reads each event once in order over a connection that breaks after each few bytes', async () => {
  const { as } = await serveApi({}, { COUNTERFOIL_SCHEDULES_SUBMIT: '' });
  for (let n = 0; n < 4; n++) await as('dayo').postBatch(batchOf(1, n * 10 + 1), { name: `pay-${n}.csv` });
  const { events } = await as('rita').listEvents({ limit: 100 });
  let connections = 0;
  const breaking: Ask = async (input, init) => {
    const response = await fetch(input, init);
    const reader = response.body?.getReader();
    connections++;
    let left = 900;
    return new Response(
      new ReadableStream({
        async pull(controller) {
          const { value } = (await reader?.read()) ?? {};
          if (!value || left <= 0) {
            await reader?.cancel();
            return controller.error(new TypeError('terminated'));
          }
          controller.enqueue(value.slice(0, left));
          left -= value.length;
        },
      }),
      response,
    );
  };
  const seen: CounterfoilEvent[] = [];
  for await (const event of as('rita', { fetch: breaking }).events()) {
    seen.push(event);
    if (seen.length === events.length) break;
  }
  expect(events.length).toBeGreaterThanOrEqual(4);
  expect(seen).toEqual(events);
  expect(connections).toBeGreaterThan(1);
});

it('begins at what is to come with latest, ends with its signal, and says when a cursor is refused', async () => {
  const { as } = await serveApi({}, { COUNTERFOIL_SCHEDULES_SUBMIT: '' });
  await as('dayo').postBatch(batchOf(1), { name: 'old.csv' });
  const stop = new AbortController();
  const seen: CounterfoilEvent[] = [];
  const reading = (async () => {
    for await (const event of as('rita').events({ after: 'latest', signal: stop.signal })) seen.push(event);
  })();
  await new Promise((resolve) => setTimeout(resolve, 500));
  const { batch } = await as('dayo').postBatch(batchOf(1, 5), { name: 'new.csv' });
  await until(
    10_000,
    () => seen.length,
    (count) => count > 0,
  );
  stop.abort();
  await reading;
  expect(new Set(seen.map((one) => one.batch))).toEqual(new Set([batch]));
  await expect(as('rita').events({ after: 'nonsense' }).next()).rejects.toMatchObject({ status: 422 });
  await expect(as('eve').events().next()).rejects.toMatchObject({ status: 403 });
  expect(tokenOf('eve')).not.toBe(tokenOf('rita'));
});
