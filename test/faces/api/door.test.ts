import { readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { connect } from 'node:net';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import Database from 'better-sqlite3';
import { expect, it } from 'vitest';
import { batchOf, type Json } from '../../support/cli.ts';
import { type PersonName, type Served, serveApi, tokenOf } from './support.ts';

const csvType = { 'content-type': 'text/csv' };
const jsonType = { 'content-type': 'application/json' };
const formType = { 'content-type': 'multipart/form-data' };
const boundary = { 'content-type': 'multipart/form-data; boundary=XX' };
const file = batchOf(1, 900);
const cutForm = `--XX\r\nContent-Disposition: form-data; name="file"; filename="x.csv"\r\n\r\n${file}`;
const post = (name: PersonName | null, path: string, body: RequestInit['body'], headers = {}) => ({
  name,
  path,
  init: { method: 'POST', body: body ?? null, headers },
});
const bearer = (name: PersonName): string => `Authorization: Bearer ${tokenOf(name)}`;

/** A try to get in that must be turned away, by the status that it may be answered with. */
type Try = { title: string; status: number[] } & (
  | { kind: 'fetch'; name: PersonName | null; path: string; init: RequestInit }
  | { kind: 'raw'; text: (port: number) => string }
);
const asked = (title: string, status: number | number[], one: ReturnType<typeof post>): Try => ({
  ...{ kind: 'fetch', title, status: [status].flat() },
  ...one,
});
const raw = (title: string, status: number[], text: (port: number) => string): Try => ({
  ...{ kind: 'raw', title, status },
  text,
});
const head = (port: number, first: string, ...lines: string[]): string =>
  [`${first} HTTP/1.1`, `Host: 127.0.0.1:${port}`, ...lines, '', ''].join('\r\n');

const hold = '/batches/BATCH/hold';
const approve = '/batches/BATCH/approve';
const tries: Try[] = [
  asked('no token', 401, post(null, '/batches?name=x.csv', file, csvType)),
  asked('a token in a query', 401, post(null, `/batches?name=x.csv&token=${tokenOf('dayo')}`, file, csvType)),
  asked(
    'an unknown token',
    401,
    post(null, hold, '{}', { ...jsonType, authorization: 'Bearer no-such-token-5f2c8e1b' }),
  ),
  asked(
    'a cookie alone',
    401,
    post(null, hold, '{}', {
      ...jsonType,
      cookie: `session=${tokenOf('femi')}; counterfoil=${tokenOf('femi')}`,
    }),
  ),
  asked('another right: drop decides', 403, post('dayo', hold, '{}', jsonType)),
  asked('another right: decide approves', 403, post('femi', approve, '{"digest":"x"}', jsonType)),
  asked('another right: approve drops', 403, post('ada', '/batches?name=x.csv', file, csvType)),
  asked('another right: no role reads payouts', 403, { name: 'eve', path: '/payouts', init: {} } as never),
  asked(
    'from another site by Origin',
    403,
    post('femi', hold, '{}', { ...jsonType, origin: 'https://evil.example' }),
  ),
  asked('from a sandboxed frame', 403, post('femi', hold, '{}', { ...jsonType, origin: 'null' })),
  raw(
    'from another site by Sec-Fetch-Site',
    [403],
    (port) =>
      `${head(port, 'POST /api/v1/batches/BATCH/hold', bearer('femi'), 'Sec-Fetch-Site: cross-site', 'Content-Type: application/json', 'Content-Length: 2', 'Connection: close')}{}`,
  ),
  raw(
    'another Host',
    [421],
    (port) =>
      `${head(port, 'GET /api/v1/payouts', bearer('rita')).replace(/Host: .*/, 'Host: evil.example\r\nConnection: close')}`,
  ),
  asked(
    'a form, as any page can post one',
    415,
    post('femi', hold, 'a=b', { 'content-type': 'application/x-www-form-urlencoded' }),
  ),
  asked(
    'text/plain, as any page can post it',
    415,
    post('femi', hold, '{}', { 'content-type': 'text/plain' }),
  ),
  asked('a file as JSON', 415, post('dayo', '/batches?name=x.csv', JSON.stringify(file), jsonType)),
  asked('a file that is called JSON', 415, post('dayo', '/batches?name=x.csv', file, jsonType)),
  asked('a form without a boundary', 400, post('dayo', '/batches', file, formType)),
  asked('another form than its boundary says', 400, post('dayo', '/batches', file, boundary)),
  asked('a form that breaks off', 400, post('dayo', '/batches', cutForm, boundary)),
  asked(
    'a compressed file',
    415,
    post('dayo', '/batches?name=x.csv', gzipSync(file), { ...csvType, 'content-encoding': 'gzip' }),
  ),
  asked(
    'a body of JSON that is too large',
    413,
    post('femi', hold, `{"a":"${'x'.repeat(70_000)}"}`, jsonType),
  ),
  asked('a file that is too large', 413, post('dayo', '/batches?name=x.csv', 'x'.repeat(200_000), csvType)),
  asked('a file that is too large and does not say so', 413, {
    ...{ name: 'dayo', path: '/batches?name=x.csv' },
    init: {
      method: 'POST',
      body: new Blob(['x'.repeat(200_000)]).stream(),
      duplex: 'half',
      headers: csvType,
    },
  } as never),
  asked('no JSON', [400, 422], post('femi', hold, '{"a":', jsonType)),
  asked('a list for an object', 422, post('femi', hold, '[]', jsonType)),
  asked('unknown fields', 422, post('femi', hold, '{"force":true}', jsonType)),
  asked('a prototype key', [400, 422], post('femi', hold, '{"__proto__":{"right":"decide"}}', jsonType)),
  asked(
    'a constructor key',
    [400, 422],
    post('femi', hold, '{"constructor":{"prototype":{"x":1}}}', jsonType),
  ),
  asked('a prototype key in the query', 422, post('dayo', '/batches?name=x.csv&__proto__=1', file, csvType)),
  asked('a name without .csv', 422, post('dayo', '/batches?name=x.exe', file, csvType)),
  asked('a hidden name', 422, post('dayo', '/batches?name=.csv', file, csvType)),
  asked('a name with a NUL', 422, post('dayo', '/batches?name=a%00b.csv', file, csvType)),
  asked('a name of 300 letters', 422, post('dayo', `/batches?name=${'a'.repeat(300)}.csv`, file, csvType)),
  asked(
    'a name of 300 bytes',
    422,
    post('dayo', `/batches?name=${encodeURIComponent('é'.repeat(148))}.csv`, file, csvType),
  ),
  asked(
    'a control figure twice',
    422,
    post('dayo', '/batches?name=x.csv&total.ngn=1.00&total.ngn=1.00', file, csvType),
  ),
  asked(
    'a control figure in two cases',
    422,
    post('dayo', '/batches?name=x.csv&total.NGN=1.00&total.ngn=43.00', file, csvType),
  ),
  asked('no name', 422, post('dayo', '/batches', file, csvType)),
  asked('a name twice', 422, post('dayo', '/batches?name=a.csv&name=b.csv', file, csvType)),
  asked('an empty Idempotency-Key', 422, post('femi', hold, '{}', { ...jsonType, 'idempotency-key': '' })),
  asked(
    'a long Idempotency-Key',
    422,
    post('femi', hold, '{}', { ...jsonType, 'idempotency-key': 'k'.repeat(201) }),
  ),
  raw(
    'a file that is announced as too large, before it is sent',
    [413],
    (port) =>
      `${head(port, 'POST /api/v1/batches?name=x.csv', bearer('dayo'), 'Content-Type: text/csv', 'Content-Length: 200000')}refer`,
  ),
  raw('a sheet that no run has', [404], (port) =>
    head(port, 'GET /api/v1/runs/x/nothing.csv', bearer('rita'), 'Connection: close'),
  ),
  raw('a path with dots', [404, 401], (port) =>
    head(port, 'GET /api/v1/runs/../../../etc/passwd', bearer('rita'), 'Connection: close'),
  ),
  raw('encoded slashes and dots', [404, 422], (port) =>
    head(port, 'GET /api/v1/batches/..%2f..%2f..%2fetc/results.csv', bearer('rita'), 'Connection: close'),
  ),
  raw('a sheet that is another file', [404, 422], (port) =>
    head(port, 'GET /api/v1/runs/x/..%2f..%2fledger.csv', bearer('rita'), 'Connection: close'),
  ),
  raw('a method that is overridden', [404, 401, 403, 405], (port) =>
    head(
      port,
      'GET /api/v1/batches/BATCH/hold',
      bearer('femi'),
      'X-HTTP-Method-Override: POST',
      'Connection: close',
    ),
  ),
  raw(
    'two lengths',
    [400],
    (port) =>
      `${head(port, 'POST /api/v1/batches/BATCH/hold', bearer('femi'), 'Content-Type: application/json', 'Content-Length: 2', 'Content-Length: 0')}{}`,
  ),
  raw(
    'a length and chunks, with a request behind',
    [400],
    (port) =>
      `${head(port, 'POST /api/v1/batches?name=x.csv', bearer('eve'), 'Content-Type: text/csv', 'Content-Length: 5', 'Transfer-Encoding: chunked')}0\r\n\r\n${head(port, 'POST /api/v1/batches/BATCH/hold', bearer('femi'))}`,
  ),
  raw(
    'chunks by a trick',
    [400, 403, 501],
    (port) =>
      `${head(port, 'POST /api/v1/batches?name=x.csv', bearer('eve'), 'Content-Type: text/csv', 'Transfer-Encoding: xchunked')}0\r\n\r\n`,
  ),
  raw('a line that is folded', [400], (port) =>
    head(port, 'GET /api/v1/payouts', 'X: a', ` ${bearer('rita')}`, 'Connection: close'),
  ),
];

/** Sends the bytes, and returns what comes back until the end. */
function exchange(port: number, text: string): Promise<string> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1', () => socket.write(text));
    let answer = '';
    socket.setEncoding('utf8').on('data', (piece) => (answer += piece));
    socket.on('error', () => resolve(answer)).on('close', () => resolve(answer));
    setTimeout(() => socket.end(), 3000);
    setTimeout(() => reject(new Error('no end')), 20_000).unref();
  });
}

