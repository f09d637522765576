import { expect, it } from 'vitest';
import { systemClock } from '../../../../src/core/runtime/clock.ts';
import { type Dashboard, posted, startDashboard } from './support.ts';

const minuteMs = 60_000;
const token = 'bola-token-91d7aa40';

/** A clock whose monotonic time a test moves on. */
function movable() {
  let ahead = 0;
  const clock = systemClock();
  return {
    clock: { ...clock, monotonic: () => clock.monotonic() + ahead },
    pass(ms: number): void {
      ahead += ms;
    },
  };
}

async function signIn({ ask, port }: Dashboard, fields: Record<string, string> = { token }) {
  const answer = await ask('/signin', posted(fields, port));
  const [set = ''] = [answer.headers['set-cookie'] ?? ''].flat();
  return { ...answer, set, cookie: set.split(';')[0] ?? '' };
}

const reader = async ({ ask }: Dashboard, cookie: string): Promise<boolean> =>
  (await ask('/', { headers: { cookie } })).body.includes('signed in as bola');

it('signs in by a page with one field, and leads back to the page that asked', async () => {
  const dashboard = await startDashboard();
  const asked = await dashboard.ask('/reports/index.html', { headers: { accept: 'text/html' } });
  expect(asked.status).toBe(401);
  expect(asked.headers['www-authenticate']).toBeUndefined();
  expect(asked.body).toContain('name="back" value="/reports/index.html"');
  expect((await dashboard.ask('/signin')).body.match(/type="password"/g)).toHaveLength(1);
  const { status, headers, set, cookie } = await signIn(dashboard, { token, back: '/reports/index.html' });
  expect([status, headers.location]).toEqual([303, '/reports/index.html']);
  expect(set).toMatch(/; HttpOnly; SameSite=Strict$/);
  expect(await reader(dashboard, cookie)).toBe(true);
});

it.each(['//evil.example', '/\\evil.example', 'https://evil.example', 'javascript:alert(1)', '/a\r\nb: c'])(
  'never leads to %s',
  async (back) => {
    const { headers } = await signIn(await startDashboard(), { token, back });
    expect(headers.location).toBe('/');
  },
);

it('takes no wrong token, and only so many guesses', async () => {
  const dashboard = await startDashboard();
  for (let n = 0; n < 10; n++) expect((await signIn(dashboard, { token: `wrong-${n}` })).status).toBe(401);
  expect((await signIn(dashboard, { token: 'wrong' })).status).toBe(429);
  expect((await signIn(dashboard)).status).toBe(303);
});

it('ends after 30 idle minutes, and after 12 hours in any case', async () => {
  const { clock, pass } = movable();
  const dashboard = await startDashboard({ clock });
  const { cookie } = await signIn(dashboard);
  for (let n = 0; n < 24; n++) {
    pass(29 * minuteMs);
    expect(await reader(dashboard, cookie)).toBe(true);
  }
  pass(24 * minuteMs + 1000);
  expect(await reader(dashboard, cookie)).toBe(false);
  const idle = await signIn(dashboard);
  pass(30 * minuteMs + 1000);
  expect(await reader(dashboard, idle.cookie)).toBe(false);
});

it('ends by Sign out, on the server too', async () => {
  const dashboard = await startDashboard();
  const { cookie } = await signIn(dashboard);
  const { headers } = posted({}, dashboard.port);
  const out = await dashboard.ask('/signout', { method: 'POST', headers: { ...headers, cookie } });
  expect([out.headers['set-cookie']].flat()[0]).toMatch(/^counterfoil_session=; Path=\/; Max-Age=0/);
  expect(await reader(dashboard, cookie)).toBe(false);
});

it('never lets a cookie order anything from another site, or from a program that names no site', async () => {
  const dashboard = await startDashboard();
  const { cookie } = await signIn(dashboard);
  const { headers = {} } = posted({}, dashboard.port);
  const { origin: _origin, 'sec-fetch-site': _site, ...bare } = headers;
  const sites = [
    bare,
    { ...bare, origin: 'https://evil.example' },
    { ...headers, 'sec-fetch-site': 'cross-site' },
    { ...headers, 'sec-fetch-site': 'same-site' },
    { ...bare, 'sec-fetch-site': 'none' },
  ];
  for (const site of sites) {
    const { status } = await dashboard.ask('/halt', { method: 'POST', headers: { ...site, cookie } });
    expect(status, JSON.stringify(site)).toBe(403);
  }
});

it('takes no cookie but its own', async () => {
  const dashboard = await startDashboard();
  const { cookie } = await signIn(dashboard);
  const value = cookie.split('=')[1] ?? '';
  const flipped = `${value.startsWith('A') ? 'B' : 'A'}${value.slice(1)}`;
  for (const other of [flipped, value.slice(1), '', '__proto__', `${value}x`])
    expect(await reader(dashboard, `counterfoil_session=${other}`)).toBe(false);
  expect(await reader(dashboard, `theme=dark; ${cookie}`)).toBe(true);
});
