import { describe, expect, it } from 'vitest';
import { halt } from '../../../../src/sending/halts.sql.ts';
import { haltInWords } from '../../../../src/words/halt-words.ts';
import { addBatch, at, states } from '../../../support/ledger.ts';
import { addDiscrepancy, addUnapproved, bearer, posted, startDashboard } from './support.ts';

const sure = { sure: 'yes' };

const digestOn = (body: string): string => /name="digest" value="([^"]+)"/.exec(body)?.[1] ?? '';

describe('approving', () => {
  it('lets a second person approve what they saw, under the name of the token', async () => {
    const { ledger, as, post, logged } = await startDashboard();
    await addUnapproved(ledger, ['A-1', 'A-2']);
    const review = await as('bola', '/batches/b-1/approve');
    expect(review.status).toBe(200);
    const done = await post('bola', '/batches/b-1/approve', { ...sure, digest: digestOn(review.body) });
    expect(done.status, done.body).toBe(200);
    expect(done.body).toContain('b-1 is approved by bola');
    expect(await states(ledger)).toEqual({ 'A-1': 'ready', 'A-2': 'ready' });
    const approvals = await ledger.db.selectFrom('approvals').selectAll().execute();
    expect(approvals.map((one) => one.approved_by)).toEqual(['bola']);
    const history = await ledger.db
      .selectFrom('history')
      .selectAll()
      .where('event', '=', 'release')
      .execute();
    expect(history.map(({ source }) => source)).toEqual(['person:bola', 'person:bola']);
    expect(logged.join('')).toContain('"action":"approve"');
  });

  it('logs who approved although the release after it failed', async () => {
    const { ledger, as, post, logged } = await startDashboard();
    await addUnapproved(ledger, ['A-1']);
    const { digest } = await bolasReview(as);
    const write = ledger.write.bind(ledger);
    let writes = 0;
    ledger.write = (work) => {
      writes += 1;
      return writes === 1 ? write(work) : Promise.reject(new Error('disk I/O error'));
    };
    expect((await post('bola', '/batches/b-1/approve', { ...sure, digest })).status).toBe(500);
    expect(await ledger.db.selectFrom('approvals').selectAll().execute()).toHaveLength(1);
    expect(logged.join('')).toMatch(/"by":"bola","action":"approve"/);
  });

  it.each(['ada', 'Ada', 'ADA'])('never lets %s approve what ada dropped', async (name) => {
    const { ledger, as, post } = await startDashboard({ names: name === 'ada' ? [] : [name] });
    await addUnapproved(ledger, ['A-1']);
    expect((await as(name, '/batches/b-1/approve')).status).toBe(403);
    const { digest } = await bolasReview(as);
    const done = await post(name, '/batches/b-1/approve', { ...sure, digest });
    expect(done.status).toBe(403);
    expect(done.body).toContain('nobody approves a batch of their own');
    expect(await states(ledger)).toEqual({ 'A-1': 'held' });
  });

  it('refuses an approval of something else than what was shown', async () => {
    const { ledger, as, post } = await startDashboard();
    await addUnapproved(ledger, ['A-1']);
    const { digest } = await bolasReview(as);
    for (const other of ['', digest.slice(1), digest.replace(/.$/, 'x')]) {
      const done = await post('bola', '/batches/b-1/approve', { ...sure, digest: other });
      expect(done.status).toBe(409);
      expect(done.body).toContain('changed while you looked at it');
    }
    expect(await states(ledger)).toEqual({ 'A-1': 'held' });
  });

  it('is no way round a release: what waits for an approval stays held', async () => {
    const { ledger, post } = await startDashboard();
    await addUnapproved(ledger, ['A-1']);
    const done = await post('bola', '/batches/b-1/release', sure);
    expect(done.body).toContain('Still held: needs an approval');
    expect(await states(ledger)).toEqual({ 'A-1': 'held' });
  });

  const bolasReview = async (
    as: Awaited<ReturnType<typeof startDashboard>>['as'],
  ): Promise<{ digest: string }> => ({ digest: digestOn((await as('bola', '/batches/b-1/approve')).body) });
});