async function answerTo(one: Try, { ask, port }: Served, batch: string): Promise<number[]> {
  if (one.kind === 'fetch') return [(await ask(one.name, one.path.replace('BATCH', batch), one.init)).status];
  const answer = await exchange(port, one.text(port).replaceAll('BATCH', batch));
  return [...answer.matchAll(/^HTTP\/1\.1 (\d{3})/gm)].map(([, status]) => Number(status));
}

it(`turns away ${tries.length} tries at the door, and does nothing`, async () => {
  const served = await serveApi(
    {},
    { COUNTERFOIL_SCHEDULES_SUBMIT: '', COUNTERFOIL_INTAKE_MAX_BYTES: '100000' },
  );
  const { batch } = await served.as('dayo').postBatch(batchOf(2), { name: 'pay.csv' });
  const before: Json = (await served.as('eve').listBatches()).batches;
  const through: unknown[] = [];
  for (const one of tries) {
    const statuses = await answerTo(one, served, batch);
    const isOut = statuses.length > 0 && statuses.every((status) => one.status.includes(status));
    if (!isOut) through.push([one.title, statuses]);
  }
  expect(through).toEqual([]);
  expect((await served.as('eve').listBatches()).batches).toEqual(before);
  expect(readdirSync(join(served.home.dir, 'data/uploads'))).toEqual([]);
}, 120_000);

