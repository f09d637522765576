import { request } from 'node:http';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../../src/core/runtime/clock.ts';
import { roleNames } from '../../../src/core/settings/settings-schema.ts';
import type { Routes } from '../../../src/faces/admin/admin-server.ts';
import { healthRoutes } from '../../../src/faces/admin/health.ts';
import { exchange, statusesOf } from '../../support/receiver.ts';
import { startAdmin, tokens } from './support.ts';

type Answer = { status: number; body: string; headers: Record<string, unknown> };

/** `fetch` sets Host and Sec-Fetch-Site itself; a plain request sends what it is given. */
function ask(
  port: number,
  path: string,
  { method = 'GET', headers = {} }: { method?: string; headers?: Record<string, string> } = {},
): Promise<Answer> {
  return new Promise((resolve, reject) => {
    const sent = request({ host: '127.0.0.1', port, path, method, headers, agent: false }, (reply) => {
      let body = '';
      reply.on('data', (chunk: Buffer) => (body += chunk));
      reply.on('end', () => resolve({ status: reply.statusCode ?? 0, body, headers: reply.headers }));
    });
    sent.on('error', reject);
    sent.end();
  });
}

const bearer = (token: string) => ({ authorization: `Bearer ${token}` });
const basic = (pair: string) => ({ authorization: `Basic ${Buffer.from(pair).toString('base64')}` });
const ada = bearer(tokens[0]?.token ?? '');

/** One route for each right. They answer with who asked. */
const routes: Routes = (server, { requireRight }) => {
  server.get('/figures', async (request) => request.caller);
  server.get('/account', { config: { right: 'read' } }, async (request) => request.caller);
  server.get('/story', async (request) => {
    requireRight(request, 'read');
    return request.caller;
  });
  server.post('/release', async (request) => request.caller);
};

const start = (over: Parameters<typeof startAdmin>[0] = {}) =>
  startAdmin({ ...over, routes: [healthRoutes(async () => []), routes] });

describe('a caller on this machine', () => {
  it.each([
    ['reads figures without a token', 'GET', '/figures', {}, 200],
    ['sees no bank details without a token', 'GET', '/account', {}, 401],
    ['sees no bank details inside a page without a token', 'GET', '/story', {}, 401],
    ['decides nothing without a token', 'POST', '/release', {}, 401],
    ['sees bank details with a token', 'GET', '/account', ada, 200],
    ['decides with a token', 'POST', '/release', ada, 200],
    ['may send the token as a password', 'GET', '/account', basic(`ada:${tokens[0]?.token}`), 200],
    ['is refused with an unknown token', 'GET', '/figures', bearer('wrong'), 401],
    ['is refused with a token and more', 'GET', '/figures', bearer(`${tokens[0]?.token}x`), 401],
    ['is refused with the name and the token', 'GET', '/figures', bearer(`ada:${tokens[0]?.token}`), 401],
    ['is refused with an empty password', 'GET', '/figures', basic('ada:'), 401],
    ['is refused with another scheme', 'GET', '/figures', { authorization: 'Digest x' }, 401],
    ['needs a token behind a proxy', 'GET', '/figures', { 'x-forwarded-for': '192.0.2.7' }, 403],
    ['is refused under a foreign host', 'GET', '/figures', { host: 'evil.example:80' }, 421],
    [
      'is refused under a foreign host with a token',
      'GET',
      '/account',
      { ...ada, host: 'evil.example' },
      421,
    ],
    ['is refused under a foreign host even on /healthz', 'GET', '/healthz', { host: 'evil.example' }, 421],
    ['may say localhost', 'GET', '/figures', { host: 'localhost:1' }, 200],
    ['may say ::1', 'GET', '/figures', { host: '[::1]:1' }, 200],
    ['posts from no other site', 'POST', '/release', { ...ada, origin: 'https://evil.example' }, 403],
    [
      'posts from no other port',
      'POST',
      '/release',
      { ...ada, host: '127.0.0.1:1', origin: 'http://127.0.0.1:2' },
      403,
    ],
    ['posts from no opaque origin', 'POST', '/release', { ...ada, origin: 'null' }, 403],
    ['posts from no neighbouring site', 'POST', '/release', { ...ada, 'sec-fetch-site': 'same-site' }, 403],
    [
      'posts from its own pages',
      'POST',
      '/release',
      { ...ada, host: '127.0.0.1:1', origin: 'http://127.0.0.1:1' },
      200,
    ],
    ['finds no other page', 'GET', '/nothing', {}, 404],
  ])('%s', async (_title, method, path, headers, status) => {
    const { port } = await start();
    const answer = await ask(port, path, { method, headers });
    expect(answer.status, answer.body).toBe(status);
    if (status === 200 && 'authorization' in headers) expect(answer.body).toContain('"name":"ada"');
    if (status === 401) expect(answer.headers['www-authenticate']).toContain('Bearer');
  });
});

