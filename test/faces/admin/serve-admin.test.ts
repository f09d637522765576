import { readFileSync } from 'node:fs';
import { request } from 'node:https';
import { createServer } from 'node:net';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { flat } from '../../support/cli.ts';
import { makeHome } from '../../support/decided.ts';

const fixture = (name: string): Buffer =>
  readFileSync(fileURLToPath(new URL(`../../fixtures/tls/${name}`, import.meta.url)));

it.each([
  [{}, /COUNTERFOIL_ADMIN_TOKENS.*admin\.tls_cert/],
  [{ COUNTERFOIL_ADMIN_TOKENS: 'ada:token' }, /admin\.tls_cert and tls_key, or name the TLS proxy/],
  [{ COUNTERFOIL_ADMIN_TRUST_PROXY: '["10.0.0.2"]' }, /set COUNTERFOIL_ADMIN_TOKENS \(name:token/],
])('refuses to start where other machines could reach it: %j', async (env, fix) => {
  const home = await makeHome();
  const done = await home.run(['serve'], { COUNTERFOIL_ADMIN_HOST: '0.0.0.0', ...env });
  expect(done.code, done.err).toBe(2);
  expect(flat(done.err)).toMatch(fix);
});

it('listens elsewhere with tokens and TLS, and wants a token even on this machine through another name', async () => {
  const home = await makeHome();
  home.put('cert.pem', fixture('trusted.cert.pem'));
  home.put('key.pem', fixture('trusted.key.pem'));
  home.put('token.txt', 'ada:token-5f2c8e1b\n');
  const daemon = home.begin(['serve', '--json'], {
    COUNTERFOIL_ADMIN_HOST: '0.0.0.0',
    COUNTERFOIL_ADMIN_TLS_CERT: 'cert.pem',
    COUNTERFOIL_ADMIN_TLS_KEY: 'key.pem',
    COUNTERFOIL_ADMIN_TOKENS_FILE: 'token.txt',
  });
  const { admin } = JSON.parse(await daemon.line(/"ready":true/));
  const port = Number(new URL(admin).port);
  const get = (path: string, headers: Record<string, string>): Promise<{ status: number; body: string }> =>
    new Promise((resolve, reject) => {
      const options = { host: '127.0.0.1', port, path, headers, rejectUnauthorized: false, agent: false };
      request(options, (reply) => {
        let body = '';
        reply.on('data', (chunk: Buffer) => (body += chunk));
        reply.on('end', () => resolve({ status: reply.statusCode ?? 0, body }));
      })
        .on('error', reject)
        .end();
    });
  expect(await get('/healthz', {})).toEqual({ status: 200, body: 'ok\n' });
  const metrics = await get('/metrics', { authorization: 'Bearer token-5f2c8e1b' });
  expect(metrics.status).toBe(200);
  expect(metrics.body).toMatch(/counterfoil_certificate_expiry_timestamp_seconds\{server="admin"\} \d{10}/);
  expect((await get('/metrics', { 'x-forwarded-for': '192.0.2.7' })).status).toBe(401);
  expect((await get('/metrics', { authorization: 'Bearer wrong' })).status).toBe(401);
  daemon.signal('SIGTERM');
  expect((await daemon.done).code).toBe(0);
});

it('names the port that another program has, and the setting', async () => {
  const other = createServer();
  await new Promise<void>((resolve) => other.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => void other.close());
  const address = other.address();
  const port = typeof address === 'object' && address ? String(address.port) : '';
  const home = await makeHome();
  const done = await home.run(['serve'], { COUNTERFOIL_ADMIN_PORT: port });
  expect(done.code).toBe(1);
  expect(done.err).toContain(`the admin server cannot listen on 127.0.0.1:${port} (admin.port)`);
});

it('serves no admin pages when it is off', async () => {
  const home = await makeHome({}, { COUNTERFOIL_ADMIN_ENABLED: 'false' });
  const daemon = home.begin(['serve', '--json']);
  expect(JSON.parse(await daemon.line(/"ready":true/))).toMatchObject({ ready: true, admin: null });
  daemon.signal('SIGTERM');
  expect((await daemon.done).code).toBe(0);
});
