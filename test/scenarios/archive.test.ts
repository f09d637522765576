import { join } from 'node:path';
import { expect, it } from 'vitest';
import { archiveLedger } from '../../src/custody/archive/archive-ledger.ts';
import { openLedger } from '../../src/custody/open-ledger.ts';
import { reportingOf } from '../custody/archive-world.ts';
import { batchOf, flat, makeHome, until } from '../support/cli.ts';
import { inProcess } from '../support/in-process.ts';

it('after an archive a reconciliation finds nothing new, and no archived reference is taken again', async () => {
  const home = inProcess(
    await makeHome(
      { settleMs: 0, faults: { 'PAY-0003': 'fail' } },
      { COUNTERFOIL_RECEIVER_ENABLED: 'false', COUNTERFOIL_RECONCILIATION_MISSING_GRACE_MINUTES: '0' },
    ),
  );
  const file = home.put('pay.csv', batchOf(3));
  const { batches } = await home.json(['submit', file], 0);
  await until(
    20_000,
    async () => {
      await home.run(['reconcile', '--full']);
      return home.json(['status'], 0).catch(() => ({ payouts: {} }));
    },
    (now) => now.payouts.success === 2 && now.payouts.failed === 1,
  );
  const before = await home.json(['reconcile', '--full'], 0);
  const listed = await home.json(['payouts'], 0);
  const folder = `data/reports/${batches[0].batch}`;
  const offered = home.read(`${folder}/failed.csv`);
  const path = join(home.dir, 'data/ledger.db');
  const now = (): string => new Date().toISOString();
  const later = new Date(Date.now() + 40 * 24 * 3_600_000).toISOString();
  const ledger = await openLedger(path, { now });
  const closed = await reportingOf(ledger, join(home.dir, 'closing')).closePeriod(
    now().slice(0, 7),
    later,
    'ada',
  );
  await ledger.close();
  expect(closed.kind).toBe('closed');
  expect(await archiveLedger({ path, before: later, now })).toMatchObject({
    kind: 'archived',
    payouts: 3,
    left: 0,
  });
  const still = await home.json(['payouts'], 0);
  expect([still.matching, still.totals], 'the list still counts them').toEqual([3, listed.totals]);
  expect(still.payouts.map((one: { taken_in_at: string | null }) => one.taken_in_at)).not.toContain(null);
  const after = await home.json(['reconcile', '--full'], 0);
  expect(home.names(folder), 'an archived payout is never paid again').toEqual([
    'results.csv',
    'results.xlsx',
  ]);
  const dropped = await home.json(['submit', home.put('failed.csv', offered)], 3);
  expect(dropped.refused[0].problems[0]).toMatchObject({
    problem: expect.stringContaining('it is archived'),
    fix: 'remove the row',
  });
  expect([after.verdict, after.discrepancies.open]).toEqual([before.verdict, before.discrepancies.open]);
  expect([before.verdict, after.matched]).toEqual(['reconciled', 3]);
  expect(await home.json(['verify'], 0)).toMatchObject({ ok: true });
  expect(await home.run(['submit', file])).toMatchObject({
    code: 3,
    err: expect.stringContaining(batches[0].batch),
  });
  const again = home.put('again.csv', batchOf(3).replace(/\n$/, '\n\n'));
  expect((await home.run(['submit', again])).code).toBe(3);
  const story = await home.json(['show', 'PAY-0001'], 0);
  expect((await home.run(['show', 'PAY-0001'])).out).toContain('archived in');
  const { out } = await home.run(['show', 'PAY-0003']);
  expect(flat(out)).toContain(
    'What now To pay it, put a row with a new reference into a new file. An archived payout is never paid again.',
  );
  expect(out).not.toContain('counterfoil retry');
  expect(story.history[0]).toMatchObject({ event: 'intake' });
});
