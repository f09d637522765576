import { expect, it } from 'vitest';
import { webhookHeaders } from '../../src/sandbox/webhook-message.ts';
import { batchOf, type Home, makeHome, type Running, references, until } from '../support/cli.ts';
import { onPostgres } from '../support/on-postgres/standing.ts';
import { freePort } from '../support/server-process.ts';
import { everySecond } from '../support/serving.ts';

const sources = {
  COUNTERFOIL_TEST_SECRET_KEY: '',
  COUNTERFOIL_TEST_SECRET_KEY_FILE: 'secret_key',
  COUNTERFOIL_ADMIN_TOKENS_FILE: 'admin_tokens',
};

type Served = { home: Home; daemon: Running; receiver: string; admin: string };

/** A daemon in a process of its own; its key and tokens come from files. */
async function serve(options = {}, settings: Record<string, string | undefined> = {}): Promise<Served> {
  const home = await makeHome(options);
  home.put('secret_key', home.sandbox.keys.test.secretKey);
  home.put('admin_tokens', 'ada:token-of-ada-1');
  const [receiverPort, adminPort] = [await freePort(), await freePort()];
  const ports = {
    COUNTERFOIL_RECEIVER_PORT: String(receiverPort),
    COUNTERFOIL_ADMIN_PORT: String(adminPort),
  };
  const daemon = home.start(['serve', '--json'], { ...sources, ...ports, ...settings });
  const { receiver, admin } = JSON.parse(await daemon.line(/"ready":true/));
  home.sandbox.setWebhookUrl(`${receiver}/webhooks/test`);
  return { home, daemon, receiver, admin };
}

/** The status of a webhook that is signed with this secret key. */
async function deliver({ receiver, home }: Served, secretKey: string): Promise<number> {
  const keys = { ...home.sandbox.keys.test, secretKey };
  const message = { mode: 'test', reference: 'X-1', body: '{"event":"other"}', forged: false } as const;
  const headers = webhookHeaders(message, keys, Date.now());
  return (await fetch(`${receiver}/webhooks/test`, { method: 'POST', headers, body: message.body })).status;
}

const tokenIs = async ({ admin }: Served, token: string): Promise<number> =>
  (await fetch(`${admin}/readyz`, { headers: { authorization: `Bearer ${token}` } })).status;

it('SIGHUP takes up keys and tokens from their files, in the same process', async () => {
  const served = await serve();
  const { home, daemon } = served;
  const { secretKey } = home.sandbox.keys.test;
  const before = [await deliver(served, secretKey), await deliver(served, 'sk_test_of_yesterday')];
  expect(before).toEqual([200, 401]);
  expect(await tokenIs(served, 'token-of-ada-2')).toBe(401);
  home.put('secret_key', `${secretKey},sk_test_of_yesterday`);
  home.put('admin_tokens', 'ada:token-of-ada-2');
  daemon.signal('SIGHUP');
  const line = await daemon.line(/"event":"reloaded"/);
  expect(JSON.parse(line).changed).toEqual(['COUNTERFOIL_TEST_SECRET_KEY', 'COUNTERFOIL_ADMIN_TOKENS']);
  expect(line).not.toContain('yesterday');
  await until(
    10_000,
    () => deliver(served, 'sk_test_of_yesterday').catch(() => 0),
    (status) => status === 200,
  );
  expect(await deliver(served, secretKey)).toBe(200);
  expect(await tokenIs(served, 'token-of-ada-1')).toBe(401);
  expect(await tokenIs(served, 'token-of-ada-2')).not.toBe(401);
  daemon.signal('SIGTERM');
  const done = await daemon.done;
  expect(done.code, done.err).toBe(0);
});

it('SIGHUP refuses wrong settings by name, and the old ones go on', async () => {
  const served = await serve();
  const { home, daemon } = served;
  const { secretKey } = home.sandbox.keys.test;
  const yaml = home.read('config/counterfoil.yaml');
  const refused = async (spoil: () => void, why: RegExp): Promise<void> => {
    spoil();
    daemon.signal('SIGHUP');
    expect(JSON.parse(await daemon.line(why))).toMatchObject({ event: 'reload_refused', level: 'error' });
    home.put('secret_key', secretKey);
    home.put('config/counterfoil.yaml', yaml);
    // Two signals that come together count as one.
    await new Promise((resolve) => setTimeout(resolve, 300));
  };
  await refused(() => home.put('secret_key', 'sk_test_not_of_the_service'), /service refused the test key/);
  await refused(() => home.put('secret_key', ''), /no test key/);
  await refused(() => home.put('secret_key', 'sk_live_of_the_other_mode'), /this is a live key/);
  await refused(() => home.put('config/counterfoil.yaml', `${yaml}\nadmn: {}\n`), /admn/);
  // On PostgreSQL the environment says where the ledger is, and the file does not count.
  if (!onPostgres)
    await refused(
      () => home.put('config/counterfoil.yaml', `${yaml}\nledger: { url: "sqlite:other.db" }\n`),
      /a reload cannot change ledger.url/,
    );
  expect(await deliver(served, secretKey)).toBe(200);
  daemon.signal('SIGHUP');
  await daemon.line(/"event":"reloaded","changed":\[\]/);
  expect(await tokenIs(served, 'token-of-ada-1')).not.toBe(401);
});

it('SIGHUP goes on with the old settings where serve cannot begin with the new ones', async () => {
  const home = await makeHome();
  const put = (port: number): void => void home.put('.env', `COUNTERFOIL_RECEIVER_PORT=${port}\n`);
  const port = await freePort();
  put(port);
  const daemon = home.start(['serve', '--json'], { COUNTERFOIL_RECEIVER_PORT: undefined });
  const { receiver } = JSON.parse(await daemon.line(/"ready":true/));
  put(Number(new URL(home.sandbox.url).port));
  daemon.signal('SIGHUP');
  expect(JSON.parse(await daemon.line(/"event":"reload_refused"/)).why).toMatch(/receiver cannot listen/);
  const served = { home, daemon, receiver, admin: '' };
  await until(
    10_000,
    () => deliver(served, home.sandbox.keys.test.secretKey).catch(() => 0),
    (status) => status === 200,
  );
});

it('P31: reloads in the middle of a batch send each payout once, under the keys of its attempt', async () => {
  const schedules = { COUNTERFOIL_SCHEDULES_INTAKE: everySecond, COUNTERFOIL_SCHEDULES_SUBMIT: everySecond };
  const served = await serve({ latencyMs: 200, settleMs: 600_000 }, schedules);
  const { home, daemon } = served;
  const sent = (): number => references(80).filter((r) => home.sandbox.requests.bodies(r) > 0).length;
  home.put('data/inbox/pay.csv', batchOf(80));
  let keys = home.sandbox.keys.test.secretKey;
  for (const many of [5, 30, 55]) {
    await until(20_000, sent, (n) => n >= many);
    keys += `,sk_test_beside_${many}`;
    home.put('secret_key', keys);
    daemon.signal('SIGHUP');
    await until(
      20_000,
      () => deliver(served, `sk_test_beside_${many}`).catch(() => 0),
      (status) => status === 200,
    );
  }
  await until(20_000, sent, (n) => n === 80);
  expect(references(80).map((r) => home.sandbox.requests.bodies(r))).toEqual(Array(80).fill(1));
  daemon.signal('SIGTERM');
  expect((await daemon.done).code).toBe(0);
  const { payouts } = await home.json(['status'], 0);
  expect(payouts).toEqual({ pending: 80 });
});
