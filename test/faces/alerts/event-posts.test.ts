import { Webhook } from 'standardwebhooks';
import { expect, it, onTestFinished } from 'vitest';
import { readEvents } from '../../../src/core/ledger/event-feed.ts';
import { tell } from '../../../src/core/ledger/events.ts';
import { openTraces } from '../../../src/core/runtime/traces.ts';
import { endWorker } from '../../../src/core/runtime/workers.sql.ts';
import { createEventPosts, pauseAfterPost } from '../../../src/faces/alerts/event-posts.ts';
import { undelivered } from '../../../src/findings/event-standing.sql.ts';
import { makeLedger } from '../../support/ledger.ts';
import { configWith, enlist, handClock, itWaits, startWeb } from './setting.ts';

const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;
const minuteMs = 60_000;

/** A ledger, a receiver of events, and a process that posts to it. */
async function makePosting() {
  const ledger = await makeLedger();
  onTestFinished(() => ledger.remove());
  const web = await startWeb();
  const config = await configWith({ COUNTERFOIL_EVENTS_URL: web.url, COUNTERFOIL_EVENTS_SECRET: secret });
  const { clock, pass, step } = handClock();
  const log = { warn: () => undefined };
  const traces = await openTraces({ ledgerId: ledger.id, version: '0', clock, log });
  const open = async (worker: string) => {
    await enlist(ledger, worker);
    return createEventPosts({ ledger, clock, config, log, worker, traces });
  };
  const posts = await open('w-1');
  const post = (by = posts): Promise<void> => by.post(new AbortController().signal);
  await post();
  let n = 0;
  const happen = (count = 1) =>
    ledger.write((trx) =>
      tell(
        trx,
        clock.iso(),
        Array.from({ length: count }, () => {
          n += 1;
          return { type: 'month.closed' as const, data: { month: `${n}`, digest: 'd' } };
        }),
      ),
    );
  /** The months in the order in which they arrived. */
  const arrived = (): string[] => web.posts.map(({ body }) => JSON.parse(body).data.month);
  const found = () => undelivered(ledger.db, { config, nowMs: clock.now() });
  return { ledger, web, config, clock, pass, step, open, post, happen, arrived, found };
}

it('P39: posts each event once in order, signed, as GET /events shows it', async () => {
  const { ledger, web, post, happen, arrived } = await makePosting();
  await happen(3);
  await post();
  await happen();
  await post();
  await post();
  expect(arrived()).toEqual(['1', '2', '3', '4']);
  const read = await readEvents(ledger.db, { after: null, limit: 10, details: false });
  expect(web.posts.map(({ body }) => JSON.parse(body))).toEqual(read.kind === 'page' && read.events);
  for (const { headers, body } of web.posts) {
    const id = String(headers['webhook-id']);
    expect(id).toBe(JSON.parse(body).id);
    const at = new Date(Number(headers['webhook-timestamp']) * 1000);
    expect(headers.traceparent).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-00$/);
    expect(headers['webhook-signature']).toBe(new Webhook(secret).sign(id, at, body));
  }
});

itWaits(
  'P39: an event that is not acknowledged keeps those after it waiting, and comes again under its id',
  async () => {
    const { web, pass, post, happen, arrived } = await makePosting();
    await happen(3);
    web.answers.push({ status: 200 }, { status: 500 }, { status: 302, headers: { location: '/other' } });
    await post();
    expect(arrived()).toEqual(['1', '2']);
    pass(4999);
    await post();
    expect(arrived()).toEqual(['1', '2']);
    pass(1);
    await post();
    expect(arrived()).toEqual(['1', '2', '2']);
    pass(10_000);
    await post();
    expect(arrived()).toEqual(['1', '2', '2', '2', '3']);
    const ids = web.posts.map(({ headers }) => headers['webhook-id']);
    expect(new Set(ids.slice(1, 4)).size).toBe(1);
  },
);

it('tries an event for 72 hours with growing pauses', () => {
  const pauses: number[] = [];
  for (let tries = 1; ; tries++) {
    const pause = pauseAfterPost(tries, 0);
    if (pause === null) break;
    expect(pause).toBeGreaterThanOrEqual(pauses.at(-1) ?? 0);
    pauses.push(pause);
  }
  const hours = pauses.reduce((sum, pause) => sum + pause, 0) / 3_600_000;
  expect(hours).toBeGreaterThan(72);
  expect(hours).toBeLessThan(73);
  expect(pauseAfterPost(1, 60_000)).toBe(60_000);
});

itWaits('an event is given up after 72 hours, which is a finding, and the next one is posted', async () => {
  const { ledger, web, pass, post, happen, arrived, found } = await makePosting();
  await happen(2);
  for (let hours = 0; hours < 80; hours++) {
    web.answers.splice(0, 9, { status: 503 });
    await post();
    if (hours === 0) expect(await found()).toEqual([]);
    pass(3_600_000);
  }
  expect(await found()).toMatchObject([{ count: 0, facts: { gaveUp: 0, problem: 'http_503' } }]);
  await ledger.db.updateTable('event_outboxes').set({ tries: 81n }).execute();
  web.answers.splice(0, 9, { status: 503 });
  await post();
  expect(arrived().slice(-2)).toEqual(['1', '2']);
  expect(await found()).toMatchObject([{ count: 1, facts: { gaveUp: 1 } }]);
  pass(8 * 24 * 60 * minuteMs);
  expect(await found()).toEqual([]);
});

itWaits('a finding says that the next event has waited for more than 15 minutes', async () => {
  const { pass, post, happen, found } = await makePosting();
  await happen();
  pass(15 * minuteMs);
  expect(await found()).toEqual([]);
  pass(1);
  expect(await found()).toMatchObject([{ kind: 'events_undelivered', facts: { gaveUp: 0, problem: null } }]);
  await post();
  expect(await found()).toEqual([]);
});

itWaits('P33: a clock that is set back makes no wait longer', async () => {
  const { web, pass, step, post, happen, arrived } = await makePosting();
  await happen();
  web.answers.push({ status: 500 });
  await post();
  step(-24 * 60 * minuteMs);
  pass(5000);
  await post();
  expect(arrived()).toEqual(['1', '1']);
});

it('one process posts, and another only once that one is dead', async () => {
  const { ledger, open, post, happen, arrived } = await makePosting();
  const other = await open('w-2');
  await happen();
  await post(other);
  expect(arrived()).toEqual([]);
  await ledger.write((trx) => endWorker(trx, 'w-1', new Date().toISOString()));
  await post(other);
  expect(arrived()).toEqual(['1']);
  // The first one was only slow: its claim is gone.
  await happen();
  await post();
  expect(arrived()).toEqual(['1']);
});

it('begins with what happens after it was configured, and anew after it was not', async () => {
  const { ledger, config, clock, happen, post, arrived, open } = await makePosting();
  await happen();
  const off = { events: { ...config.events, url: '' } };
  const none = createEventPosts({
    ledger,
    clock,
    config: off,
    log: { warn: () => undefined },
    worker: 'w-1',
  });
  await none.forget();
  await none.post(new AbortController().signal);
  const again = await open('w-3');
  await post(again);
  await happen();
  await post(again);
  expect(arrived()).toEqual(['2']);
});
