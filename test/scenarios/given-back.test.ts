import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openLedger } from '../../src/custody/open-ledger.ts';
import { csv, row } from '../support/cli.ts';
import { makeHome } from '../support/decided.ts';
import { onPostgres } from '../support/on-postgres/standing.ts';

const skip = { COUNTERFOIL_INTAKE_ON_INVALID_ROW: 'skip_row' };
const now = (): string => new Date().toISOString();

it('P34: killed after a batch was decided, the bad rows of 20,000 are given back by the next submit, which says so', async () => {
  const home = await makeHome({}, skip);
  const rows = Array.from({ length: 20_000 }, (_, i) => row(i + 1, i % 7000 === 6 ? { amount: '-1' } : {}));
  const bad = rows.filter((_, i) => i % 7000 === 6);
  home.put('data/inbox/pay.csv', csv(...rows));
  const first = home.start(['submit', '--no-wait']);
  // Until the ledger promises the files; then the process dies at whatever it does.
  for (let decided = false; !decided; ) {
    await new Promise((resume) => setTimeout(resume, 20));
    const ledger = await openLedger(join(home.dir, 'data/ledger.db'), { now });
    const found = await ledger.db.selectFrom('file_moves').select('id').execute();
    decided = found.length > 0;
    await ledger.close();
  }
  first.signal('SIGKILL');
  const { code } = await first.done;
  const second = await home.run(['submit', '--no-wait']);
  expect(second.code, second.err).toBe(code === 3 ? 0 : 3);
  if (code !== 3) expect(second.err).toMatch(/left out pay-\S+: rows of it .* returned now: \S+invalid\.csv/);
  expect(home.names('data/rejected')).toEqual(['pay.errors.csv', 'pay.invalid.csv']);
  expect(home.read('data/rejected/pay.invalid.csv').trim().split('\r\n').slice(1)).toEqual(bad);
  expect((await home.json(['status'], 4)).payouts).toEqual({ ready: 20_000 - bad.length });
  expect((await home.run(['submit', '--no-wait'])).code, 'said once').toBe(0);
}, 60_000);

it.skipIf(onPostgres)('P34: status shows what is promised and not done until it is done', async () => {
  const home = await makeHome({}, skip);
  home.put('data/inbox/pay.csv', csv(row(1), row(2, { amount: '-1' })));
  await home.json(['submit', '--no-wait'], 3);
  expect((await home.json(['status'], 4)).files).toEqual({ open: [], lost: [], changed: [] });
  // As a crash leaves it: promised, complete under its temporary name, and not in its place.
  const ledger = await openLedger(join(home.dir, 'data/ledger.db'), { now });
  const undone = { done_at: null, outcome: null };
  await ledger.db.updateTable('file_moves').set(undone).where('kind', '=', 'invalid').execute();
  const { source, target } = await ledger.db
    .selectFrom('file_moves')
    .select(['source', 'target'])
    .where('kind', '=', 'invalid')
    .executeTakeFirstOrThrow();
  await ledger.close();
  renameSync(target, source);
  const status = await home.run(['status']);
  expect(status.out).toMatch(/^ {2}to do: pay-\S+: the rows left out of it: \S+pay\.invalid\.csv/m);
  expect((await home.json(['status'], 4)).files.open).toMatchObject([{ kind: 'invalid', target }]);
  const next = await home.json(['submit', '--no-wait'], 3);
  expect(next.given_back).toMatchObject([{ invalid_file: target, errors_file: null }]);
  expect(home.names('data/rejected')).toEqual(['pay.errors.csv', 'pay.invalid.csv']);
  expect((await home.json(['status'], 4)).files).toEqual({ open: [], lost: [], changed: [] });
});

it.skipIf(onPostgres)(
  'P34: a run whose process died before its reports were written gets them, and status names it',
  async () => {
    const home = await makeHome();
    const { run } = await home.json(['reconcile'], 0);
    const ledger = await openLedger(join(home.dir, 'data/ledger.db'), { now });
    expect(await ledger.db.selectFrom('runs').select('reports_due').execute()).toEqual([{ reports_due: 0n }]);
    await ledger.db.updateTable('runs').set({ reports_due: 1n }).execute();
    await ledger.close();
    renameSync(join(home.dir, `data/reports/reconciliation-${run}`), join(home.dir, 'elsewhere'));
    expect((await home.run(['status'])).out).toContain(`Reports due: reconciliation-${run}`);
    const doctor = (await home.run(['doctor', '--offline'])).out;
    expect(doctor).toMatch(/\nok {5}files +Reports due: reconciliation-/);
    await home.json(['report'], 0);
    expect(home.names(`data/reports/reconciliation-${run}`)).toContain('report.html');
    expect((await home.json(['status'], 0)).reports_due).toEqual([]);
  },
);
