import { Queue } from 'bullmq';
import { afterAll, expect, it } from 'vitest';
import { until } from '../../support/cli.ts';
import { makeHome } from '../../support/decided.ts';
import { noRedis, startRedis } from '../../support/redis-server.ts';
import { serving } from '../../support/serving.ts';

const redis = await startRedis();
afterAll(() => redis?.stop());

type Ready = { ready: boolean; problems: { check: string; problem: string }[] };

it.skipIf(redis === null)(
  `is not ready while the shared queue is paused or away, and ready again after${redis ? '' : noRedis}`,
  async () => {
    if (!redis) return;
    const home = await makeHome({}, { COUNTERFOIL_QUEUE_URL: redis.url });
    const { daemon } = await serving(home, {}, home.start);
    const { admin } = JSON.parse(await daemon.line(/"ready":true/));
    const readyz = async (): Promise<Ready> => JSON.parse(await (await fetch(`${admin}/readyz`)).text());
    const queueUp = async (): Promise<boolean> =>
      (await (await fetch(`${admin}/metrics`)).text()).includes('\ncounterfoil_queue_up 1\n');
    expect(await readyz()).toEqual({ ready: true, problems: [], findings: [] });
    expect(await queueUp()).toBe(true);
    const keys = String(await redis.run('KEYS', 'counterfoil:*send-chunk:meta'));
    const name = keys.split(':')[1] ?? '';
    const queue = new Queue(name, { connection: { url: redis.url }, prefix: 'counterfoil' });
    await queue.pause();
    const paused = await until(5000, readyz, ({ ready }) => !ready);
    expect(paused.problems).toEqual([
      { check: 'queue', problem: 'the shared queue is paused: it keeps its jobs', fix: expect.any(String) },
    ]);
    await queue.resume();
    await until(5000, readyz, ({ ready }) => ready);
    await queue.close();
    if (!redis.kill) return;
    await redis.kill();
    const away = await until(15_000, readyz, ({ ready }) => !ready);
    expect(away.problems).toMatchObject([
      { check: 'queue', problem: expect.stringContaining('shared queue') },
    ]);
    expect(await queueUp()).toBe(false);
    await redis.start();
    await until(30_000, readyz, ({ ready }) => ready);
    daemon.signal('SIGTERM');
    expect((await daemon.done).code).toBe(0);
  },
);