it.each([
  ['../../x.csv', 'x.csv'],
  ['..\\..\\y.csv', 'y.csv'],
  ['/etc/z.csv', 'z.csv'],
  ['<script>.csv', '<script>.csv'],
])('takes the last part of a hostile name: %s', async (name, kept) => {
  const { ask, home } = await serveApi({}, { COUNTERFOIL_SCHEDULES_SUBMIT: '' });
  const response = await ask('dayo', `/batches?name=${encodeURIComponent(name)}`, {
    method: 'POST',
    body: batchOf(1),
    headers: csvType,
  });
  expect(response.status).toBe(201);
  const { batch, file: named }: Json = await response.json();
  expect(named).toBe(kept);
  expect(batch).toMatch(/^[\w.-]+$/);
  expect(home.names('.')).not.toContain(kept);
});

it('answers a path that there is not as a problem, whatever the method', async () => {
  const { ask } = await serveApi();
  for (const method of ['GET', 'POST', 'PUT', 'DELETE'])
    for (const path of ['/nothing', '/runs/x/none.txt', '/batches/a/b/c', '/%zz', '/a/%ff', '/%']) {
      const answer = await ask('eve', path, { method });
      expect([method, path, answer.status]).toEqual([method, path, 404]);
      expect(answer.headers.get('content-type')).toContain('application/problem+json');
      expect(await answer.json()).toMatchObject({
        problem: 'there is no such path',
        fix: expect.any(String),
      });
    }
});

