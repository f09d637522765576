import { spawn } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, readFileSync, symlinkSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { expect, it, onTestFinished } from 'vitest';
import { blocksOf } from '../../config/docs/blocks.ts';
import { root } from '../../config/docs/pages.ts';
import { serveApi, tokenOf } from '../faces/api/support.ts';
import { batchOf, createOutput, type Done, type Running, until } from '../support/cli.ts';

const example = (name: string): string => join(root, 'docs/examples', name);
/** All roles: `admin.roles` does not name her. */
const shop = 'shop-token-5f2c8e1b90ab';
const withShop = {
  COUNTERFOIL_ADMIN_TOKENS: `shop:${shop},ada:${tokenOf('ada')}`,
  COUNTERFOIL_ADMIN_ROLES: '{}',
};

/** Starts a program of the docs as its reader would. */
function begin(program: string, args: string[], env: Record<string, string>, cwd: string): Running {
  const { PATH = '' } = process.env;
  const child = spawn(program, args, { cwd, env: { PATH, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
  const output = createOutput();
  child.stdout.setEncoding('utf8').on('data', (text: string) => output.add('out', text));
  child.stderr.setEncoding('utf8').on('data', (text: string) => output.add('err', text));
  const done = once(child, 'close').then(([code]): Done => ({ code, ...output.end() }));
  onTestFinished(async () => {
    child.kill('SIGKILL');
    await done;
  });
  return { pid: child.pid ?? 0, signal: (name) => void child.kill(name), done, line: output.line };
}

it('docs/api.md: the first payment and the program run as they stand', async () => {
  const { home, url } = await serveApi({ settleMs: 1 }, withShop);
  const settling = setInterval(() => void home.sandbox.settleAll(), 200);
  onTestFinished(() => clearInterval(settling));
  const page = readFileSync(join(root, 'docs/api.md'), 'utf8');
  const env = { COUNTERFOIL_URL: url, COUNTERFOIL_TOKEN: shop };
  home.put('pay.csv', batchOf(3));
  const commands = blocksOf('docs/api.md', page).flatMap(({ steps }) => steps.map(({ command }) => command));
  expect(commands).toHaveLength(5);
  const shell = await begin('sh', ['-ec', commands.join('\n')], env, home.dir).done;
  expect(shell, shell.err).toMatchObject({ code: 0, err: '' });
  expect(JSON.parse(home.read('check.json')).files[0]).toMatchObject({ ok: true, rows: 3 });
  const { batch } = JSON.parse(home.read('batch.json'));
  expect(JSON.parse(home.read('batches.json')).batches[0]?.batch).toBe(batch);
  expect(JSON.parse(home.read('payouts.json')).payouts).toHaveLength(3);

  const program = /```ts\n(import [\s\S]*?)```/.exec(page)?.[1] ?? '';
  const path = home.put('program.mjs', program);
  mkdirSync(join(home.dir, 'node_modules'));
  symlinkSync(root, join(home.dir, 'node_modules/counterfoil'));
  const ran = await begin(process.execPath, [path], env, home.dir).done;
  expect(ran, ran.err).toMatchObject({ code: 0, err: '' });
  expect(ran.out).toMatch(/^true true 404 GET \/batches lists them/);
});

it('docs/examples: an order system pays by curl and by the client, and again without paying twice', async () => {
  const { home, url, as } = await serveApi({ settleMs: 1 }, withShop);
  const settling = setInterval(() => void home.sandbox.settleAll(), 200);
  onTestFinished(() => clearInterval(settling));
  const env = { COUNTERFOIL_URL: url, COUNTERFOIL_TOKEN: shop };
  home.put('shop.csv', batchOf(2));
  for (const status of ['201', '409']) {
    const ran = await begin('sh', [example('pay-from-orders.sh'), 'shop.csv'], env, home.dir).done;
    expect(ran, ran.err).toMatchObject({ code: 0 });
    expect(JSON.parse(ran.out).batch, status).toMatch(/^shop-/);
  }
  const wrong = home.put('wrong.csv', 'reference\nx\n');
  expect((await begin('sh', [example('pay-from-orders.sh'), wrong], env, home.dir).done).code).toBe(1);
  const order = { account: '1000000007', name: 'Okafor, "Ada"', bank: '058', amount: '1500.00' };
  home.put(
    'orders.json',
    JSON.stringify([
      { ...order, id: 'ORDER-7' },
      { ...order, id: 'ORDER-8', account: '1000000008' },
    ]),
  );
  for (let times = 0; times < 2; times++) {
    const ran = await begin(process.execPath, [example('pay-from-orders.mjs'), 'orders.json'], env, home.dir)
      .done;
    expect(ran, ran.err).toMatchObject({ code: 0 });
    expect(ran.out).toContain('ORDER-7 success\n');
    expect(ran.out).toContain('ORDER-8 success\n');
  }
  const client = as('ada', { token: shop });
  expect((await client.listBatches()).batches).toHaveLength(2);
  expect((await client.listPayouts()).totals).toMatchObject({ NGN: { count: 4 } });
});

it('docs/examples: events come into a table, each once, over a stop between', async () => {
  const { home, url, as } = await serveApi({}, { ...withShop, COUNTERFOIL_SCHEDULES_SUBMIT: '' });
  const client = as('ada', { token: shop });
  const env = { COUNTERFOIL_URL: url, COUNTERFOIL_TOKEN: shop };
  const follow = (): Running =>
    begin(process.execPath, [example('follow-events.mjs'), 'events.db'], env, home.dir);
  await client.postBatch(batchOf(1), { name: 'one.csv' });
  const first = follow();
  await first.line(/batch\.taken one-/);
  first.signal('SIGTERM');
  expect((await first.done).code).toBe(0);
  await client.postBatch(batchOf(1, 2), { name: 'two.csv' });
  const second = follow();
  await second.line(/batch\.taken two-/);
  second.signal('SIGTERM');
  await second.done;
  const { events } = await client.listEvents({ limit: 1000 });
  const db = new DatabaseSync(join(home.dir, 'events.db'));
  const rows = db.prepare('select id from events order by number').all();
  db.close();
  expect(rows.map(({ id }) => id)).toEqual(events.slice(0, rows.length).map(({ id }) => id));
  expect(new Set(rows.map(({ id }) => id)).size).toBe(rows.length);
});

it('docs/examples: a held batch is posted to Slack, and only a signed and timely yes approves it', async () => {
  const { home, url, as } = await serveApi(
    {},
    { ...withShop, COUNTERFOIL_SUBMISSION_APPROVAL: 'always', COUNTERFOIL_SCHEDULES_SUBMIT: '' },
  );
  const posted: string[] = [];
  const slack = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8').on('data', (piece) => (body += piece));
    request.on('end', () => {
      posted.push(JSON.parse(body).text);
      response.end('ok');
    });
  });
  await new Promise<void>((resolve) => slack.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void slack.close());
  const free = createServer();
  await new Promise<void>((resolve) => free.listen(0, '127.0.0.1', resolve));
  const port = String((free.address() as AddressInfo).port);
  await new Promise((resolve) => free.close(resolve));
  const secret = 's'.repeat(40);
  const env = {
    ...{ COUNTERFOIL_URL: url, COUNTERFOIL_TOKEN: tokenOf('ada'), PORT: port, SECRET: secret },
    SLACK_WEBHOOK_URL: `http://127.0.0.1:${(slack.address() as AddressInfo).port}/hook`,
    LINK_URL: 'https://pay.example/approve',
  };
  const client = as('ada', { token: shop });
  const { batch, digest } = await client.postBatch(batchOf(2), { name: 'pay.csv' });
  const program = begin(process.execPath, [example('approve-in-slack.mjs')], env, home.dir);
  await Promise.race([
    program.line(/^posted pay-/),
    program.done.then(({ err }) => Promise.reject(new Error(err))),
  ]);
  expect(posted).toEqual([
    expect.stringMatching(/^pay-\S+ by shop: 2 payouts, NGN 2004\.00\. <https:\/\/pay\.example/),
  ]);
  const answer = async (body: object, key = secret): Promise<number> => {
    const text = JSON.stringify(body);
    const signature = createHmac('sha256', key).update(text).digest('hex');
    const init = { method: 'POST', body: text, headers: { 'x-signature': signature } };
    return (await fetch(`http://127.0.0.1:${port}/answer`, init)).status;
  };
  const yes = { batch, digest, answer: 'yes', at: new Date().toISOString() };
  expect(await answer(yes, 'x'.repeat(40))).toBe(401);
  expect(await answer({ ...yes, at: '2026-01-01T00:00:00Z' })).toBe(400);
  expect(await answer({ ...yes, answer: 'no' })).toBe(400);
  expect(await answer({ ...yes, digest: 'f'.repeat(64) })).toBe(409);
  expect((await client.getBatch({ batch })).state).toBe('held');
  expect(await answer(yes)).toBe(200);
  await until(
    5000,
    () => client.getBatch({ batch }),
    ({ state }) => state !== 'held',
  );
});
