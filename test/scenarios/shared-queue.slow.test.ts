import { join } from 'node:path';
import Database from 'better-sqlite3';
import { afterAll, describe, expect, it } from 'vitest';
import { batchOf, type Home, type Running, references, startSeveral, until } from '../support/cli.ts';
import { makeHome } from '../support/decided.ts';
import { noPostgres, startPostgres } from '../support/postgres-server.ts';
import { noRedis, startRedis } from '../support/redis-server.ts';
import { everySecond, serving } from '../support/serving.ts';

const redis = await startRedis();
const postgres = await startPostgres();
afterAll(async () => {
  await redis?.stop();
  await postgres?.stop();
});

/** Asks the ledger's file itself, as often as it likes. */
function ask(home: Home, question: string): number[] {
  const ledger = new Database(join(home.dir, 'data', 'ledger.db'), { readonly: true });
  try {
    return ledger.prepare<[], number>(question).pluck().all();
  } finally {
    ledger.close();
  }
}

const sent = (home: Home): number =>
  ask(home, `select count(*) from payouts where state in ('pending', 'success')`)[0] ?? 0;

async function stop(daemons: { daemon: Running }[]): Promise<string> {
  for (const { daemon } of daemons) daemon.signal('SIGTERM');
  const ended = await Promise.all(daemons.map(({ daemon }) => daemon.done));
  for (const { code, err } of ended) expect(code, err).toBe(0);
  return ended.map(({ err }) => err).join('');
}

const servers = [
  { name: 'Redis', kind: 'redis', server: redis, absent: noRedis },
  { name: 'PostgreSQL', kind: 'postgres', server: postgres, absent: noPostgres },
];

describe.each(servers)('serve with its queue on $name', ({ kind, server, absent }) => {
  const there = it.skipIf(server === null);
  const killable = it.skipIf(!server?.kill);
  const title = (text: string): string => (server === null ? `${text}${absent}` : text);
  const home = (env: Record<string, string> = {}): Promise<Home> =>
    makeHome(
      { settleMs: 600_000 },
      {
        COUNTERFOIL_QUEUE_URL: server?.url ?? '',
        COUNTERFOIL_SCHEDULES_INTAKE: everySecond,
        COUNTERFOIL_SCHEDULES_SUBMIT: everySecond,
        ...env,
      },
    );

  there(title('two daemons share a batch, and nothing goes out twice'), { timeout: 120_000 }, async () => {
    const at = await home();
    const daemons = [await serving(at, {}, at.start), await serving(at, {}, at.start)];
    at.put('data/inbox/pay.csv', batchOf(1500));
    await until(
      60_000,
      () => sent(at),
      (n) => n === 1500,
    );
    // On a starved machine an intent grows too old to be sent. Its attempt says so, and another follows.
    const shares = ask(at, `select count(*) from attempts where outcome <> 'not_sent' group by worker_id`);
    expect([shares.length, shares.reduce((a, b) => a + b, 0)]).toEqual([2, 1500]);
    expect(at.sandbox.requests.posts).toBe(1500);
    const standing = await until(
      10_000,
      () => at.json(['status'], 0),
      ({ queue }) => queue.depth === 0,
    );
    const url = expect.stringMatching(`^${kind}://`);
    expect(standing.queue).toEqual({ url, kind, depth: 0, reachable: true, why: null });
    expect(standing.daemon).toEqual({ running: true });
    const [first, second] = daemons;
    await stop(first ? [first] : []);
    expect((await at.json(['status'], 0)).daemon).toEqual({ running: true });
    await stop(second ? [second] : []);
    expect((await at.json(['status'], 0)).daemon).toEqual({ running: false });
  });

  killable(
    title('without its server a daemon sends by itself, hears webhooks, and says so once'),
    { timeout: 120_000 },
    async () => {
      const at = await home();
      await server?.kill?.();
      try {
        const { daemon, url } = await serving(at, {}, at.start);
        at.put('data/inbox/pay.csv', batchOf(50));
        await until(
          30_000,
          () => sent(at),
          (n) => n === 50,
        );
        await at.sandbox.settleAll();
        await until(
          5000,
          () => ask(at, `select count(*) from payouts where state = 'success'`)[0],
          (n) => n === 50,
        );
        expect((await at.json(['status'], 0)).queue).toMatchObject({ kind, depth: null, reachable: false });
        const doctor = await at.run(['doctor']);
        expect(doctor.out).toMatch(/FAILED queue +(redis|postgres):\/\/\S+ gives no answer \(.*ECONNREFUSED/);
        expect(doctor.out).toContain('fix: nothing listens there: start it, or correct queue.url');
        const log = await stop([{ daemon }]);
        expect(log.match(/the queue cannot be reached/g)).toHaveLength(1);
        expect([at.sandbox.requests.posts, url]).toEqual([50, expect.stringMatching(/^http/)]);
      } finally {
        await server?.start();
      }
    },
  );

  killable(
    title('a server that comes back, emptied or not, is used again, and no payout is sent twice'),
    { timeout: 120_000 },
    async () => {
      const at = await home({ COUNTERFOIL_SERVICE_REQUESTS_PER_SECOND: '50' });
      const daemons = [await serving(at, {}, at.start), await serving(at, {}, at.start)];
      at.put('data/inbox/pay.csv', batchOf(300));
      for (const enough of [40, 120, 200]) {
        await until(
          30_000,
          () => sent(at),
          (n) => n >= enough,
        );
        await server?.kill?.();
        await server?.start();
      }
      await until(
        60_000,
        () => sent(at),
        (n) => n === 300,
      );
      expect(at.sandbox.requests.posts).toBe(300);
      expect(references(300).filter((one) => at.sandbox.requests.bodies(one) !== 1)).toEqual([]);
      await stop(daemons);
      expect((await at.run(['verify'])).code).toBe(0);
    },
  );
});

describe('the password of a queue', () => {
  const password = 'correct-horse-battery';
  it.each([`redis://:${password}@127.0.0.1:1`, `postgres://worker:${password}@127.0.0.1:1/queue`])(
    'is shown nowhere: %s',
    { timeout: 60_000 },
    async (url) => {
      const at = await makeHome({}, { COUNTERFOIL_QUEUE_URL: url });
      at.put('data/inbox/pay.csv', batchOf(1));
      const { daemon } = await serving(at, {}, at.start);
      await daemon.line(/the queue cannot be reached/);
      const stopped = await stop([{ daemon }]);
      const commands = [['config', 'show'], ['doctor'], ['doctor', '--offline'], ['status'], ['submit']];
      const { out, err } = await startSeveral(commands, { cwd: at.dir, env: at.env }).done;
      expect(JSON.parse(out.trimEnd().split('\n').at(-1) ?? '')).toHaveLength(commands.length);
      expect([stopped, out, err].filter((text) => text.includes(password))).toEqual([]);
    },
  );
});

it('a second serve still waits outside where the queue is inline', async () => {
  const at = await makeHome();
  await serving(at, {}, at.start);
  const second = await at.run(['serve']);
  expect(second.code).toBe(11);
  expect(second.err).toContain('several can share a ledger when queue.url names a Redis or a PostgreSQL');
});