it('moves no money for a token that may only read, and offers it no form', async () => {
  const { ledger, as, post } = await startDashboard({ roles: { ada: ['read'], bola: ['approve'] } });
  await addBatch(ledger, ['A-1']);
  const page = await as('ada', '/batches/b-1');
  expect(page.body).not.toContain('<form class="decide"');
  expect(page.body).toContain('Nobody may do it: the operator gives the role decide in admin.roles.');
  for (const path of [
    '/halt',
    '/release',
    '/batches/b-1/hold',
    '/batches/b-1/release',
    '/batches/b-1/approve',
  ])
    expect((await post('ada', path, sure)).status, path).toBe(403);
  expect((await post('bola', '/batches/b-1/hold', sure)).status).toBe(403);
  expect(await states(ledger)).toEqual({ 'A-1': 'ready' });
});

it('holds and releases a batch, and says who did in the history', async () => {
  const { ledger, post, ask } = await startDashboard();
  await addBatch(ledger, ['A-1', 'A-2']);
  expect((await post('ada', '/batches/b-1/hold', sure)).body).toContain('b-1: 2 payouts held');
  expect(await states(ledger)).toEqual({ 'A-1': 'held', 'A-2': 'held' });
  expect((await post('bola', '/batches/b-1/release', sure)).body).toContain('b-1: 2 payouts released');
  expect(await states(ledger)).toEqual({ 'A-1': 'ready', 'A-2': 'ready' });
  const history = await ledger.db
    .selectFrom('history')
    .select(['event', 'source'])
    .where('payout_id', '=', 1n)
    .orderBy('id')
    .execute();
  expect(history.slice(1)).toEqual([
    { event: 'hold', source: 'person:ada' },
    { event: 'release', source: 'person:bola' },
  ]);
  expect((await ask('/payouts/A-1')).body).toContain('[by ada]');
});

it('P32: offers the release of a batch that waits only for what service.extras asks', async () => {
  const { ledger, as, post } = await startDashboard();
  await addBatch(ledger, ['A-1']);
  const wait = (precheck_wait: string | null) =>
    ledger.db.updateTable('batches').set({ precheck: 'due', precheck_wait }).execute();
  const release = 'action="/batches/b-1/release"';
  await wait('wallet_balance: HTTP 503');
  expect((await as('ada', '/')).body).toContain('waits for an answer to service.extras');
  const page = (await as('ada', '/batches/b-1')).body;
  expect(page).toMatch(/wallet_balance: HTTP 503.*action="\/batches\/b-1\/release"/s);
  await wait(null);
  expect((await as('ada', '/batches/b-1')).body, 'it was not asked yet').not.toContain(release);
  await wait('wallet_balance: HTTP 503');
  const done = await post('ada', '/batches/b-1/release', sure);
  expect(done.body).toContain('without the answer of the service');
  expect((await as('ada', '/batches/b-1')).body, 'once').not.toContain(release);
});

it('releases nothing of a cancelled batch, and nothing of one that is being taken in', async () => {
  const { ledger, post } = await startDashboard();
  await addBatch(ledger, ['A-1'], { id: 'gone', state: 'cancelled' });
  await addBatch(ledger, ['B-1'], { id: 'loading', state: 'held', phase: 'loading' });
  expect((await post('ada', '/batches/gone/release', sure)).status).toBe(409);
  expect((await post('ada', '/batches/loading/release', sure)).status).toBe(409);
  expect((await post('ada', '/batches/loading/hold', sure)).status).toBe(409);
  expect(await states(ledger)).toEqual({ 'A-1': 'cancelled', 'B-1': 'held' });
});

it('halts all sending and releases it, under the name of the token', async () => {
  const { ledger, post, ask } = await startDashboard();
  expect((await post('ada', '/halt', sure)).status).toBe(200);
  expect((await haltInWords(ledger.db))?.cause).toBe('held by ada');
  expect((await ask('/')).body).toContain('held by ada');
  expect((await post('ada', '/release', sure)).body).toContain('The halt is lifted');
  expect(await haltInWords(ledger.db)).toBeUndefined();
});

