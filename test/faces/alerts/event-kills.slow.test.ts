import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';
import { afterAll, expect, it, onTestFinished } from 'vitest';
import { readEvents } from '../../../src/core/ledger/event-feed.ts';
import { openLedger } from '../../../src/custody/open-ledger.ts';
import { noPostgres, type PostgresServer, startPostgres } from '../../support/postgres-server.ts';
import { configWith } from './setting.ts';

const secret = `whsec_${Buffer.alloc(32, 9).toString('base64')}`;
const here = new URL('posting-process.ts', import.meta.url).pathname;
/** How many events happen, over how many kills. */
type Size = { number: number; kills: number };

/** A program that takes events: it acknowledges one after it noted it, unless it dies first. */
async function startFollower() {
  const arrived: { id: string; month: number }[] = [];
  let forged = 0;
  let dying = 0;
  const webhook = new Webhook(secret);
  const take = (body: string, headers: IncomingHttpHeaders): void => {
    try {
      webhook.verify(
        body,
        Object.fromEntries(Object.entries(headers).map(([name, value]) => [name, String(value)])),
      );
    } catch {
      forged += 1;
    }
    arrived.push({ id: String(headers['webhook-id']), month: Number(JSON.parse(body).data.month) });
  };
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const isFirst = dying > 0 && dying-- % 2 === 0;
      if (!isFirst && dying > 0) return request.socket.destroy();
      take(Buffer.concat(chunks).toString(), request.headers);
      if (isFirst) return request.socket.destroy();
      response.writeHead(204).end();
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/events`,
    arrived,
    forged: () => forged,
    /** Dies twice: after it noted an event and before it acknowledged it, and before it noted the next. */
    die: () => {
      dying = 2;
      server.closeAllConnections();
    },
  };
}

async function followOver({ number, kills }: Size, given: Record<string, string> = {}): Promise<void> {
  const follower = await startFollower();
  const env = {
    COUNTERFOIL_SERVICE_BASE_URL: 'http://127.0.0.1:9',
    COUNTERFOIL_EVENTS_URL: follower.url,
    COUNTERFOIL_EVENTS_SECRET: secret,
    ...given,
  };
  const config = await configWith(env);
  const now = (): string => new Date().toISOString();
  const ledger = await openLedger(config.ledgerPlace, { now, mode: 'test' });
  onTestFinished(() => ledger.close());
  const start = (role: string, worker: string): ChildProcess => {
    const child = spawn(process.execPath, [here, role, config.home, worker, `${number}`], {
      env: { PATH: process.env.PATH ?? '', ...env },
      stdio: ['ignore', 'ignore', 'inherit'],
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    return child;
  };
  const end = async (child: ChildProcess): Promise<void> => {
    child.kill('SIGKILL');
    if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
  };

  /** What a program has that reads by cursor, and remembers only the cursor of the last event that it has. */
  const read: { id: string; month: number }[] = [];
  let cursor: string | null = null;
  async function follow(): Promise<void> {
    for (let next: string | null = cursor; ; ) {
      const page = await readEvents(ledger.db, { after: next, limit: 777, details: false });
      if (page.kind === 'lost') throw new Error(page.why);
      for (const event of page.events) {
        if (event.type === 'month.closed') read.push({ id: event.id, month: Number(event.data.month) });
        ({ cursor } = event);
      }
      if (page.next === null) return;
      ({ next } = page);
    }
  }

  let poster = start('post', 'w-0');
  // The outbox begins with what happens once it is there.
  while ((await ledger.db.selectFrom('event_outboxes').select('name').execute()).length === 0)
    await new Promise((resolve) => setTimeout(resolve, 20));
  let teller = start('tell', 't-0');
  for (let kill = 1; kill <= kills; kill++) {
    await new Promise((resolve) => setTimeout(resolve, 500 + ((kill * 379) % 700)));
    await follow();
    if (kill % 2 === 0) {
      await end(teller);
      teller = start('tell', `t-${kill}`);
    } else {
      await end(poster);
      poster = start('post', `w-${kill}`);
    }
    follower.die();
  }
  const ids = new Set<string>();
  for (let seen = 0, waited = 0; ids.size < number && waited < 250; waited++) {
    await new Promise((resolve) => setTimeout(resolve, 1000));
    for (; seen < follower.arrived.length; seen++) ids.add(follower.arrived[seen]?.id ?? '');
  }
  await follow();
  await end(teller);
  const all = read.length;
  await end(poster);

  console.log(`${all} events, ${kills} kills, ${follower.arrived.length - all} posted again`);
  expect(all).toBe(number);
  expect(read.findIndex(({ month }, at) => month !== at + 1)).toBe(-1);
  expect(new Set(read.map(({ id }) => id)).size).toBe(all);
  expect(follower.forged()).toBe(0);
  const firsts = [...ids];
  expect(firsts.length).toBe(all);
  expect(read.findIndex(({ id }, at) => firsts[at] !== id)).toBe(-1);
  // What came again is never ahead of what had come before.
  let newest = 0;
  for (const { month } of follower.arrived) {
    expect(month).toBeLessThanOrEqual(newest + 1);
    newest = Math.max(newest, month);
  }
}

const server: PostgresServer | null = await startPostgres({ fsync: 'on' });
afterAll(() => server?.stop());

it('P39: every event is read once in order by cursor, and posted at least once in order, over 50 kills of both sides', async () => {
  await followOver({ number: 100_000, kills: 50 });
}, 420_000);

it.skipIf(!server)(
  `P39: the same on PostgreSQL, over 20 kills${server ? '' : noPostgres}`,
  async () => {
    await followOver({ number: 3_000, kills: 20 }, { COUNTERFOIL_LEDGER_URL: server?.url ?? '' });
  },
  420_000,
);
