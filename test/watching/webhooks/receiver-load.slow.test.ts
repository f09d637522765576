import type { Socket } from 'node:net';
import { afterEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/core/runtime/clock.ts';
import { applyWebhooks } from '../../../src/watching/webhooks/apply-inbox.ts';
import { until } from '../../support/cli.ts';
import {
  dial,
  exchange,
  type Running,
  requestBytes,
  startReceiver,
  statusesOf,
} from '../../support/receiver.ts';

let running: Running | undefined;
const open: Socket[] = [];
afterEach(async () => {
  for (const socket of open.splice(0)) socket.destroy();
  await running?.remove();
  running = undefined;
});

const body = '{"event":"payout","reference":"A-1"}';

/** A connection that is left alone; what it is told is gathered. */
async function leave(
  port: number,
  text: string | Uint8Array,
  from?: string,
): Promise<{ socket: Socket; told: () => string; isOpen: () => boolean }> {
  const socket = await dial(port, from);
  let told = '';
  let isOpen = true;
  socket.on('data', (data) => {
    told += data;
  });
  for (const event of ['end', 'close', 'error']) socket.on(event, () => (isOpen = false));
  socket.write(text);
  open.push(socket);
  return { socket, told: () => told, isOpen: () => isOpen };
}

async function timed<T>(work: () => Promise<T>): Promise<{ ms: number; result: T }> {
  const began = performance.now();
  const result = await work();
  return { ms: performance.now() - began, result };
}

describe('slow senders', () => {
  it.each([
    ['headers', 'POST /webhooks/test HTTP/1.1\r\nHost: x\r\nX-Slow: '],
    ['a body', requestBytes('x'.repeat(50), { headers: { 'content-length': '60000' } })],
    ['nothing', ''],
  ])(
    '1,000 of them that send %s a byte a second starve nobody, from their own address neither',
    async (_what, begun) => {
      running = await startReceiver();
      const { port } = running;
      const slow: Socket[] = [];
      for (let n = 0; n < 1000; n += 50)
        slow.push(
          ...(await Promise.all(Array.from({ length: 50 }, async () => (await leave(port, begun)).socket))),
        );
      const dripping = setInterval(() => {
        for (const socket of slow) if (socket.writable && begun.length > 0) socket.write('x');
      }, 1000);
      const slowest: number[] = [];
      for (let n = 0; n < 30; n++) {
        const from = n % 2 === 0 ? '127.0.0.1' : '127.0.0.2';
        const { ms, result } = await timed(() => exchange(port, [requestBytes(`{"n":${n}}`)], { from }));
        expect(statusesOf(result)).toEqual([200]);
        slowest.push(Math.round(ms));
        await new Promise((resolve) => setTimeout(resolve, 50));
      }
      clearInterval(dripping);
      // On a busy machine one may meet the turn in which all the slow ones are read; none waits for them to be given up.
      const inOrder = slowest.toSorted((a, b) => a - b);
      expect(inOrder[15]).toBeLessThan(1000);
      expect(inOrder.at(-1)).toBeLessThan(5000);
    },
  );

  it('are told 408 when their time is over, and nothing of theirs is kept', async () => {
    running = await startReceiver({ requestTimeoutMs: 300 });
    const one = await leave(running.port, requestBytes('abc', { headers: { 'content-length': '100' } }));
    await until(5000, one.told, (text) => text.startsWith('HTTP/1.1 408 '));
    expect(await running.bodies()).toEqual([]);
  });
});

describe('connections', () => {
  it('are bounded for one address: those that wait between two requests go first, then the longest under way', async () => {
    running = await startReceiver({ limits: { perAddress: 3 } });
    const { port } = running;
    const half = requestBytes(body).subarray(0, 40);
    const first = await leave(port, half);
    const idle = await leave(port, requestBytes(body));
    await until(3000, idle.told, (text) => text.includes('success'));
    const second = await leave(port, half);
    const third = await leave(port, half);
    await until(3000, idle.isOpen, (is) => !is);
    expect([first.isOpen(), second.isOpen(), third.isOpen()]).toEqual([true, true, true]);
    const fourth = await leave(port, half);
    await until(3000, first.isOpen, (is) => !is);
    expect(first.told()).toMatch(/^HTTP\/1\.1 503 .*\r\nRetry-After: 5\r\n/);
    expect([second.isOpen(), third.isOpen(), fourth.isOpen()]).toEqual([true, true, true]);
    const elsewhere = await leave(port, half, '127.0.0.9');
    expect(statusesOf(await exchange(port, [requestBytes(body)], { from: '127.0.0.9' }))).toEqual([200]);
    expect(elsewhere.isOpen()).toBe(true);
  });

  it('are bounded in all, and not for each address where a proxy stands before the senders', async () => {
    running = await startReceiver({
      limits: { perAddress: 1, total: 3 },
      receiver: { trustProxy: ['127.0.0.1'] },
    });
    const { port } = running;
    const half = requestBytes(body).subarray(0, 40);
    const all = [await leave(port, half), await leave(port, half), await leave(port, half)];
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(all.map((one) => one.isOpen())).toEqual([true, true, true]);
    expect(statusesOf(await exchange(port, [requestBytes(body)]))).toEqual([200]);
    expect(all.map((one) => one.isOpen())).toEqual([false, true, true]);
  });

  it('hold so many bytes of unfinished bodies at most: the longest under way makes room', async () => {
    running = await startReceiver({ limits: { heldBytes: 100_000 } });
    const { port } = running;
    const half = requestBytes('x'.repeat(60_000)).subarray(0, 30_000);
    const [first, second] = [await leave(port, half), await leave(port, half)];
    await new Promise((resolve) => setTimeout(resolve, 100));
    expect(statusesOf(await exchange(port, [requestBytes('y'.repeat(60_000))]))).toEqual([200]);
    expect([first.isOpen(), second.isOpen()]).toEqual([false, true]);
  });
});

describe('a backlog', () => {
  it('that is being applied keeps no delivery from its answer', async () => {
    running = await startReceiver();
    const { port, ledger } = running;
    const old = Array.from({ length: 2000 }, (_, n) => n);
    await exchange(port, [
      Buffer.concat(old.map((n) => requestBytes(`{"event":"payout","reference":"OLD-${n}"}`))),
    ]);
    let isApplied = false;
    const applying = applyWebhooks({ ledger, clock: systemClock() }).then(() => (isApplied = true));
    expect(statusesOf(await exchange(port, [requestBytes(body)]))).toEqual([200]);
    expect(isApplied).toBe(false);
    await applying;
    const waiting = await ledger.db
      .selectFrom('webhooks')
      .select('id')
      .where('applied_at', 'is', null)
      .execute();
    expect(waiting.length).toBeLessThanOrEqual(1);
  });
});

describe('overload', () => {
  it('never gives up a connection that is owed an answer: who comes then is told to come again', async () => {
    running = await startReceiver({ limits: { total: 1 } });
    const { port, ledger } = running;
    const writing = Promise.withResolvers<void>();
    const blocked = ledger.write(() => writing.promise);
    const first = await leave(port, requestBytes(body));
    await new Promise((resolve) => setTimeout(resolve, 200));
    expect(statusesOf(await exchange(port, [requestBytes('{}')]))).toEqual([503]);
    writing.resolve();
    await blocked;
    expect(statusesOf(await until(3000, first.told, (text) => text !== ''))).toEqual([200]);
    expect(await running.bodies()).toEqual([body]);
  });

  it('is answered 503 with Retry-After, keeps every delivery that was acknowledged and takes more when it is over', async () => {
    running = await startReceiver({ limits: { total: 40 } });
    const { port, ledger } = running;
    const writing = Promise.withResolvers<void>();
    // Another process writes for a while: nothing becomes durable.
    const blocked = ledger.write(() => writing.promise);
    const replies = Array.from({ length: 100 }, (_, n) =>
      exchange(port, [requestBytes(`{"n":${n}}`)], { ms: 10_000 }),
    );
    // Until then nobody can be answered but who is turned away.
    await Promise.race(replies);
    writing.resolve();
    await blocked;
    const heard = await Promise.all(replies);
    const taken = heard.flatMap((reply, n) => (statusesOf(reply)[0] === 200 ? [`{"n":${n}}`] : []));
    const turnedAway = heard.filter((reply) => statusesOf(reply)[0] === 503);
    expect(turnedAway.length).toBeGreaterThan(0);
    expect(turnedAway.every((reply) => /retry-after: 5/i.test(reply))).toBe(true);
    expect(taken.length).toBeGreaterThan(0);
    const kept = await running.bodies();
    expect(taken.filter((one) => !kept.includes(one))).toEqual([]);
    expect(statusesOf(await exchange(port, [requestBytes(body)]))).toEqual([200]);
  });

  it('of forgeries is counted to the last one, though few are kept, and a delivery among them is taken', async () => {
    running = await startReceiver();
    const { port } = running;
    const forged = requestBytes(body, { headers: { payloadsignature: 'ab'.repeat(64) } });
    const flood = Array.from({ length: 10 }, () =>
      exchange(port, [Buffer.concat(Array.from({ length: 500 }, () => forged))], { ms: 20_000 }),
    );
    expect(statusesOf(await exchange(port, [requestBytes(body)], { ms: 20_000 }))).toEqual([200]);
    const answers = (await Promise.all(flood)).flatMap(statusesOf);
    await running.receiver.close();
    const { newest } = await running.ledger.db
      .selectFrom('rejections')
      .select((on) => on.fn.max<bigint>('id').as('newest'))
      .executeTakeFirstOrThrow();
    expect(answers).toEqual(Array(5000).fill(401));
    expect(Number(newest)).toBe(5000);
  });
});
