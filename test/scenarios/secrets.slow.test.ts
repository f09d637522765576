import { openSync, readFileSync, statSync, truncateSync, writeSync } from 'node:fs';
import { expect, it, onTestFinished } from 'vitest';
import { payoutMessage, webhookHeaders } from '../../src/sandbox/webhook-message.ts';
import { batchOf, type Done, type Running, until } from '../support/cli.ts';
import { onPostgres } from '../support/on-postgres/standing.ts';
import { httpReply, startRawService } from '../support/raw-service.ts';
import { everySecond, serving } from '../support/serving.ts';
import { canaries, found, foundInFiles } from './canaries.ts';
import { type Planted, planted } from './planted.ts';

/** All that is configured, and so what the service may know: it is told nothing else. */
const everything = Object.values(canaries).slice(0, 14).join(' ');

async function watched(home: Planted): Promise<{ daemon: Running; url: string }> {
  const { daemon, url } = await serving(home, {}, home.start);
  for (const file of ['cmdline', 'comm'])
    home.titles.push(readFileSync(`/proc/${daemon.pid}/${file}`, 'utf8'));
  return { daemon, url };
}

/** Commands that read, one after the other; each must come to its end. */
async function readEverything(home: Planted, env: Record<string, string> = {}): Promise<void> {
  const commands = [
    ['status'],
    ['show', 'PAY-0001'],
    ['show', 'ECHO-0001'],
    ['discrepancies'],
    ['report'],
    ['verify'],
    ['doctor'],
    ['doctor', '--offline', '--reference', 'PAY-0001'],
    ['config', 'show'],
  ];
  const both = commands.flatMap((args) => [args, [...args, '--json']]);
  expect(await home.runAll(both, env)).toHaveLength(both.length);
}

/** A service that says back every header it was sent, and knows all our keys. */
async function startEcho(): Promise<{ url: string; stop(): Promise<void>; posts(): number }> {
  let posts = 0;
  const item = {
    id: 7,
    trx: 'T7',
    reference: 'STRANGER-1',
    currency: 'NGN',
    amount: '5.00',
    fee: '0',
    account_name: everything,
    account_number: '0123456789',
    bank_code: '058',
    narration: everything,
    domain: 'test',
    status: 'success',
    created_at: new Date().toISOString(),
    updated_at: new Date().toISOString(),
  };
  const service = await startRawService(({ head, body, socket }) => {
    const echo = `you sent ${head} ${everything}`;
    const headers = [
      `Date: ${new Date().toUTCString()}`,
      `X-Echo: ${everything}`,
      `WWW-Authenticate: Bearer ${everything}`,
    ];
    const answer = (status: number, json: object): void =>
      void socket.write(httpReply(status, JSON.stringify(json).replaceAll('/', '\\/'), headers));
    if (head.startsWith('GET') && head.includes('fetch_all')) {
      const page = { current_page: 1, last_page: 1, per_page: 50, total: 1, data: [item] };
      return answer(200, { success: true, status: '00', data: page });
    }
    const reference = /"reference":"([^"]+)"/.exec(body)?.[1] ?? /details\/(\S+)/.exec(head)?.[1];
    if (!head.includes('/bank_transfer'))
      return answer(200, {
        success: true,
        status: '00',
        message: echo,
        data: { reference, status: 'pending', echo },
      });
    const data = { reference, transfer_id: `TR-${reference}`, status: 'pending', echo };
    posts += 1;
    switch (Number(reference?.at(-1))) {
      case 1:
        return answer(200, { success: true, status: '00', message: echo, data });
      case 2:
        return answer(400, { success: false, status: '24', message: echo, data: { reference } });
      case 3:
        return void socket.write(httpReply(500, `<html>${echo}</html>`, headers));
      case 4:
        return answer(200, { success: true, status: '24', message: echo, data });
      default:
        return answer(401, { success: false, status: '18', message: echo });
    }
  });
  return { url: service.url, stop: service.stop, posts: () => posts };
}

async function post(url: string, body: string, headers: Record<string, string>): Promise<number> {
  const { status } = await fetch(url, { method: 'POST', body, headers });
  return status;
}

