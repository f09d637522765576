import { expect, it } from 'vitest';
import { record } from '../../../../src/core/ledger/record.ts';
import { findOn } from '../../../../src/findings/finders.ts';
import { unpaidFindings } from '../../../../src/findings/ledger-findings.sql.ts';
import { detailsSay } from '../../../custody/archive-world.ts';
import { addBatch, at } from '../../../support/ledger.ts';
import { addRun, startDashboard, textOf } from './support.ts';

it('names unpaid failures among what needs a person, with the way to pay them again', async () => {
  const { ledger, ask, as } = await startDashboard({ roles: { ada: ['decide'] } });
  await addRun(ledger);
  await addBatch(ledger, ['A-1', 'A-2'], { state: 'failed' });
  await addBatch(ledger, ['B-1'], { id: 'b-2', state: 'returned' });
  await addBatch(ledger, ['C-1'], { id: 'b-3', state: 'success' });
  const { body } = await as('ada', '/');
  expect(body).not.toContain('Everything is fine');
  expect(body).toContain('not paid again: <span class="whole">NGN 3,000.00</span>');
  expect(body).toContain('<a class="act" href="/batches/b-1/again">Pay again…</a>');
  expect(body).toContain('/batches/b-2/again');
  expect(body).not.toContain('/batches/b-3/again');
  const open = (await ask('/')).body;
  expect(open).toContain('not paid again: ');
  expect(open).not.toContain('/again');
});

it('says failed and returned apart, and each figure of money leads to the list that it counts', async () => {
  const { ledger, as } = await startDashboard();
  const [first = 0n] = await addBatch(ledger, ['A-1', 'A-2', 'A-3'], { state: 'failed' });
  await addBatch(ledger, ['A-1-R2'], { id: 'b-9', state: 'success', successor_of: first });
  await addBatch(ledger, ['B-1'], { id: 'b-2', state: 'returned' });
  const { body } = await as('ada', '/');
  expect(body).toContain('Not paid, and not paid again: 2 failed, 1 returned');
  expect(textOf(body)).toMatch(/b-1 ?: 2 failed, not paid again/);
  const money = /aria-label="Money by state".*?<\/table>/s.exec(body)?.[0] ?? '';
  const rows = [...money.matchAll(/href="([^"]+again=no)">(failed|returned)<\/a>.*?<td[^>]*>(\d+)/gs)];
  expect(rows.map(([, , state, count]) => `${count} ${state}`)).toEqual(['2 failed', '1 returned']);
  for (const [, href = '', , count] of rows) {
    const { body: list } = await as('ada', href.replaceAll('&#38;', '&'));
    expect(textOf(list), href).toContain(count === '1' ? ' 1 payout ' : ` ${count} payouts `);
    expect(list).toContain('Only payouts that are not ordered again.');
  }
});

it('P20: needs nobody for a failure that is paid again', async () => {
  const { ledger } = await startDashboard();
  const [first = 0n] = await addBatch(ledger, ['A-1', 'A-2'], { state: 'failed' });
  await addBatch(ledger, ['A-1-R2'], { id: 'b-2', state: 'pending', successor_of: first });
  const [finding] = await unpaidFindings(ledger.db);
  expect(finding).toMatchObject({ subject: 'b-1', count: 1, totals: { NGN: '1500.00' } });
});

it('needs nobody for what failed before a person closed the month, but for what failed later', async () => {
  const { ledger, as } = await startDashboard({ roles: { ada: ['decide'] } });
  const [failed = 0n] = await addBatch(ledger, ['A-1', 'A-2', 'A-3'], { state: 'failed' });
  const [pending = 0n] = await addBatch(ledger, ['B-1'], { id: 'b-2', state: 'pending' });
  const closed = at(60 * 86_400_000);
  const period = {
    ...{ month: '2026-10', closed_by: 'ada', closed_at: closed, run_id: null, digest: 'd' },
    ...{ starts_at: at(-86_400_000), ends_at: at(86_400_000), timezone: 'Africa/Lagos' },
    ...{ from_history: 0n, through_history: 9n },
  };
  await ledger.write((trx) => trx.insertInto('periods').values(period).execute());
  expect(await unpaidFindings(ledger.db)).toEqual([]);
  expect((await as('ada', '/')).body).toContain('so that they wait for nobody: 3 failed.');
  expect((await as('ada', '/')).body).toContain('In <a href="/months">closed months</a> or archives');
  const month = textOf((await as('ada', '/months/2026-10')).body);
  expect(month).toMatch(/Still not paid today This list is of now, and not frozen\. .* A-3 .* A-1 /);
  expect(month).not.toContain('B-1');
  const later = at(61 * 86_400_000);
  const say = (id: bigint) => ledger.write((trx) => record(trx, later, [detailsSay(id, 'failed')]));
  await say(failed);
  expect(await unpaidFindings(ledger.db), 'a look that agrees is no news').toEqual([]);
  await say(pending);
  expect(await unpaidFindings(ledger.db)).toMatchObject([{ subject: 'b-2', count: 1, since: later }]);
  expect((await as('ada', '/months/2026-11')).body.replaceAll(/<[^>]*>/g, '')).toContain(
    '1 payout failed, and not paid again: NGN 1,500.00',
  );
  // The rows are those that are counted, and none of those that the close has read.
  const { body } = await as('ada', '/months/2026-11');
  const table = /aria-label="Not paid".*?<\/table>/s.exec(body)?.[0] ?? '';
  expect([...table.matchAll(/href="\/payouts\/([^"]+)"/g)].map(([, name]) => name)).toEqual(['B-1']);
  expect(table).toMatch(/failed.*data-label="What the service says"/s);
  expect((await as('ada', '/months/2026-10')).body).not.toContain('Not paid, and not paid again');
});

it('shows the same list to the API, and leaves the exit code of status alone', async () => {
  const { ledger, app } = await startDashboard();
  await addBatch(ledger, ['A-1'], { state: 'refused' });
  const { config, clock } = app;
  const scene = { db: ledger.db, ledger, clock, config, account: null, work: 'serve' as const, jobs: [] };
  const kinds = async (face: 'today' | 'status') =>
    (await findOn({ ...scene, face })).map(({ kind }) => kind);
  expect(await kinds('today')).toContain('payout_unpaid');
  expect(await kinds('status')).not.toContain('payout_unpaid');
});