it('acknowledges and resolves a discrepancy with a note, says who did, and lists it as resolved', async () => {
  const { ledger, as, post, port } = await startDashboard();
  const [payoutId = null] = await addBatch(ledger, ['A-1']);
  const id = await addDiscrepancy(ledger, { kind: 'amount_conflict', payoutId, reference: 'A-1' });
  const state = async (): Promise<unknown> =>
    (await ledger.db.selectFrom('discrepancies').select('state').executeTakeFirstOrThrow()).state;
  expect((await post('ada', '/discrepancies/resolve', { id, note: ' ' })).status).toBe(422);
  expect((await post('ada', '/discrepancies/resolve', { id, note: 'x'.repeat(2001) })).status).toBe(422);
  const form = /name="form" value="([^"]+)"/.exec((await as('ada', '/discrepancies')).body)?.[1] ?? '';
  const refusedFrom = async (host: string): Promise<string> => {
    const { headers = {}, ...given } = posted({ form, id, note: '' }, port);
    const referer = `http://${host}/discrepancies?kind=amount_conflict`;
    return (await as('ada', '/discrepancies/resolve', { ...given, headers: { ...headers, referer } })).body;
  };
  const back = `<a href="/discrepancies?kind=amount_conflict#${id}">Back to ${id}</a>`;
  expect(await refusedFrom(`127.0.0.1:${port}`)).toContain(back);
  expect(await refusedFrom('elsewhere.example')).not.toContain(`Back to ${id}`);
  expect((await post('ada', '/discrepancies/acknowledge', { id: 'D-none' })).status).toBe(404);
  expect(await state()).toBe('open');
  expect((await post('ada', '/discrepancies/acknowledge', { id })).status).toBe(200);
  expect((await post('ada', '/discrepancies/acknowledge', { id })).status).toBe(409);
  expect((await post('bola', '/discrepancies/resolve', { id, note: 'recalled <b>' })).status).toBe(200);
  expect(await state()).toBe('resolved');
  const events = await ledger.db
    .selectFrom('discrepancy_events')
    .select(['event', 'source', 'note'])
    .orderBy('id')
    .execute();
  expect(events.slice(1)).toEqual([
    { event: 'acknowledged', source: 'person:ada', note: '' },
    { event: 'resolved', source: 'person:bola', note: 'recalled <b>' },
  ]);
  expect((await as('ada', '/discrepancies')).body).not.toContain(id);
  const resolved = (await as('ada', '/discrepancies?state=resolved')).body;
  for (const text of [id, 'resolved by a person', 'recalled &#60;b&#62;']) expect(resolved).toContain(text);
  expect(resolved, 'nothing is left to decide').not.toContain('/discrepancies/resolve');
});

it('decides nothing about a discrepancy that changed after its page was shown', async () => {
  const { ledger, as, post } = await startDashboard();
  const [payoutId = null] = await addBatch(ledger, ['A-1']);
  const about = { kind: 'amount_conflict' as const, payoutId, reference: 'A-1' };
  const id = await addDiscrepancy(ledger, { ...about, actual: '9.99' });
  const shown = shownOn((await as('ada', '/discrepancies')).body);
  expect(await addDiscrepancy(ledger, { ...about, actual: '0.01' })).toBe(id);
  for (const verdict of ['acknowledge', 'resolve']) {
    const late = await post('ada', `/discrepancies/${verdict}`, { id, note: 'one cent', shown });
    expect(late.status).toBe(409);
    expect(late.body).toContain('changed while you looked at it');
  }
  const { state } = await ledger.db.selectFrom('discrepancies').select('state').executeTakeFirstOrThrow();
  expect(state).toBe('open');
  expect((await post('ada', '/discrepancies/resolve', { id, note: 'recalled' })).status).toBe(200);
});

const ways: Record<string, Parameters<typeof tryWay>[0]> = {
  'without a token': { token: null, status: 401 },
  'with an unknown token': { token: 'wrong', status: 401 },
  'from another site': { headers: { origin: 'https://evil.example' }, status: 403 },
  'from another port': { headers: { origin: 'http://127.0.0.1:1' }, status: 403 },
  'from an opaque origin': { headers: { origin: 'null' }, status: 403 },
  'from a neighbouring site': { headers: { 'sec-fetch-site': 'same-site' }, status: 403 },
  'under a foreign host': { headers: { host: 'evil.example', origin: 'http://evil.example' }, status: 421 },
  'without a form token': { form: '', status: 403 },
  'with a made-up form token': { form: 'AAAA', status: 403 },
  'with the form token of somebody else': { form: 'bola', status: 403 },
  'as JSON': { headers: { 'content-type': 'application/json' }, status: 415 },
  'as plain text': { headers: { 'content-type': 'text/plain' }, status: 415 },
  'without the tick': { sure: 'no', status: 422 },
  'with GET': { method: 'GET', status: 404 },
};