describe('a caller on another machine', () => {
  const forwarded = { 'x-forwarded-for': '192.0.2.7', 'x-forwarded-proto': 'https', host: 'pay.example' };

  it.each([
    ['reads nothing without a token', '/figures', forwarded, 401],
    ['learns that the process lives', '/healthz', forwarded, 200],
    ['does not learn what is wrong without a token', '/readyz', forwarded, 401],
    ['reads with a token', '/account', { ...forwarded, ...ada }, 200],
    [
      'is refused when it reached the proxy without TLS',
      '/account',
      { ...forwarded, ...ada, 'x-forwarded-proto': 'http' },
      403,
    ],
    [
      'cannot say that it is on this machine',
      '/figures',
      { ...forwarded, 'x-forwarded-for': '127.0.0.1' },
      401,
    ],
    [
      'is not on this machine because its proxy is',
      '/figures',
      { host: '127.0.0.1', 'x-forwarded-proto': 'https' },
      401,
    ],
  ])('%s', async (_title, path, headers, status) => {
    const { port } = await start({ admin: { trustProxy: ['127.0.0.1'] } });
    const answer = await ask(port, path, { headers });
    expect(answer.status, answer.body).toBe(status);
  });
});

it('is not fooled by a second Host header (RFC 9112, 3.2)', async () => {
  const { port } = await start();
  const hosts = 'Host: 127.0.0.1\r\nHost: evil.example\r\n';
  const said = await exchange(port, [`GET /figures HTTP/1.1\r\n${hosts}Connection: close\r\n\r\n`]);
  expect(statusesOf(said)).toEqual([421]);
});

it('says how to make a token where there is none', async () => {
  const { port } = await start({ tokens: [] });
  const answer = await ask(port, '/release', { method: 'POST' });
  expect(answer.status).toBe(403);
  expect(answer.body).toContain('COUNTERFOIL_ADMIN_TOKENS');
});

it('stops the guessing of tokens after ten in a minute, and never a right token', async () => {
  let nowMs = 0;
  const { port } = await start({ clock: { ...systemClock(), monotonic: () => nowMs } });
  for (let n = 0; n < 10; n++)
    expect((await ask(port, '/figures', { headers: bearer(`guess-${n}`) })).status).toBe(401);
  const wrong = await ask(port, '/figures', { headers: bearer('guess-10') });
  expect(wrong.status).toBe(429);
  expect(wrong.headers['retry-after']).toBe('60');
  expect((await ask(port, '/figures', { headers: ada })).status).toBe(200);
  expect((await ask(port, '/figures')).status).toBe(200);
  nowMs = 60_000;
  expect((await ask(port, '/figures', { headers: bearer('guess-11') })).status).toBe(401);
});

describe('the roles of a token', () => {
  const everyRole: Routes = (server) => {
    for (const right of ['figures', ...roleNames] as const)
      server.get(`/${right}`, { config: { right } }, async () => right);
    server.post('/other', async () => 'done');
  };
  const statusesFor = async (roles: readonly (typeof roleNames)[number][]) => {
    const { port } = await startAdmin({ routes: [everyRole], admin: { roles: { ada: [...roles] } } });
    const asked = ['figures', ...roleNames].map((path) => ask(port, `/${path}`, { headers: ada }));
    return [...(await Promise.all(asked)), await ask(port, '/other', { method: 'POST', headers: ada })].map(
      ({ status }) => status,
    );
  };

  it.each(roleNames)('%s allows its own and nothing else', async (role) => {
    const own = roleNames.map((one) => (one === role ? 200 : 403));
    expect(await statusesFor([role])).toEqual([200, ...own, role === 'decide' ? 200 : 403]);
  });

  it('lets a token without any read figures only', async () => {
    expect(await statusesFor([])).toEqual([200, 403, 403, 403, 403, 403]);
  });

  it('lets a name without an entry do all', async () => {
    const { port } = await startAdmin({ routes: [everyRole], admin: { roles: { bola: [] } } });
    for (const role of roleNames) expect((await ask(port, `/${role}`, { headers: ada })).status).toBe(200);
  });

  it('takes Ada and ada for one person', async () => {
    const { port } = await startAdmin({ routes: [everyRole], admin: { roles: { Ada: ['read'] } } });
    const [read, decide] = ['read', 'decide'].map((path) => ask(port, `/${path}`, { headers: ada }));
    expect([(await read)?.status, (await decide)?.status]).toEqual([200, 403]);
  });

  it('says which role is missing, and to whom', async () => {
    const { port } = await startAdmin({ routes: [everyRole], admin: { roles: { ada: ['read'] } } });
    const { body } = await ask(port, '/decide', { headers: ada });
    expect(body).toContain('the token of ada has no right to this (a decision)');
    expect(body).toContain('ask bola, who may do it (role decide)');
  });
});

it('sends headers that forbid caching, framing and foreign content', async () => {
  const { port } = await start();
  const { headers } = await ask(port, '/figures');
  expect(headers).toMatchObject({
    'cache-control': 'no-store',
    'x-content-type-options': 'nosniff',
    'x-frame-options': 'DENY',
    'referrer-policy': 'no-referrer',
  });
  expect(headers['content-security-policy']).toContain("default-src 'none'");
});

it('answers 500 without the reason when a page fails', async () => {
  const failing: Routes = (server) =>
    void server.get('/broken', async () => {
      throw new Error('secret detail');
    });
  const { port } = await startAdmin({ routes: [failing] });
  const answer = await ask(port, '/broken');
  expect(answer.status).toBe(500);
  expect(answer.body).not.toContain('secret');
});
