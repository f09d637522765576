import { describe, expect, it } from 'vitest';
import { addBatch } from '../../../support/ledger.ts';
import {
  addDiscrepancy,
  addRun,
  addUnapproved,
  bearer,
  type Dashboard,
  posted,
  startDashboard,
  textOf,
} from './support.ts';

const mainOf = (body: string): string => textOf(/<main.*<\/main>/s.exec(body)?.[0] ?? '');

it('marks the page of the navigation that a person is on', async () => {
  const { as } = await startDashboard();
  for (const path of ['/', '/batches', '/payouts', '/discrepancies', '/runs']) {
    const { body } = await as('ada', path);
    const nav = /<nav aria-label="Main">.*?<\/nav>/s.exec(body)?.[0] ?? '';
    const marked = [...nav.matchAll(/href="([^"]+)" aria-current="page"/g)].map(([, href]) => href);
    expect(marked).toEqual([path]);
    for (const name of ['Today', 'Batches', 'Payouts', 'Discrepancies', 'Runs', 'Reports'])
      expect(nav).toContain(`>${name}</a>`);
  }
  expect((await as('ada', '/reports/')).headers.location).toBe('/reports/index.html');
});

it('leads from each count of the first page to the list that has so many', async () => {
  const { ledger, as } = await startDashboard();
  await addUnapproved(ledger, ['A-1', 'A-2']);
  await addBatch(ledger, ['B-1', 'B-2', 'B-3'], { id: 'b-2' });
  await addBatch(ledger, ['C-1'], { id: 'b-3', state: 'success' });
  const today = (await as('ada', '/')).body;
  const tiles = /<dl class="tiles">.*?<\/dl>/s.exec(today)?.[0] ?? '';
  expect(textOf(tiles)).toMatch(/Waiting 5 3 waiting · 2 held .* Paid today 0 /);
  for (const [, state, count] of tiles.matchAll(/href="\/payouts\?state=(\w+)">(?:<b>)?(\d+)/g))
    expect(mainOf((await as('ada', `/payouts?state=${state}`)).body)).toMatch(
      new RegExp(`In all .* ${count} payouts? Reference`),
    );
  expect([...tiles.matchAll(/href="\/payouts/g)]).toHaveLength(2);
  expect(mainOf((await as('ada', '/batches')).body)).toContain('3 batches, the newest first');
});

it('shows a page to a browser that asks for one that there is not, and tells a program', async () => {
  const { as } = await startDashboard();
  for (const path of ['/nothing', '/batches/nothing', '/payouts/nothing']) {
    const page = await as('ada', path, { headers: { accept: 'text/html' } });
    expect([page.status, mainOf(page.body)]).toEqual([
      404,
      expect.stringMatching(/Not found There is no .* Back to today/),
    ]);
  }
  const told = await as('ada', '/nothing');
  expect([told.status, JSON.parse(told.body)]).toEqual([404, { problem: 'there is no such page' }]);
});

describe('batches', () => {
  it('says of each how much is unpaid, and leads those who may drop to where files are dropped', async () => {
    const { ledger, as, ask } = await startDashboard({
      names: ['dee'],
      roles: { dee: ['decide'] },
    });
    await addBatch(ledger, ['A-1', 'A-2'], { state: 'failed' });
    await addBatch(ledger, ['B-1'], { id: 'b-2', state: 'success' });
    const all = (await as('ada', '/batches')).body;
    expect(mainOf(all)).toMatch(/b-1 done 2 unpaid 2 of 2 ended .* b-2 done 1 of 1 ended/);
    const way = '<a class="go" href="/batches/new">';
    expect(all).toContain(way);
    for (const { body } of [await as('dee', '/batches'), await ask('/batches')])
      expect(body).not.toContain(way);
  });

  it('shows those that stand so, a page at a time, each once', async () => {
    const { ledger, ask } = await startDashboard();
    await addUnapproved(ledger, ['A-1', 'A-2']);
    for (let n = 0; n < 60; n++) await addBatch(ledger, [`N-${n}`], { id: `sent-${n}`, state: 'pending' });
    for (let n = 0; n < 3; n++) await addBatch(ledger, [`R-${n}`], { id: `ready-${n}` });
    const namesOn = (body: string): string[] =>
      [...body.matchAll(/href="\/batches\/([^"?]+)">/g)].map(([, name = '']) => name);
    const first = (await ask('/batches?state=sent')).body;
    const next = /href="([^"]+)">Older/.exec(first)?.[1]?.replaceAll('&#38;', '&') ?? '';
    const second = (await ask(next)).body;
    const all = [...namesOn(first), ...namesOn(second)];
    expect([namesOn(first).length, all.length, new Set(all).size]).toEqual([50, 60, 60]);
    expect(all.every((name) => name.startsWith('sent-'))).toBe(true);
    expect(second).not.toContain('>Older<');
    expect(namesOn((await ask('/batches?state=ready')).body).toSorted()).toEqual([
      'ready-0',
      'ready-1',
      'ready-2',
    ]);
    const waiting = mainOf((await ask('/batches?state=approval')).body);
    expect(waiting).toMatch(/b-1 waits for approval 0 of 2 ended NGN 3,000\.00 – NGN 3,000\.00/);
    expect(mainOf((await ask('/batches?state=done')).body)).toContain('None of them: done.');
  });
});

describe('runs', () => {
  it('are named by their time, with the verdict on each currency', async () => {
    const { ledger, ask } = await startDashboard();
    await addRun(ledger, 'reconciled');
    const body = mainOf((await ask('/runs')).body);
    expect(body).toContain('NGN ✓ reconciled');
    expect(body).not.toContain('20261121T100000Z');
    const run = mainOf((await ask('/runs/20261121T100000Z')).body);
    expect(run).toContain('Discrepancies that are open now');
    expect(run).toMatch(/Reconciliation of .*:\d\d/);
    expect(run).toContain('Name in files 20261121T100000Z');
  });
});

it('lists two runs of one minute with their seconds, and no others', async () => {
  const { ledger, ask } = await startDashboard();
  await addRun(ledger);
  const more = ['2026-11-21T10:00:07.000Z', '2026-11-22T10:00:00.000Z'];
  const { finished_at, summary, history_mark, verdict } = await ledger.db
    .selectFrom('runs')
    .selectAll()
    .executeTakeFirstOrThrow();
  for (const started_at of more)
    await ledger.db
      .insertInto('runs')
      .values({ id: started_at, started_at, finished_at, summary, history_mark, verdict })
      .execute();
  const times = [...(await ask('/runs')).body.matchAll(/<a href="\/runs\/[^"]*"><time[^>]*>([^<]*)</g)].map(
    ([, time]) => time,
  );
  expect(times).toEqual(['22 Nov 11:00', '21 Nov 11:00:07', '21 Nov 11:00:00']);
});

/** Posts a form with several values of one name, as a browser does of boxes that are ticked. */
async function tick(
  { as, port, ask }: Dashboard,
  name: string,
  { verdict, picks, note }: { verdict: string; picks: string[]; note: string },
) {
  const form = /name="form" value="([^"]+)"/.exec((await as(name, '/')).body)?.[1] ?? '';
  const fields = new URLSearchParams({ form, note });
  for (const pick of picks) fields.append('pick', pick);
  const given = posted({}, port);
  const headers = { ...given.headers, ...bearer(`${name}-token`) };
  return ask(`/discrepancies/${verdict}`, { ...given, headers, body: fields.toString() });
}

