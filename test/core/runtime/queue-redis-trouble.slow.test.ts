import { afterAll, describe, expect, it } from 'vitest';
import { type Job, QueueAway } from '../../../src/core/runtime/queue.ts';
import { redisWire } from '../../../src/core/runtime/queue-redis.ts';
import { noRedis, startRedis } from '../../support/redis-server.ts';
import { sharedQueue } from '../../support/shared-queue.ts';
import { itHandsOver } from './queue-outage.ts';

const redis = process.env.REDIS_URL ? null : await startRedis();
afterAll(() => redis?.stop());

const url = redis?.url ?? '';
const times = { lockDuration: 1000, stalledInterval: 500, maxStalledCount: 3, runRetryDelay: 500 };
const wire = (space: string) => redisWire(url, space, times);
const job = (id: string): Job => ({ name: 'share', id, payload: { batch: id } });
const patience = { timeout: 20_000, interval: 20 };

describe.skipIf(redis === null)(`a Redis in trouble${redis ? '' : noRedis}`, () => {
  it('that is emptied takes every id again, and hands out what is added afterwards', async () => {
    const { queue, heard } = sharedQueue(wire);
    await queue.add(job('b-1'));
    await redis?.flush();
    expect(await queue.depth()).toBe(0);
    expect(await queue.add(job('b-1'))).toBe('added');
    const ran: string[] = [];
    queue.process('share', async ({ id }) => void ran.push(id), { concurrency: 1 });
    await expect.poll(() => ran, patience).toEqual(['b-1']);
    await redis?.flush();
    expect(await queue.add(job('b-2'))).toBe('added');
    await expect.poll(() => ran, patience).toEqual(['b-1', 'b-2']);
    expect(heard).toEqual({ away: [], back: 0, failed: [] });
    await queue.close(1000);
  });

  it('that forgets the lock of a running job leaves it running, and says nothing of it', async () => {
    const { queue, heard } = sharedQueue(wire);
    const gate = Promise.withResolvers<void>();
    const ran: string[] = [];
    const work = async ({ id }: Job): Promise<void> => {
      if (id === 'b-1') await gate.promise;
      ran.push(id);
    };
    queue.process('share', work, { concurrency: 1 });
    await queue.add(job('b-1'));
    await expect.poll(() => queue.depth(), patience).toBe(1);
    await new Promise((resolve) => setTimeout(resolve, 100));
    await redis?.flush();
    await new Promise((resolve) => setTimeout(resolve, 2000));
    gate.resolve();
    await queue.add(job('b-2'));
    await expect.poll(() => ran, patience).toEqual(['b-1', 'b-2']);
    expect(heard).toEqual({ away: [], back: 0, failed: [] });
    await queue.close(1000);
  });

  itHandsOver(wire);

  it.each([
    ['takes no more for want of memory', ['maxmemory', '1'], ['maxmemory', '0'], /OOM/],
    ['has lost its replicas', ['min-replicas-to-write', '1'], ['min-replicas-to-write', '0'], /NOREPLICAS/],
  ])('that %s is away, said once, and not asked without end', async (_, wrong, right, why) => {
    const { queue, heard } = sharedQueue(wire);
    const ran: string[] = [];
    queue.process('share', async ({ id }) => void ran.push(id), { concurrency: 1 });
    await queue.add(job('b-1'));
    await expect.poll(() => ran, patience).toEqual(['b-1']);
    await redis?.run('CONFIG', 'SET', ...wrong);
    await expect(queue.add(job('b-2'))).rejects.toThrow(QueueAway);
    const before = await commands();
    await new Promise((resolve) => setTimeout(resolve, 3000));
    expect((await commands()) - before).toBeLessThan(200);
    expect(heard.away).toEqual([expect.stringMatching(why)]);
    await redis?.run('CONFIG', 'SET', ...right);
    await expect.poll(() => heard.back, patience).toBe(1);
    await queue.add(job('b-3'));
    await expect.poll(() => ran, patience).toContain('b-3');
    await queue.close(1000);
  });

  it('that freezes is given up within seconds, and used again when it thaws', async () => {
    const { queue, heard } = sharedQueue(wire);
    const ran: string[] = [];
    queue.process('share', async ({ id }) => void ran.push(id), { concurrency: 1 });
    await queue.add(job('b-1'));
    await expect.poll(() => ran, patience).toEqual(['b-1']);
    redis?.signal?.('SIGSTOP');
    const began = performance.now();
    await expect(queue.add(job('b-2'))).rejects.toThrow(QueueAway);
    expect(performance.now() - began).toBeLessThan(7000);
    redis?.signal?.('SIGCONT');
    await expect.poll(() => heard.back, patience).toBe(1);
    await queue.add(job('b-3'));
    await expect.poll(() => ran, patience).toContain('b-3');
    await queue.close(1000);
  });
});

async function commands(): Promise<number> {
  const info = String(await redis?.run('INFO', 'stats'));
  return Number(/total_commands_processed:(\d+)/.exec(info)?.[1]);
}