/** Good ones and forged ones, with secrets where a sender may put them. */
async function webhooks(home: Planted, url: string): Promise<void> {
  const [transfer] = home.sandbox.book.transfers();
  if (!transfer) throw new Error('nothing was sent');
  const { test } = home.sandbox.keys;
  const message = payoutMessage(transfer);
  const body = JSON.stringify({ ...JSON.parse(message.body), note: everything });
  const headers = { ...webhookHeaders({ ...message, body }, test, Date.now()), 'x-note': everything };
  expect(await post(`${url}/webhooks/test`, body, headers)).toBe(200);
  const forged = { payloadsignature: 'ab'.repeat(64), authorization: `Bearer ${canaries.strangersBearer}` };
  expect(await post(`${url}/webhooks/test`, everything, { ...headers, ...forged })).toBe(401);
  const stranger = { ...headers, authorization: `Bearer ${canaries.strangersBearer}` };
  expect(await post(`${url}/webhooks/test`, body, stranger)).toBe(401);
  expect(
    await post(`${url}/webhooks/test`, body, { ...headers, 'content-encoding': canaries.testSecret }),
  ).toBe(415);
  expect(await post(`${url}/webhooks/${encodeURIComponent(everything)}`, body, headers)).toBe(404);
}

/** Settings that must be refused, each holding a secret in a place where none belongs. */
async function refusals(home: Planted): Promise<void> {
  const { urlPassword, urlToken, keyInsteadOfFile } = canaries;
  const wrong: Record<string, string>[] = [
    { COUNTERFOIL_SERVICE_BASE_URL: `https://ada:${urlPassword}@pay.example.com` },
    { COUNTERFOIL_SERVICE_BASE_URL: `https://ada:a@b"${urlPassword}@pay.example.com/x` },
    { COUNTERFOIL_SERVICE_BASE_URL: `ada:${urlPassword}@pay.example.com` },
    { COUNTERFOIL_SERVICE_BASE_URL: `https://pay.example.com/?token=${urlToken}` },
    { COUNTERFOIL_LEDGER_URL: `postgres://ada:${urlPassword}@db` },
    { COUNTERFOIL_QUEUE_URL: `redis://:${urlPassword}@cache/jobs` },
    { COUNTERFOIL_RECEIVER_TRUST_PROXY: `http://ada:${urlPassword}@proxy` },
    { COUNTERFOIL_ALERTS_WEBHOOK_URL: `https://ada:${urlPassword}@hooks.example.com/${urlToken}` },
    { COUNTERFOIL_LIVE_SECRET_KEY: canaries.testSecret },
    { COUNTERFOIL_ADMIN_TOKENS: canaries.adminAda },
    { COUNTERFOIL_TEST_PUBLIC_KEY: '', COUNTERFOIL_TEST_PUBLIC_KEY_FILE: keyInsteadOfFile },
    { COUNTERFOIL_TEST_WEBHOOK_KEY: canaries.testWebhookNext },
  ];
  for (const env of wrong) {
    const codes = await home.runAll([['config', 'show'], ['doctor'], ['submit']], env);
    expect(codes, Object.keys(env).join()).toEqual(codes.map(() => expect.toBeOneOf([1, 2])));
  }
}

function noneLeaked(home: Planted, done: readonly Done[] = []): void {
  const told = [...home.printed, ...home.titles, ...done.flatMap(({ out, err }) => [out, err])];
  expect(
    told.flatMap(found),
    told.find((text) => found(text).length > 0),
  ).toEqual([]);
  const { looked, leaks } = foundInFiles(home.dir, ['.env', 'keys/webhook']);
  expect(leaks).toEqual([]);
  expect(looked.length, 'it looked into something').toBeGreaterThan(1);
}