const picksOn = (body: string): string[] =>
  [...body.matchAll(/name="pick" value="([^"]+)"/g)].map(([, value = '']) => value);

async function withDiscrepancies(count: number) {
  const dashboard = await startDashboard({ names: ['dee'] });
  const references = Array.from({ length: count }, (_, n) => `A-${n}`);
  const payouts = await addBatch(dashboard.ledger, references);
  for (const [n, reference] of references.entries()) {
    const kind = n % 2 === 0 ? ('amount_conflict' as const) : ('stale_pending' as const);
    await addDiscrepancy(dashboard.ledger, { kind, payoutId: payouts[n] ?? null, reference });
  }
  const standing = async () => {
    const rows = await dashboard.ledger.db
      .selectFrom('discrepancies')
      .select(['reference', 'state'])
      .orderBy('reference')
      .execute();
    return Object.fromEntries(rows.map(({ reference, state }) => [reference, state]));
  };
  return { ...dashboard, standing };
}

describe('discrepancies', () => {
  it('narrows the list by kind, batch, currency and age, with totals', async () => {
    const { as } = await withDiscrepancies(3);
    const text = async (query: string): Promise<string> =>
      mainOf((await as('dee', `/discrepancies${query}`)).body);
    expect(await text('')).toMatch(/3 discrepancies Currency .* NGN 3 3 NGN 4,500\.00/);
    expect(await text('?kind=amount_conflict')).toMatch(/2 discrepancies .* NGN 2 2 NGN 3,000\.00/);
    expect(await text('?currency=ngn&batch=b-1&days=0')).toContain('3 discrepancies');
    expect(await text('?batch=-1')).toContain('3 discrepancies');
    // Its age is that of the finding: the payout may differ for longer.
    expect(await text('')).toMatch(/Found 21 Nov 11:00 , .+? ago/);
    expect(mainOf((await as('dee', '/')).body)).toMatch(
      /3 discrepancies are open .* amount conflict \(2\) .* found .+? ago Look/i,
    );
    for (const none of ['?currency=ZAR', '?batch=other', '?days=99999'])
      expect(await text(none)).toContain('Not checked: no usable list');
    expect((await as('dee', '/discrepancies?days=old')).status).toBe(422);
  });

  it('turns its pages', async () => {
    const { as } = await withDiscrepancies(53);
    const idsOn = async (path: string) => picksOn((await as('dee', path)).body);
    const pages = [await idsOn('/discrepancies'), await idsOn('/discrepancies?page=2')];
    expect(pages.map((one) => one.length)).toEqual([50, 3]);
    expect(new Set(pages.flat()).size).toBe(53);
  });

  it('decides about those ticked and no other, each alone: what changed meanwhile is left and named', async () => {
    const dashboard = await withDiscrepancies(4);
    const { as, ledger, standing } = dashboard;
    const picks = picksOn((await as('dee', '/discrepancies')).body);
    const idOf = async (reference: string): Promise<string> => {
      const row = ledger.db.selectFrom('discrepancies').select('id').where('reference', '=', reference);
      return (await row.executeTakeFirstOrThrow()).id;
    };
    const [changed, untouched] = [await idOf('A-1'), await idOf('A-3')];
    await addDiscrepancy(ledger, { kind: 'stale_pending', payoutId: 2n, reference: 'A-1', actual: '0.01' });
    const ticked = picks.filter((pick) => !pick.startsWith(`${untouched}.`));
    const order = { verdict: 'resolve', picks: ticked, note: '' };
    expect((await tick(dashboard, 'dee', order)).status).toBe(422);
    expect((await tick(dashboard, 'dee', { ...order, picks: [], note: 'x' })).status).toBe(422);
    const done = await tick(dashboard, 'dee', { ...order, note: 'asked the bank' });
    expect(mainOf(done.body)).toContain('2 discrepancies are resolved');
    expect(mainOf(done.body)).toContain(`changed after the page was shown: ${changed}`);
    expect(await standing()).toEqual({ 'A-0': 'resolved', 'A-1': 'open', 'A-2': 'resolved', 'A-3': 'open' });
    const again = mainOf((await tick(dashboard, 'dee', { ...order, note: 'again' })).body);
    expect(again).toContain('▲ 0 discrepancies are resolved');
    expect(again).toContain('Closed before:');
  });

  it('ticks all that a filter finds, and decides about these although the list grew', async () => {
    const dashboard = await withDiscrepancies(3);
    const { as, ledger, standing } = dashboard;
    const { body } = await as('dee', '/discrepancies/all?kind=amount_conflict');
    const picks = picksOn(body);
    expect([picks.length, [...body.matchAll(/ checked/g)].length]).toEqual([2, 2]);
    const [payoutId = null] = await addBatch(ledger, ['B-1'], { id: 'later' });
    await addDiscrepancy(ledger, { kind: 'amount_conflict', payoutId, reference: 'B-1' });
    await tick(dashboard, 'dee', { verdict: 'acknowledge', picks, note: 'being looked at' });
    expect(await standing()).toEqual({
      'A-0': 'acknowledged',
      'A-1': 'open',
      'A-2': 'acknowledged',
      'B-1': 'open',
    });
  });

  it('offers no box to a person without the role, and takes none from them', async () => {
    const { as } = await startDashboard({ names: ['cy'], roles: { cy: ['read'] } });
    expect(picksOn((await as('cy', '/discrepancies')).body)).toEqual([]);
    expect((await as('cy', '/discrepancies/all')).status).toBe(403);
  });
});
