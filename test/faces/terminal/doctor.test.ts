import { createHash } from 'node:crypto';
import { chmodSync, cpSync, mkdirSync, readFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { describe, expect, it, onTestFinished } from 'vitest';
import { examineSignature, testSigning } from '../../../src/core/service/signature-doctor.ts';
import { signatureVectors } from '../../../src/core/service/signature-vectors.ts';
import { signBody } from '../../../src/core/service/signing.ts';
import { closingCommand, readersOf } from '../../../src/faces/terminal/doctor/doctor-files.ts';
import { batchOf, type Home, type Json, makeHome } from '../../support/cli.ts';
import { inProcess } from '../../support/in-process.ts';
import { httpReply, startRawService } from '../../support/raw-service.ts';
import { serving } from '../../support/serving.ts';

const atHome = async (settings: Record<string, string> = {}): Promise<Home> =>
  inProcess(await makeHome({}, { COUNTERFOIL_RECEIVER_ENABLED: 'false', ...settings }));
type Env = Record<string, string | undefined>;
const checkOf = async (
  home: Home,
  name: string,
  code: number,
  env: Env = {},
  args: string[] = [],
): Promise<Json> => {
  const { checks } = await home.json(['doctor', ...args], code, env);
  return checks.find((check: { name: string }) => check.name === name);
};

describe('doctor', () => {
  it('ends with 0 when all is well, having asked one list page and posted nothing', async () => {
    const home = await atHome();
    const service = await startRawService(({ socket, body, head }) => {
      expect(head).toMatch(/^GET \/api\/v1\/fetch_all_transfers\?page=1 /);
      expect(body).toBe('');
      const page = { current_page: 1, last_page: 1, per_page: 50, total: 0, data: [] };
      const json = JSON.stringify({ success: true, status: '00', data: page });
      socket.write(httpReply(200, json, [`Date: ${new Date().toUTCString()}`]));
    });
    onTestFinished(service.stop);
    const { ok, checks } = await home.json(['doctor'], 0, { COUNTERFOIL_SERVICE_BASE_URL: service.url });
    expect(ok).toBe(true);
    expect(service.heads).toHaveLength(1);
    expect(checks.map((check: { name: string }) => check.name)).toEqual(
      expect.arrayContaining([
        'configuration',
        'keys',
        'clock',
        'disk',
        'ledger',
        'queue',
        'service',
        'receiver',
        'signing',
      ]),
    );
  });

  it('names counterfoil-run where serve runs with keys that this shell lacks, and the .env where none runs', async () => {
    const home = await atHome({ COUNTERFOIL_RECEIVER_ENABLED: 'true' });
    const shell = { COUNTERFOIL_TEST_SECRET_KEY: '', COUNTERFOIL_TEST_ENCRYPTION_KEY: '' };
    const noKey = async () => [
      await checkOf(home, 'keys', 1, shell, ['--offline']),
      (await home.json(['reconcile'], 2, shell)).error,
    ];
    const env = `set COUNTERFOIL_TEST_SECRET_KEY in ${home.dir}/.env`;
    const [alone, refused] = await noKey();
    expect([alone.fix, refused]).toEqual([env, `no test key: ${env}`]);
    const { daemon } = await serving(home);
    const [beside, stopped] = await noKey();
    expect(beside).toMatchObject({
      detail: expect.stringMatching(/no test key in this shell/),
      fix: expect.stringMatching(/sudo counterfoil-run COMMAND/),
    });
    expect(stopped).toMatch(/no test key in this shell: .*sudo counterfoil-run COMMAND/);
    daemon.signal('SIGTERM');
    await daemon.done;
    expect(await home.run(['serve'], shell)).toMatchObject({
      code: 2,
      err: expect.stringMatching(/set COUNTERFOIL_TEST_SECRET_KEY in/),
    });
  });

  it('names counterfoil-run where a key lies among the credentials of a unit', async () => {
    const home = await atHome({ COUNTERFOIL_TEST_SECRET_KEY: '' });
    home.put('.env', 'COUNTERFOIL_TEST_SECRET_KEY_FILE=/run/credentials/counterfoil.service/secret_key\n');
    const { detail } = await checkOf(home, 'configuration', 1);
    expect(detail).toMatch(/secret_key does not exist.*sudo counterfoil-run COMMAND/);
  });

  it('takes the arrangements of systemd for what they are, and every other reader for an open file', () => {
    const account = { uid: 990, gid: 980 };
    const own = { mode: 0o100600, uid: 990, gid: 980 };
    const lent = { mode: 0o100640, uid: 0, gid: 980 };
    const credential = { mode: 0o100440, uid: 0, gid: 0 };
    for (const mode of [0o100600, 0o100400])
      expect(readersOf({ ...own, mode }, false, account)).toBe('account');
    for (const mode of [0o100400, 0o100440])
      expect(readersOf({ ...credential, mode }, true, account)).toBe('account');
    expect(readersOf(lent, false, account)).toBe('group');
    expect(readersOf(lent, false, { uid: 0, gid: 980 })).toBe('others');
    for (const changed of [{ gid: 100 }, { uid: 990 }, { mode: 0o100660 }, { mode: 0o100644 }])
      expect(readersOf({ ...lent, ...changed }, false, account)).toBe('others');
    for (const mode of [0o100444, 0o100460])
      expect(readersOf({ ...credential, mode }, true, account)).toBe('others');
  });

  it('closes an open file of keys with a command that its owner can run, and that leaves it to serve', () => {
    const file = '/srv/keys';
    const account = { uid: 990, gid: 980 };
    expect(closingCommand({ file, ...account }, account)).toBe('chmod 600 /srv/keys');
    expect(closingCommand({ file, uid: 990, gid: 980 }, { uid: 0, gid: 0 })).toBe('chmod 600 /srv/keys');
    expect(closingCommand({ file, uid: 0, gid: 980 }, account)).toBe('sudo chmod 640 /srv/keys');
    expect(closingCommand({ file, uid: 0, gid: 0 }, account)).toBe(
      'sudo chown 990 /srv/keys && sudo chmod 600 /srv/keys',
    );
  });

  it('gives every failure a fix, and says what it skipped', async () => {
    const home = await atHome({ COUNTERFOIL_TEST_SECRET_KEY: '' });
    home.put('.env', '');
    chmodSync(`${home.dir}/.env`, 0o644);
    const { ok, checks } = await home.json(['doctor'], 1, { COUNTERFOIL_TEST_SECRETKEY: 'x' });
    expect(ok).toBe(false);
    const failed = checks.filter(({ ok: isOk }: { ok: boolean | null }) => isOk === false);
    expect(failed.map((check: { name: string }) => check.name)).toEqual([
      'configuration',
      'keys',
      'secret files',
    ]);
    for (const { fix } of failed) expect(fix).toMatch(/\w/);
    expect(checks.find((check: { name: string }) => check.name === 'service').detail).toBe(
      'skipped: see keys',
    );
  });

  it('names each problem of a configuration that cannot be read', async () => {
    const home = await atHome();
    const { checks } = await home.json(['doctor'], 1, {
      COUNTERFOIL_MODE: 'life',
      COUNTERFOIL_TEST_SECRET_KEY: 'sk_live_0123456789',
    });
    expect(checks.map((check: { detail: string }) => check.detail).join('\n')).toMatch(
      /mode.*\n.*this is a live key/s,
    );
  });

  it('says which key the service refused', async () => {
    const home = await atHome();
    const env = { COUNTERFOIL_TEST_SECRET_KEY: 'sk_test_wrong_0123456,sk_test_other_0123456' };
    const { detail, fix } = await checkOf(home, 'service', 1, env);
    expect(detail).toContain('refused the first of the 2 values of COUNTERFOIL_TEST_SECRET_KEY (HTTP 401');
    expect(fix).toContain('dashboard');
  });

  it.each([
    ['http://127.0.0.1:1', 'nothing listens there'],
    ['https://no-such-host.invalid', 'could not be resolved'],
  ])('tells what to do where %s does not answer', async (url, fix) => {
    const home = await atHome({ COUNTERFOIL_SERVICE_BASE_URL: url });
    expect((await checkOf(home, 'service', 1)).fix).toContain(fix);
    expect((await checkOf(home, 'service', 0, {}, ['--offline'])).detail).toBe('skipped: --offline');
  });

  it('tells of NODE_EXTRA_CA_CERTS where the certificate of the service is not trusted', async () => {
    const home = await atHome();
    const pem = (name: string): Buffer =>
      readFileSync(new URL(`../../fixtures/tls/${name}.pem`, import.meta.url));
    const pair = { cert: pem('stranger.cert'), key: pem('stranger.key') };
    const service = await startRawService(() => undefined, {
      make: (onSocket) => createTlsServer(pair, onSocket),
    });
    onTestFinished(service.stop);
    const { fix } = await checkOf(home, 'service', 1, { COUNTERFOIL_SERVICE_BASE_URL: service.url });
    expect(fix).toContain('NODE_EXTRA_CA_CERTS');
  });

  it.each(['https to a port of plain http', 'http to a port of https'])(
    'says in plain words that base_url speaks %s',
    async (which) => {
      const home = await atHome();
      const pem = (name: string): Buffer =>
        readFileSync(new URL(`../../fixtures/tls/${name}.pem`, import.meta.url));
      const pair = { cert: pem('trusted.cert'), key: pem('trusted.key') };
      const service = await startRawService(() => undefined, {
        make: (onSocket) => createTlsServer(pair, onSocket),
      });
      onTestFinished(service.stop);
      const { port } = new URL(which.startsWith('http ') ? service.url : home.sandbox.url);
      const [scheme, says] = which.startsWith('http ')
        ? ['http', 'it may speak HTTPS, and service.base_url says http://']
        : ['https', 'that port speaks plain HTTP, and service.base_url says https://'];
      const env = { COUNTERFOIL_SERVICE_BASE_URL: `${scheme}://127.0.0.1:${port}` };
      const { detail, fix } = await checkOf(home, 'service', 1, env);
      expect(detail).toContain(says);
      expect(fix).toContain('service.base_url');
      home.put('pay.csv', batchOf(1));
      expect((await home.run(['submit', 'pay.csv'], env)).err.replaceAll(/\s+/g, ' ')).toContain(says);
      expect((await home.run(['reconcile'], env)).err.replaceAll(/\s+/g, ' ')).toContain(says);
    },
  );

  it('P24: says so when the service lists transfers of the other mode', async () => {
    const home = await atHome();
    home.put('pay.csv', batchOf(1));
    home.sandbox.faults.set('PAY-0001', 'wrong_domain');
    await home.run(['submit', 'pay.csv']);
    const { detail } = await checkOf(home, 'service', 1);
    expect(detail).toContain('mode is test, but the service lists a live transfer');
  });

  it('says why deliveries were turned away, and which key to compare when none ever came through', async () => {
    const home = inProcess(await makeHome());
    const daemon = home.begin(['serve', '--json']);
    const { receiver } = JSON.parse(await daemon.line(/"ready":true/));
    for (const signature of ['ab', 'cd'])
      await fetch(`${receiver}/webhooks/test`, {
        method: 'POST',
        body: '{}',
        headers: { payloadsignature: signature.repeat(64) },
      });
    daemon.signal('SIGTERM');
    await daemon.done;
    const { detail, fix } = await checkOf(home, 'rejected deliveries', 1);
    expect(detail).toBe('in the last 24 hours: 2 payloadsignature wrong; none was ever taken');
    expect(fix).toContain('COUNTERFOIL_TEST_SECRET_KEY');
  });

  it('tells a clock that is off from one that agrees', async () => {
    const home = await atHome();
    const page = { current_page: 1, last_page: 1, per_page: 50, total: 0, data: [] };
    const json = JSON.stringify({ success: true, status: '00', data: page });
    const service = await startRawService(({ socket }) => {
      socket.write(httpReply(200, json, [`Date: ${new Date(Date.now() + 600_000).toUTCString()}`]));
    });
    onTestFinished(service.stop);
    const clock = await checkOf(home, 'clock', 1, { COUNTERFOIL_SERVICE_BASE_URL: service.url });
    expect(clock.detail).toMatch(/^(599|600|601) s behind the service's$/);
    expect(clock.fix).toContain('NTP');
  });

  it('names who holds the port of the receiver', async () => {
    const server = createServer();
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    onTestFinished(() => void server.close());
    const address = server.address();
    const port = typeof address === 'object' && address ? address.port : 0;
    const home = await atHome({
      COUNTERFOIL_RECEIVER_ENABLED: 'true',
      COUNTERFOIL_RECEIVER_PORT: String(port),
    });
    const { detail, fix } = await checkOf(home, 'receiver', 1);
    expect(detail).toContain(`pid ${process.pid}`);
    expect(fix).toContain('receiver.port');
  });

  it('shows its table where a lock cannot be looked at, and does not call that ok', async () => {
    const home = await atHome({ COUNTERFOIL_RECEIVER_ENABLED: 'true' });
    mkdirSync(`${home.dir}/data/locks/serve.lock`, { recursive: true });
    const { checks } = await home.json(['doctor', '--offline'], 0);
    expect(checks).toContainEqual({
      name: 'receiver',
      ok: null,
      detail: 'skipped: this account cannot see whether serve runs',
      fix: null,
    });
    expect((await home.run(['doctor', '--offline'])).out).toMatch(/^skip +receiver/m);
  });

  it('refuses an expired certificate of the receiver', async () => {
    const home = await atHome({ COUNTERFOIL_RECEIVER_ENABLED: 'true' });
    cpSync(fileURLToPath(new URL('../../fixtures/tls', import.meta.url)), `${home.dir}/tls`, {
      recursive: true,
    });
    const pair = (name: string): Env => ({
      COUNTERFOIL_RECEIVER_TLS_CERT: `tls/${name}.cert.pem`,
      COUNTERFOIL_RECEIVER_TLS_KEY: `tls/${name}.key.pem`,
    });
    const expired = await checkOf(home, 'certificate', 1, pair('expired'));
    expect(expired).toMatchObject({ ok: false, detail: expect.stringContaining('expired at') });
    // No serve runs, which is another failure.
    const trusted = await checkOf(home, 'certificate', 1, pair('trusted'));
    expect(trusted).toMatchObject({ ok: true, detail: expect.stringContaining('expires at') });
  });

  it('says that a ledger is damaged instead of failing itself', async () => {
    const home = await atHome();
    home.put('data/ledger.db', 'this is no database, whatever its name says. '.repeat(200));
    const { ok, detail } = await checkOf(home, 'ledger', 1);
    expect(ok).toBe(false);
    expect(detail).toContain('damaged or not a ledger');
  });
});

describe('after a signature refusal', () => {
  const refused = async (): Promise<Home> => {
    const home = await atHome({ COUNTERFOIL_TEST_ENCRYPTION_KEY: 'enc_test_not_the_right_one' });
    home.put('pay.csv', batchOf(2));
    expect((await home.run(['submit', 'pay.csv'])).code).toBe(4);
    return home;
  };

  it('P11: the halt and status name doctor, and doctor shows what was signed and with which key', async () => {
    const home = await refused();
    expect((await home.run(['status'])).out).toContain('First counterfoil doctor');
    const { out, code } = await home.run(['doctor', '--offline']);
    expect(code).toBe(1);
    expect(out).toContain('Signature of PAY-0001');
    expect(out).toContain('signed with    COUNTERFOIL_TEST_ENCRYPTION_KEY');
    expect(out).toContain('Bearer         COUNTERFOIL_TEST_SECRET_KEY');
    expect(out).toContain('service.signature_key: secret');
    expect(out).toContain('"account_number":"******0001"');
    expect(out).not.toContain('1000000001');
    expect(out).not.toContain('enc_test_not');
    expect(home.sandbox.requests.posts, 'doctor posts nothing').toBe(1);
  });

  it('gives the digests of the unmasked body as it was sent', async () => {
    const home = await refused();
    const { signature, ok } = await home.json(['doctor', '--offline'], 1);
    expect(ok).toBe(false);
    const { payout } = await home.json(['show', 'PAY-0001', '--full-accounts'], 0);
    // The frozen body has its fields in this order.
    const body = JSON.stringify(payout.order);
    const digest = signBody(body, 'enc_test_not_the_right_one');
    expect(signature.sha256).toBe(createHash('sha256').update(body).digest('hex'));
    expect(signature.signature).toEqual({ first: digest.slice(0, 8), last: digest.slice(-8) });
    expect(signature.text).toBe(body.replace('1000000001', '******0001'));
  });

  it('shows any payout by its reference, and a whole body only on a terminal', async () => {
    const home = await refused();
    const { signature } = await home.json(['doctor', '--offline', '--reference', 'pay-0002'], 1);
    expect(signature).toMatchObject({ reference: 'PAY-0002', sent_at: null });
    expect((await home.run(['doctor', '--reference', 'PAY-9'])).code).toBe(2);
    expect((await home.run(['doctor', '--show-body'])).code).toBe(2);
  });

  it('is silent about the signature once the service accepted one', async () => {
    const home = await refused();
    const { encryptionKey } = home.sandbox.keys.test;
    const env = { COUNTERFOIL_TEST_ENCRYPTION_KEY: encryptionKey };
    await home.run(['release', '--mode'], env);
    await home.run(['submit'], env);
    const { signature } = await home.json(['doctor', '--offline'], 0, env);
    expect(signature).toBeUndefined();
  });
});

describe('the signature doctor', () => {
  const [, , slash] = signatureVectors;
  const examine = (keys: { secretKeys: string[]; encryptionKeys: string[] }) =>
    examineSignature({
      body: slash?.body ?? '',
      keys,
      prefix: 'COUNTERFOIL_TEST',
      signatureKey: 'auto',
      authorizationKey: 'secret',
    });

  it('carries the known answers of the fixtures, and signs as they say', () => {
    const file = new URL('../../fixtures/vectors/signatures.json', import.meta.url);
    const { bank_transfer: all }: { bank_transfer: Json[] } = JSON.parse(readFileSync(file, 'utf8'));
    for (const vector of signatureVectors) expect(all).toContainEqual(vector);
    expect(testSigning()).toEqual({ total: 6, failed: [] });
  });

  it('says of every key and rotation value how to sign with it, and of the forms it cannot send that it cannot', () => {
    const facts = examine({ secretKeys: ['sk', 'sk-new'], encryptionKeys: ['enc', 'enc-new'] });
    const settings = facts?.untried.flatMap(({ key, setting }) =>
      setting === null ? [] : [`${key}: ${setting}`],
    );
    expect(settings).toEqual([
      'COUNTERFOIL_TEST_SECRET_KEY (value 1 of 2): service.signature_key: secret',
      'COUNTERFOIL_TEST_SECRET_KEY (value 2 of 2): service.signature_key: secret, and put value 2 first in COUNTERFOIL_TEST_SECRET_KEY',
      'COUNTERFOIL_TEST_ENCRYPTION_KEY (value 2 of 2): put value 2 first in COUNTERFOIL_TEST_ENCRYPTION_KEY',
    ]);
    expect(facts?.untried.filter(({ setting }) => setting === null).length).toBeGreaterThanOrEqual(12);
  });

  it('leaves out what gives the same signature as was sent', () => {
    const facts = examine({ secretKeys: ['same'], encryptionKeys: ['same'] });
    expect(facts?.untried.every(({ setting }) => setting === null)).toBe(true);
    const digests = facts?.untried.map(({ signature }) => signature.first) ?? [];
    expect(new Set(digests).size).toBe(digests.length);
  });
});