it('twenty canaries stay out of files, output and process titles through a whole day of work', {
  timeout: 120_000,
}, async () => {
  expect(Object.keys(canaries)).toHaveLength(20);
  const home = await planted();
  const { daemon, url } = await watched(home);
  home.put('pay.csv', batchOf(3));
  expect((await home.run(['check', 'pay.csv'])).code).toBe(0);
  expect((await home.run(['submit', 'pay.csv'])).code).toBe(0);
  await home.sandbox.settleAll();
  await webhooks(home, url);
  await until(
    8000,
    async () => JSON.parse((await home.run(['status', '--json'])).out),
    (s) => s.payouts.success === 3,
  );
  expect([0, 4]).toContain((await home.run(['reconcile', '--json'])).code);
  expect([0, 1]).toContain((await home.run(['resend', 'PAY-0001'])).code);
  await readEverything(home);
  expect((await home.run(['backup', 'copy.db'])).code).toBe(onPostgres ? 2 : 0);
  noneLeaked(home);
  process.kill(daemon.pid, 'SIGKILL');
  await daemon.done;
  noneLeaked(home);
});

it('what the service says back of our keys is neither shown nor stored', { timeout: 120_000 }, async () => {
  const home = await planted();
  const echo = await startEcho();
  onTestFinished(echo.stop);
  const env = { COUNTERFOIL_SERVICE_BASE_URL: echo.url };
  home.put('pay.csv', batchOf(5).replaceAll('PAY-', 'ECHO-'));
  expect((await home.run(['submit', 'pay.csv'], env)).code).toBe(4);
  expect(echo.posts()).toBe(5);
  expect((await home.run(['reconcile', '--json'], env)).code).toBe(4);
  await home.run(['resend', 'ECHO-0001'], env);
  await home.run(['resend', 'ECHO-0001', '--collection'], env);
  await home.run(['retry', 'ECHO-0002', '--json'], env);
  await readEverything(home, env);
  const { attempts } = JSON.parse((await home.run(['show', 'ECHO-0002', '--json'], env)).out);
  expect(attempts[0].message, 'the rest of the message is kept').toMatch(
    /^you sent POST .*Bearer \[hidden\]/s,
  );
  const wrong = {
    ...env,
    COUNTERFOIL_SERVICE_BASE_URL: home.sandbox.url,
    COUNTERFOIL_TEST_SECRET_KEY: canaries.wrongKey,
  };
  expect((await home.run(['reconcile'], wrong)).code).toBe(1);
  expect((await home.run(['doctor'], wrong)).code).toBe(1);
  noneLeaked(home);
});

it('a setting that holds a secret where none belongs is refused without showing it', {
  timeout: 120_000,
}, async () => {
  const home = await planted();
  await refusals(home);
  noneLeaked(home);
});

it('a name that holds a key is logged without it', async () => {
  const home = await planted();
  home.put(`data/inbox/${canaries.testEncryption}.txt`, 'reference\n');
  const daemon = home.start(['serve', '--json'], { COUNTERFOIL_SCHEDULES_INTAKE: everySecond });
  const line = await daemon.line(/left in the inbox/);
  expect(line).toContain('[hidden].txt');
  expect(found(line)).toEqual([]);
});

it.skipIf(onPostgres)(
  'a ledger that fails and a rejection that nobody handles leave no secret in what they print',
  {
    timeout: 120_000,
  },
  async () => {
    const home = await planted();
    home.put('pay.csv', batchOf(2));
    const { daemon, url } = await watched(home);
    expect((await home.run(['submit', 'pay.csv'])).code).toBe(0);
    const ledger = `${home.dir}/data/ledger.db`;
    const file = openSync(ledger, 'r+');
    for (let at = 0; at < statSync(ledger).size; at += 4096)
      writeSync(file, Buffer.alloc(4096, 0x5a), 0, 4096, at);
    truncateSync(`${ledger}-wal`, 0);
    const [transfer] = home.sandbox.book.transfers();
    if (!transfer) throw new Error('nothing was sent');
    const message = payoutMessage(transfer);
    const headers = webhookHeaders(message, home.sandbox.keys.test, Date.now());
    await post(`${url}/webhooks/test`, message.body, headers).catch(() => 0);
    const failed = await daemon.done;
    expect(failed.code).toBe(1);
    expect(failed.err).toContain('stack');
    const rejecting = "setTimeout(() => { Promise.reject(new Error('nobody handles this')) }, 300)";
    const rejected = await home.run(['status'], {
      NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(rejecting)}`,
    });
    expect(rejected.code).not.toBe(0);
    noneLeaked(home);
  },
);
