import { expect, it, onTestFinished } from 'vitest';
import * as intake from '../../jobs/intake.ts';
import * as requeue from '../../jobs/requeue.ts';
import * as chunk from '../../jobs/send-chunk.ts';
import * as submit from '../../jobs/submit.ts';
import { type App, openApp } from '../../src/app/app.ts';
import { createLogger } from '../../src/core/runtime/logger.ts';
import { type Job, type Queue, QueueAway } from '../../src/core/runtime/queue.ts';
import { createInlineQueue } from '../../src/core/runtime/queue-inline.ts';
import { loadConfig } from '../../src/core/settings/settings.ts';
import { createStandstill } from '../../src/daemon/standstill.ts';
import { batchOf, type Home, makeHome } from '../support/cli.ts';

async function opened(): Promise<{ home: Home; app: App }> {
  const home = await makeHome({ settleMs: 600_000 });
  const loaded = loadConfig({ cwd: home.dir, env: home.env });
  if (loaded.kind === 'problem') throw new Error(loaded.problems.join('\n'));
  const app = await openApp('whole', {
    config: loaded.config,
    log: createLogger({ quiet: true }),
    kind: 'serve',
  });
  onTestFinished(() => app.close());
  return { home, app };
}

/** A queue whose jobs are only written down. */
function noted(app: App): { queue: Queue; jobs: Job[] } {
  const queue = createInlineQueue({
    clock: app.clock,
    retry: { attempts: 1, backoffMs: 1 },
    onFailed: () => undefined,
  });
  onTestFinished(async () => void (await queue.close(1000)));
  const jobs: Job[] = [];
  return {
    jobs,
    queue: {
      ...queue,
      async add(job) {
        const added = await queue.add(job);
        if (added === 'added') jobs.push(job);
        return added;
      },
    },
  };
}

/** What the schedule said. */
const word = '2026-11-23T09:00:00.000Z';
const signal = new AbortController().signal;

it('a chunk carries ids only, and the queue is filled once however often', async () => {
  const { home, app } = await opened();
  const { queue, jobs } = noted(app);
  expect(await chunk.fill(app, queue, word)).toEqual([]);
  home.put('data/inbox/pay.csv', batchOf(3));
  home.put('data/inbox/more.csv', batchOf(1, 10));
  await intake.run(app);
  expect(await chunk.fill(app, queue, word)).toHaveLength(2);
  expect(await chunk.fill(app, queue, word)).toEqual([]);
  for (const { id, payload } of jobs)
    expect({ id, payload }).toEqual({
      id: `test-${payload.batch}-0`,
      payload: {
        mode: 'test',
        batch: expect.stringMatching(/^(pay|more)-\d{8}-[0-9a-f]{6}$/),
        part: 0,
        word,
      },
    });
});

it('P1: a chunk sends its share and asks for the next, until nothing is left', async () => {
  const { home, app } = await opened();
  const { queue, jobs } = noted(app);
  home.put('data/inbox/pay.csv', batchOf(620));
  await intake.run(app);
  await chunk.fill(app, queue, word);
  expect(jobs).toHaveLength(2);
  const [first, second] = jobs;
  expect(await chunk.run(app, first?.payload ?? {}, { queue, signal })).toMatchObject({ full: true });
  const sent = home.sandbox.requests.posts;
  expect(sent).toBeGreaterThanOrEqual(500);
  // The answers of one turn more, and the intents that were open (P1).
  expect(sent).toBeLessThan(500 + 8 + 8);
  expect(await chunk.run(app, second?.payload ?? {}, { queue, signal })).toMatchObject({
    full: false,
    result: { ended: 'drained' },
  });
  expect(home.sandbox.requests.posts).toBe(620);
  expect(await chunk.run(app, first?.payload ?? {}, { queue, signal })).toMatchObject({ full: false });
  expect(home.sandbox.requests.posts).toBe(620);
});

it('the next chunk takes an id that is free', async () => {
  const { home, app } = await opened();
  const { queue, jobs } = noted(app);
  home.put('data/inbox/pay.csv', batchOf(520));
  await intake.run(app);
  await chunk.fill(app, queue, word);
  await chunk.run(app, { ...jobs[0]?.payload, part: 15 }, { queue, signal });
  expect(new Set(jobs.map(({ id }) => id)).size).toBe(jobs.length);
});

it.each([
  { mode: 'live', batch: '', part: 0 },
  { mode: 'test', batch: 7, part: 0 },
  { batch: 'pay', part: 0 },
  {},
])('P24: a job of another mode or of nobody sends nothing: %j', async (payload) => {
  const { home, app } = await opened();
  home.put('data/inbox/pay.csv', batchOf(1));
  await intake.run(app);
  const { queue } = noted(app);
  expect(await chunk.run(app, payload, { queue, signal })).toEqual({ kind: 'not_ours' });
  expect(home.sandbox.requests.posts).toBe(0);
});

it('requeue leaves sending to the shared queue, and to this process while that is away', async () => {
  const { home, app } = await opened();
  home.put('data/inbox/pay.csv', batchOf(1));
  await intake.run(app);
  const { queue: own } = noted(app);
  const { queue: shared } = noted(app);
  expect((await requeue.run(app, { own, shared, word })).added).toEqual([
    expect.stringMatching(/^test-pay-.*-0$/),
  ]);
  const away: Queue = { ...shared, add: () => Promise.reject(new QueueAway('no')) };
  expect(await requeue.run(app, { own, shared: away, word })).toEqual({ added: ['submit'], hasWork: true });
});

it('a queue that holds its jobs back is noticed after a minute in which nothing went, and this process sends', async () => {
  const { home, app } = await opened();
  home.put('data/inbox/pay.csv', batchOf(2));
  await intake.run(app);
  const { queue } = noted(app);
  let nowMs = 0;
  let sends = 0;
  const clock = { ...app.clock, monotonic: () => nowMs };
  let isOpen = true;
  const gate = { word: async () => (isOpen ? word : null) };
  const look = createStandstill({ ...app, clock }, { gate, send: async () => void sends++ });
  const after = async (seconds: number): Promise<number> => {
    nowMs += seconds * 1000;
    await look(queue);
    return sends;
  };
  expect([await after(0), await after(59)]).toEqual([0, 0]);
  expect(await after(2), 'it had no job: it gets one').toBe(0);
  isOpen = false;
  expect([await after(59), await after(2)], 'the schedule lets nothing go').toEqual([0, 0]);
  isOpen = true;
  expect([await after(59), await after(2)]).toEqual([0, 1]);
  await submit.run(app);
  expect([await after(61), await after(61)], 'nothing is left').toEqual([1, 1]);
});
