import { copyFileSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { request } from 'node:https';
import { join } from 'node:path';
import { connect, type SecureVersion, type TLSSocket } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { type Clock, systemClock } from '../../../src/core/runtime/clock.ts';
import { TlsProblem } from '../../../src/watching/webhooks/tls.ts';
import { flat, makeHome, until } from '../../support/cli.ts';
import { dial, proofOf, type Running, startReceiver } from '../../support/receiver.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';

const fixture = (name: string): string =>
  fileURLToPath(new URL(`../../fixtures/tls/${name}`, import.meta.url));
const body = '{"event":"payout","reference":"A-1"}';

let dir = '';
let running: Running | undefined;
const certFile = (): string => join(dir, 'cert.pem');
const keyFile = (): string => join(dir, 'key.pem');
const put = (cert: string, key = cert): void => {
  copyFileSync(fixture(`${cert}.cert.pem`), certFile());
  copyFileSync(fixture(`${key}.key.pem`), keyFile());
};
const start = async (deps: Parameters<typeof startReceiver>[0] = {}): Promise<Running> => {
  running = await startReceiver({ ...deps, receiver: { tlsCert: certFile(), tlsKey: keyFile() } });
  return running;
};
/** Delivers over TLS; resolves with the status and the name in the certificate that was shown. */
const deliver = (url: string): Promise<string> =>
  new Promise((resolve, reject) => {
    const options = { method: 'POST', headers: proofOf(body), rejectUnauthorized: false, agent: false };
    const sent = request(`${url}/webhooks/test`, options, (reply) => {
      const { CN } = (reply.socket as TLSSocket).getPeerCertificate().subject;
      reply.resume().on('end', () => resolve(`${reply.statusCode} ${CN}`));
    });
    sent.on('error', reject);
    sent.end(body);
  });
const shake = (port: number, maxVersion: SecureVersion, minVersion: SecureVersion): Promise<string> =>
  new Promise((resolve) => {
    const versions = { minVersion, maxVersion, ciphers: 'DEFAULT@SECLEVEL=0' };
    const socket = connect({ port, host: '127.0.0.1', rejectUnauthorized: false, ...versions });
    socket.once('secureConnect', () => resolve(socket.getProtocol() ?? ''));
    socket.once('error', () => resolve('refused'));
    socket.once('close', () => resolve('refused'));
  });
/** The system's clock, on which the certificates' years can be passed and nobody waits for long. */
const clockAt = (instant: string): Clock => {
  const system = systemClock();
  const shift = Date.parse(instant) - system.now();
  const now = (): number => system.now() + shift;
  return {
    ...system,
    now,
    iso: () => new Date(now()).toISOString(),
    sleep: (ms, signal) => system.sleep(Math.min(ms, 50), signal),
  };
};

beforeEach(() => {
  dir = temporaryFolder();
});
afterEach(async () => {
  await running?.remove();
  running = undefined;
});

describe('the receiver with a certificate', () => {
  it('hears webhooks over TLS 1.2 and 1.3, and nothing older, and not in the clear', async () => {
    put('trusted');
    const { url, port, ledger } = await start();
    expect(url).toMatch(/^https:/);
    expect(await deliver(url)).toBe('200 trusted');
    const row = await ledger.db.selectFrom('webhooks').select('headers').executeTakeFirstOrThrow();
    expect(JSON.parse(row.headers)).toMatchObject({
      'source-protocol': 'https',
      'source-address': '127.0.0.1',
    });
    expect(await shake(port, 'TLSv1.3', 'TLSv1.3')).toBe('TLSv1.3');
    expect(await shake(port, 'TLSv1.2', 'TLSv1.2')).toBe('TLSv1.2');
    expect(await shake(port, 'TLSv1.1', 'TLSv1')).toBe('refused');
    await expect(fetch(`http://127.0.0.1:${port}/webhooks/test`, { method: 'POST', body })).rejects.toThrow();
    expect(await deliver(url)).toBe('200 trusted');
  });

  it('bounds connections that never finish a handshake, and hears others beside them', async () => {
    put('trusted');
    const { url, port } = await start({ limits: { perAddress: 5 } });
    const silent = await Promise.all(Array.from({ length: 10 }, () => dial(port)));
    for (const socket of silent) socket.on('error', () => undefined);
    expect(await deliver(url)).toBe('200 trusted');
    for (const socket of silent) socket.destroy();
  });

  it.each<[string, () => void, RegExp]>([
    [
      'a file that is not there',
      () => rmSync(certFile()),
      /^receiver\.tls_cert: .*cert\.pem does not exist$/,
    ],
    [
      'no certificate',
      () => writeFileSync(certFile(), 'nonsense'),
      /tls_cert: .*cert\.pem holds no certificate in PEM form/,
    ],
    [
      'no key',
      () => writeFileSync(keyFile(), 'nonsense'),
      /tls_key: .*key\.pem holds no private key in PEM form/,
    ],
    [
      'the key of another',
      () => put('trusted', 'stranger'),
      /tls_key: .*key\.pem is not the key of the certificate in .*cert\.pem/,
    ],
    [
      'the two exchanged',
      () => {
        copyFileSync(fixture('trusted.key.pem'), certFile());
        copyFileSync(fixture('trusted.cert.pem'), keyFile());
      },
      /tls_cert: .* holds no certificate/,
    ],
  ])('does not start with %s, and says so', async (_what, spoil, message) => {
    put('trusted');
    spoil();
    const problem = await start().catch((error: unknown) => error);
    expect(problem).toBeInstanceOf(TlsProblem);
    expect(String((problem as Error).message)).toMatch(message);
  });

  it('starts with an expired one, since payouts need no webhooks, and says plainly what will come of it', async () => {
    put('expired');
    const { logged, url } = await start();
    expect(logged.join()).toMatch(
      /expired at 2021-01-01T00:00:00\.000Z: the service will refuse to deliver webhooks/,
    );
    expect(await deliver(url)).toBe('200 expired');
  });

  it('warns before it expires', async () => {
    put('trusted');
    const { logged } = await start({ clock: clockAt('2119-12-25T10:00:00Z') });
    expect(logged.join()).toMatch(/expires soon \(valid until 2120-01-01T00:00:00\.000Z\): renew it/);
  });
});

describe('a renewed certificate', () => {
  it('is used without a restart: by itself, while connections stay', async () => {
    put('trusted');
    const { url } = await start({ clock: clockAt('2026-11-21T10:00:00Z') });
    expect(await deliver(url)).toBe('200 trusted');
    put('stranger');
    await until(
      5000,
      () => deliver(url),
      (told) => told === '200 stranger',
    );
  });

  it('is used at once when asked to reload', async () => {
    put('trusted');
    const { url, receiver } = await start();
    put('stranger');
    await receiver.reload();
    expect(await deliver(url)).toBe('200 stranger');
  });

  it.each<[string, () => void, RegExp]>([
    ['half written', () => put('stranger', 'trusted'), /is not the key of the certificate/],
    ['gone', () => rmSync(keyFile()), /does not exist/],
    ['empty', () => writeFileSync(certFile(), ''), /holds no certificate/],
    ['expired', () => put('expired'), /expired at 2021/],
  ])(
    'that is %s is not used: the old one stays, with one warning, until a good one comes',
    async (_what, spoil, message) => {
      put('trusted');
      const { url, receiver, logged } = await start({ clock: clockAt('2026-11-21T10:00:00Z') });
      spoil();
      await receiver.reload();
      await receiver.reload();
      expect(await deliver(url)).toBe('200 trusted');
      const warnings = logged.filter((line) => message.test(line));
      expect(warnings).toHaveLength(1);
      expect(warnings.join()).toMatch(/keeps the certificate it has, valid until 2120-/);
      put('stranger');
      await receiver.reload();
      expect(await deliver(url)).toBe('200 stranger');
    },
  );
});

describe('serve', () => {
  it('ends with 2 and a sentence for one file without the other, and for a key of another', async () => {
    const home = await makeHome();
    const one = await home.run(['serve'], { COUNTERFOIL_RECEIVER_TLS_CERT: 'cert.pem' });
    expect([one.code, one.err]).toEqual([2, expect.stringContaining('receiver.tls_key')]);
    home.put('cert.pem', readFileSync(fixture('trusted.cert.pem')));
    home.put('key.pem', readFileSync(fixture('stranger.key.pem')));
    const files = { COUNTERFOIL_RECEIVER_TLS_CERT: 'cert.pem', COUNTERFOIL_RECEIVER_TLS_KEY: 'key.pem' };
    const other = await home.run(['serve'], files);
    expect([other.code, flat(other.err)]).toEqual([
      2,
      expect.stringContaining('is not the key of the certificate'),
    ]);
  });

  it('uses a renewed certificate on SIGHUP, and goes on', async () => {
    const home = await makeHome();
    home.put('cert.pem', readFileSync(fixture('trusted.cert.pem')));
    home.put('key.pem', readFileSync(fixture('trusted.key.pem')));
    const files = { COUNTERFOIL_RECEIVER_TLS_CERT: 'cert.pem', COUNTERFOIL_RECEIVER_TLS_KEY: 'key.pem' };
    const daemon = home.start(['serve', '--json'], files);
    const { receiver: url } = JSON.parse(await daemon.line(/"ready":true/));
    expect(await deliver(url)).toBe('401 trusted');
    home.put('cert.pem', readFileSync(fixture('stranger.cert.pem')));
    home.put('key.pem', readFileSync(fixture('stranger.key.pem')));
    daemon.signal('SIGHUP');
    await daemon.line(/uses the renewed certificate/);
    expect(await deliver(url)).toBe('401 stranger');
    daemon.signal('SIGTERM');
    expect((await daemon.done).code).toBe(0);
  });
});