async function tryWay(way: {
  status: number;
  token?: string | null;
  form?: string;
  sure?: string;
  method?: string;
  headers?: Record<string, string>;
}): Promise<{ status: number; halted: boolean }> {
  const { ledger, as, ask, port } = await startDashboard();
  const formOf = async (name: string): Promise<string> =>
    /name="form" value="([^"]+)"/.exec((await as(name, '/')).body)?.[1] ?? '';
  const form =
    way.form === undefined ? await formOf('ada') : way.form === 'bola' ? await formOf('bola') : way.form;
  const given = posted({ form, sure: way.sure ?? 'yes' }, port);
  const token =
    way.token === undefined ? bearer('ada-token-5f2c8e1b') : way.token === null ? {} : bearer(way.token);
  const { status } = await ask('/halt', {
    ...given,
    method: way.method ?? 'POST',
    headers: { ...given.headers, ...token, ...way.headers },
  });
  return { status, halted: (await haltInWords(ledger.db)) !== undefined };
}

it.each(Object.keys(ways))('a decision posted %s is refused, and nothing is done', async (name) => {
  const way = ways[name];
  if (!way) throw new Error('no such way');
  expect(await tryWay(way)).toEqual({ status: way.status, halted: false });
});

it('a form from its own page is taken', async () => {
  expect(await tryWay({ status: 200 })).toEqual({ status: 200, halted: true });
});

it('limits the decisions of one person in a minute, and of nobody else', async () => {
  const { post } = await startDashboard();
  for (let n = 0; n < 30; n++) expect((await post('ada', '/release', { sure: 'no' })).status).toBe(422);
  const last = await post('ada', '/release', sure);
  expect(last.status).toBe(429);
  expect(Number(last.headers['retry-after'])).toBeGreaterThan(0);
  expect((await post('bola', '/release', sure)).status).toBe(200);
});

it('P21: a release on the dashboard lifts only what its page showed, and names what joined since', async () => {
  const { ledger, as, post } = await startDashboard();
  await addBatch(ledger, ['A-1']);
  await post('ada', '/batches/b-1/hold', sure);
  const shown = shownOn((await as('bola', '/batches/b-1')).body);
  await post('ada', '/batches/b-1/hold', sure);
  const late = await post('bola', '/batches/b-1/release', { ...sure, shown });
  expect(late.body).toContain('Held meanwhile: held by a person');
  expect(await states(ledger)).toEqual({ 'A-1': 'held' });
  await post('bola', '/batches/b-1/release', sure);
  expect(await states(ledger)).toEqual({ 'A-1': 'ready' });
});

it('P21: a release on the dashboard lets no batch go whose canary failed after its page was shown', async () => {
  const { ledger, as, post } = await startDashboard();
  await addBatch(ledger, ['A-1', 'A-2']);
  await post('ada', '/batches/b-1/hold', sure);
  const shown = shownOn((await as('bola', '/batches/b-1')).body);
  const failure = { kind: 'went_wrong' as const, reference: 'A-1', state: 'failed' as const };
  const cause = { kind: 'canary_failed' as const, batch: 'b-1', failure };
  await ledger.write(async (trx) => {
    const canary = { batch_id: 'b-1', from_id: 1n, through_id: 1n, state: 'failed' as const };
    await trx
      .insertInto('canaries')
      .values({ ...canary, started_at: at(1), ended_at: at(2) })
      .execute();
    await halt(trx, cause, at(2));
  });
  const late = await post('bola', '/batches/b-1/release', { ...sure, shown });
  expect(late.body).toContain('Sending is still halted: the canary of b-1 failed: A-1 is failed');
  expect((await haltInWords(ledger.db))?.kinds).toEqual(['canary_failed']);
  // A page that shows the failure lifts it with the hold.
  await post('ada', '/batches/b-1/hold', sure);
  expect((await as('bola', '/batches/b-1')).body).toContain('the canary of b-1 failed: A-1 is failed');
  await post('bola', '/batches/b-1/release', sure);
  expect(await haltInWords(ledger.db)).toBeUndefined();
});

it('P11: a halt that was raised after the page was shown outlives its release', async () => {
  const { ledger, as, post } = await startDashboard();
  await post('ada', '/halt', sure);
  const shown = shownOn((await as('bola', '/')).body);
  for (const again of ['ada', 'bola']) {
    await post(again, '/halt', sure);
    const late = await post('bola', '/release', { ...sure, shown });
    expect(late.body).toContain(`Sending is still halted: held by`);
  }
  expect((await haltInWords(ledger.db))?.kinds).toHaveLength(2);
  await post('bola', '/release', sure);
  expect(await haltInWords(ledger.db)).toBeUndefined();
});

function shownOn(page: string): string {
  return /name="shown" value="([^"]+)"/.exec(page)?.[1] ?? '';
}