it('takes a form with one file, and refuses one with more parts or none', async () => {
  const { ask, as } = await serveApi({}, { COUNTERFOIL_SCHEDULES_SUBMIT: '' });
  const form = (...files: [field: string, name: string][]): FormData => {
    const made = new FormData();
    for (const [n, [field, name]] of files.entries())
      made.append(field, new Blob([batchOf(1, files.length * 10 + n)], { type: 'text/csv' }), name);
    return made;
  };
  const checked = await ask('dayo', '/batches?check=true', {
    method: 'POST',
    body: form(['file', '../b.csv']),
  });
  expect(await checked.json()).toMatchObject({ files: [{ file: 'b.csv', ok: true }] });
  const taken = await ask('dayo', '/batches', { method: 'POST', body: form(['file', 'form.csv']) });
  expect(taken.status).toBe(201);
  expect(await taken.json()).toMatchObject({ file: 'form.csv' });
  const none = new FormData();
  none.append('name', 'value');
  const two = form(['file', 'a.csv'], ['other', 'b.csv']);
  const before = new FormData();
  before.append('rows', '1');
  before.append('file', new Blob([batchOf(1)], { type: 'text/csv' }), 'c.csv');
  const after = form(['file', 'd.csv']);
  after.append('rows', '1');
  for (const body of [none, two, before, after]) {
    const refused = await ask('dayo', '/batches', { method: 'POST', body });
    expect(refused.status).toBe(422);
    expect(await refused.json()).toMatchObject({ fix: expect.stringContaining('the only part of the form') });
  }
  expect((await as('eve').listBatches()).batches).toHaveLength(1);
});

it('gives the answer of before to the same key, and refuses the key for another request', async () => {
  const { ask, as } = await serveApi({}, { COUNTERFOIL_SCHEDULES_SUBMIT: '' });
  const { batch } = await as('dayo').postBatch(batchOf(2), { name: 'pay.csv' });
  const held = (path: string) =>
    ask('femi', path, { method: 'POST', body: '{}', headers: { ...jsonType, 'idempotency-key': 'k-1' } });
  const first = await held(`/batches/${batch}/hold`);
  const second = await held(`/batches/${batch}/hold`);
  expect(await second.json()).toEqual(await first.json());
  expect(second.headers.get('idempotency-replayed')).toBe('true');
  expect((await held(`/batches/${batch}/release`)).status).toBe(422);
});

it('does not repeat a decision whose process was killed at it: a colleague may have decided since', async () => {
  const { ask, as, home } = await serveApi({}, { COUNTERFOIL_SCHEDULES_SUBMIT: '' });
  const { batch } = await as('dayo').postBatch(batchOf(2), { name: 'pay.csv' });
  await as('femi').holdBatch({ batch });
  const release = () => {
    const headers = { ...jsonType, 'idempotency-key': 'k-2' };
    return ask('femi', `/batches/${batch}/release`, { method: 'POST', body: '{}', headers });
  };
  expect((await release()).status).toBe(200);
  // As it stands when the process is killed between its decision and its answer.
  const ledger = new Database(join(home.dir, 'data', 'ledger.db'));
  ledger.exec(`update kept_answers set status = null, body = null, worker_id = 'killed' where key = 'k-2'`);
  ledger.close();
  await as('femi').holdBatch({ batch });
  const repeated = await release();
  expect(repeated.status).toBe(409);
  expect(await repeated.json()).toMatchObject({ type: 'urn:counterfoil:problem:lost' });
  expect((await as('eve').getBatch({ batch })).state).toBe('held');
});

it('keeps a posted file that cannot be archived until it is', async () => {
  const { as, home } = await serveApi({}, { COUNTERFOIL_SCHEDULES_SUBMIT: '' });
  const archive = join(home.dir, 'data', 'archive');
  rmSync(archive, { recursive: true, force: true });
  writeFileSync(archive, 'no folder');
  const content = batchOf(2);
  await expect(as('dayo', { retries: 0 }).postBatch(content, { name: 'pay.csv' })).rejects.toThrow();
  const uploads = join(home.dir, 'data', 'uploads');
  expect(readdirSync(uploads, { recursive: true })).toContainEqual(expect.stringMatching(/\/pay\.csv$/));

  rmSync(archive);
  await home.json(['submit', '--json'], 0);
  const kept = readdirSync(archive, { recursive: true })
    .map(String)
    .find((name) => name.endsWith('pay.csv'));
  expect(readFileSync(join(archive, kept ?? 'none'), 'utf8')).toBe(content);
  expect((await as('eve').listBatches()).batches).toMatchObject([{ rows: 2 }]);
});
