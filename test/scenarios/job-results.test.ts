import { renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { openLedger } from '../../src/custody/open-ledger.ts';
import { batchOf, flat, type Home, type Json, until } from '../support/cli.ts';
import { hurried } from '../support/clock.ts';
import { makeHome } from '../support/decided.ts';
import { onPostgres } from '../support/on-postgres/standing.ts';
import { serving } from '../support/serving.ts';

const jobOf = (status: Json, name: string): Json =>
  status.schedules.find(({ job }: { job: string }) => job === name);
/** Changes a home's ledger behind the program's back, as days that pass would. */
async function changeLedger(home: Home, statements: readonly string[]): Promise<void> {
  const path = join(home.dir, 'data', 'ledger.db');
  const ledger = await openLedger(path, { now: () => new Date().toISOString() });
  for (const statement of statements) await sql.raw(statement).execute(ledger.db);
  await ledger.close();
}

/** Once a year: what is due now is caught up at the start. */
const yearly = '0 0 1 1 *';
const nobody = 'http://127.0.0.1:9';

it('a nightly reconcile that cannot reach the service is no success: it is logged, noted, and status ends with 4', async () => {
  const home = await makeHome({ settleMs: 600_000 });
  const env = {
    COUNTERFOIL_SCHEDULES_RECONCILE: yearly,
    COUNTERFOIL_SCHEDULES_RECONCILE_FULL: yearly,
    COUNTERFOIL_SERVICE_BASE_URL: nobody,
  };
  const { daemon } = await hurried(() => serving(home, env));
  const said = JSON.parse(await daemon.line(/"job":"reconcile".*did not do its work/));
  expect(said).toMatchObject({ level: 'warn', event: 'job_incomplete', result: 'incomplete' });
  const status = await until(
    20_000,
    () => home.json(['status'], 4, env),
    (now) => jobOf(now, 'reconcile').last_result?.kind === 'incomplete',
  );
  expect(jobOf(status, 'reconcile').last_result).toMatchObject({ complete: false });
  expect((await home.run(['status'], env)).out).toMatch(
    /! reconcile: its last run was incomplete: .*no list/,
  );
  const { checks } = await home.json(['doctor', '--offline'], 1, env);
  const schedules = checks.find(({ name }: { name: string }) => name === 'schedules');
  expect(schedules).toMatchObject({
    ok: false,
    detail: expect.stringContaining('reconcile: its last run was incomplete'),
  });
});

it('the full reconcile waits for the one that runs, and both end in success', async () => {
  const home = await makeHome({ settleMs: 600_000 });
  const env = { COUNTERFOIL_SCHEDULES_RECONCILE: yearly, COUNTERFOIL_SCHEDULES_RECONCILE_FULL: yearly };
  await serving(home, env);
  const kinds = (status: Json): unknown[] =>
    ['reconcile', 'reconcile_full'].map((name) => jobOf(status, name).last_result?.kind);
  await until(
    30_000,
    async () => kinds(JSON.parse((await home.run(['status', '--json'], env)).out)),
    (now) => now.every((kind) => kind === 'succeeded'),
  );
  const { checks } = await home.json(['doctor', '--offline'], 0, env);
  for (const name of ['service', 'clock'])
    expect(checks).toContainEqual({ name, ok: null, detail: 'skipped: --offline', fix: null });
});

it('status shows a reconcile that a person ran, and no next run where no daemon runs', async () => {
  const home = await makeHome({ settleMs: 600_000 });
  const env = { COUNTERFOIL_SCHEDULES_RECONCILE: yearly };
  await home.json(['submit', home.put('pay.csv', batchOf(1))], 0);
  await home.json(['reconcile'], 0, env);
  const shown = jobOf(await home.json(['status'], 0, env), 'reconcile');
  expect(shown).toMatchObject({ last_result: { kind: 'succeeded', complete: true }, next_run_at: null });
  expect(Date.parse(shown.last_run_at)).toBeGreaterThan(Date.now() - 60_000);
  await home.sandbox.stop();
  await hurried(() => home.run(['reconcile', '--full'], env));
  const full = jobOf(await home.json(['status'], 4, env), 'reconcile_full');
  expect(full.last_result).toMatchObject({ kind: 'incomplete' });
  expect((await home.run(['status'], env)).out).toMatch(/last reconciliation \d+ \w+ [\s\S]*No daemon runs/);
});

it('status ends with 4 where payouts are ready and nothing has run for an hour', async () => {
  const home = await makeHome({ settleMs: 600_000 });
  await home.json(['submit', '--no-wait', home.put('pay.csv', batchOf(2))], 0);
  await home.json(['status'], 0);
  const hours = (n: number): string => new Date(Date.now() - n * 3_600_000).toISOString();
  await changeLedger(home, [
    `update workers set started_at = '${hours(3)}', ended_at = '${hours(2)}'`,
    `update payouts set updated_at = '${hours(2)}'`,
  ]);
  const done = await home.run(['status']);
  expect(done.code).toBe(4);
  expect(done.out).toContain('! Payouts are ready, and nothing that sends has run for an hour');
});

it('status ends with 4 where a daemon left its schedule behind, and with 0 again after it ran', async () => {
  const home = await makeHome({ settleMs: 600_000 });
  const env = { COUNTERFOIL_SCHEDULES_REPORT: '0 6 * * *' };
  const { daemon } = await serving(home, env);
  await until(
    20_000,
    () => home.json(['status'], 0, env),
    (now) => jobOf(now, 'report').last_result?.kind === 'succeeded',
  );
  daemon.signal('SIGTERM');
  await daemon.done;
  await home.json(['status'], 0, env);
  const long = new Date(Date.now() - 3 * 86_400_000).toISOString();
  await changeLedger(home, [
    `update workers set started_at = '${long}', ended_at = '${long}'`,
    `update jobs set last_run_at = '${long}', last_success_at = '${long}'`,
  ]);
  expect((await home.run(['status'], env)).out).toMatch(
    /! report(?: on \S+)?: it is overdue since \d+ \w+ 06:00$/m,
  );
  await home.json(['status'], 4, env);
  await serving(home, env);
  await until(
    20_000,
    () => home.run(['status'], env),
    ({ code }) => code === 0,
  );
});

it('doctor says not ok where the receiver is on and no serve runs', async () => {
  const home = await makeHome({}, { COUNTERFOIL_RECEIVER_ENABLED: 'true' });
  const receiverOf = async (code: number, env = {}): Promise<Json> =>
    (await home.json(['doctor', '--offline'], code, env)).checks.find(
      ({ name }: { name: string }) => name === 'receiver',
    );
  await home.run(['submit']);
  expect(await receiverOf(1)).toMatchObject({ ok: false, detail: expect.stringContaining('no serve runs') });
  expect(await receiverOf(0, { COUNTERFOIL_RECEIVER_ENABLED: 'false' })).toMatchObject({ ok: true });
  await serving(home);
  expect(await receiverOf(0)).toMatchObject({ ok: true, detail: 'serve runs' });
});

it.skipIf(onPostgres)(
  'serve makes backups in ledger.backup_dir; status and doctor say how old it is, and what failed',
  async () => {
    const home = await makeHome({ settleMs: 600_000 });
    const env = {
      COUNTERFOIL_SCHEDULES_RECONCILE: '',
      COUNTERFOIL_SCHEDULES_RECONCILE_FULL: '',
      COUNTERFOIL_LEDGER_BACKUP_DIR: 'backups',
    };
    await serving(home, env);
    const backupOf = (kind: string) =>
      until(
        20_000,
        async () => JSON.parse((await home.run(['status', '--json'], env)).out),
        (now) => jobOf(now, 'backup')?.last_result?.kind === kind,
      );
    const { file, bytes } = jobOf(await backupOf('succeeded'), 'backup').last_result;
    expect(statSync(file).size).toBe(bytes);
    const checks = async (): Promise<Json[]> =>
      JSON.parse((await home.run(['doctor', '--offline', '--json'], env)).out).checks;
    const backups = async () => (await checks()).find(({ name }) => name === 'backups');
    expect(await backups()).toMatchObject({ ok: true, detail: expect.stringContaining('0 minutes old') });
    const old = file.replace(/\d{8}T/, '20200101T');
    renameSync(file, old);
    expect(await backups()).toMatchObject({ ok: false, detail: expect.stringContaining('days old') });
    renameSync(old, file.replace(/\d{8}T/, '29990101T'));
    expect(await backups()).toMatchObject({ ok: false, detail: expect.stringContaining('still to come') });
  },
);

it.skipIf(onPostgres)(
  'a backup that cannot be made is a failed job, which status and doctor name',
  async () => {
    const home = await makeHome({ settleMs: 600_000 });
    const env = { COUNTERFOIL_SCHEDULES_RECONCILE: '', COUNTERFOIL_LEDGER_BACKUP_DIR: 'no/disk' };
    await serving(home, env);
    await until(
      20_000,
      async () => JSON.parse((await home.run(['status', '--json'], env)).out),
      (now) => jobOf(now, 'backup')?.last_result?.kind === 'failed',
    );
    const status = await home.run(['status'], env);
    expect(flat(status.out)).toMatch(/! backup: its last run failed: there is no folder /);
    expect(status.code).toBe(4);
  },
);
