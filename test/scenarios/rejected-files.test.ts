import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openLedger } from '../../src/custody/open-ledger.ts';
import { csv, type Home, row } from '../support/cli.ts';
import { makeHome } from '../support/decided.ts';
import { born } from '../support/ledger.ts';
import { serving } from '../support/serving.ts';

const bad = csv(row(1), row(2, { amount: '-1' }));
const good = csv(row(1), row(2));

async function withRefused(settings: Record<string, string> = {}): Promise<Home> {
  const home = await makeHome({}, settings);
  home.put('data/inbox/november.csv', bad);
  await home.json(['submit'], 3);
  return home;
}

it('a file that was refused yesterday is still in status and doctor, until a good one of its name is taken', async () => {
  const home = await withRefused({ COUNTERFOIL_RECEIVER_ENABLED: 'false' });
  const status = await home.run(['status']);
  expect(status.code).toBe(4);
  expect(status.out).toContain('Needs a person: 1 file refused or taken in part');
  expect(status.out.replaceAll(/\s+/g, ' ')).toMatch(
    /rejected: november\.csv was refused, and nothing of it is paid: 1 problem, see \S+november\.errors\.csv/,
  );
  expect((await home.json(['status'], 4)).inbox.rejected).toMatchObject([
    { kind: 'refused', file: 'november.csv', problems: 1, rows: 0, batch: null },
  ]);
  const { checks } = await home.json(['doctor', '--offline'], 1);
  expect(checks.find(({ name }: { name: string }) => name === 'files')).toMatchObject({
    ok: false,
    detail: expect.stringContaining('november.csv was refused'),
    fix: expect.stringContaining('counterfoil ack november.csv'),
  });
  home.put('data/inbox/november.csv', good);
  await home.json(['submit', '--no-wait'], 0);
  expect((await home.json(['status'], 0)).inbox.rejected).toEqual([]);
  await home.json(['doctor', '--offline'], 0);
});

it('ack ends what is known of a refused file, and says so of one that it does not know', async () => {
  const home = await withRefused();
  const unknown = await home.run(['ack', 'december.csv']);
  expect(unknown).toMatchObject({ code: 2, err: expect.stringContaining('no refused file') });
  const told = await home.json(['ack', 'november.csv', '--note', 'sent by mistake'], 0);
  expect(told).toMatchObject({ changed: 0, files: [{ file: 'november.csv', kind: 'refused' }] });
  expect((await home.json(['status'], 0)).inbox.rejected).toEqual([]);
});

it('the commands that it names can be pasted, whatever the name of the file', async () => {
  const home = await makeHome();
  home.put("data/inbox/Ada's pay (1).csv", bad);
  await home.json(['submit'], 3);
  const { checks } = await home.json(['doctor', '--offline'], 1);
  const { fix } = checks.find(({ name }: { name: string }) => name === 'files');
  expect(fix).toContain(String.raw`counterfoil ack 'Ada'\''s pay (1).csv' --note`);
});

it('names the batch that lacks the rows which were left out', async () => {
  const home = await withRefused({ COUNTERFOIL_INTAKE_ON_INVALID_ROW: 'skip_row' });
  const { inbox } = await home.json(['status'], 4);
  expect(inbox.rejected).toMatchObject([
    { kind: 'left_out', file: 'november.csv', rows: 1, batch: expect.stringMatching(/^november-/) },
  ]);
  expect((await home.run(['status'])).out.replaceAll(/\s+/g, ' ')).toMatch(
    /1 row of november\.csv was left out of november-\S+: 1 problem/,
  );
});

it('the dashboard names a refused file among what needs a person', async () => {
  const home = await withRefused();
  const { daemon } = await serving(home);
  const { admin } = JSON.parse(await daemon.line(/"ready":true/));
  const page = await (await fetch(admin)).text();
  expect(page).toContain('november.csv was refused, and nothing of it is paid');
});

it('status names the machine on which a refused file lies, where that is another one', async () => {
  const home = await withRefused();
  expect((await home.run(['status'])).out).not.toContain('errors.csv, on ');
  const ledger = await openLedger(join(home.dir, 'data', 'ledger.db'), { now: () => born });
  const past = { job: 'intake', host: 'other', place: 'lagos-2:/srv/pay', last_run_at: null };
  await ledger.write(async (trx) => {
    await trx.updateTable('rejected_files').set({ machine: 'other' }).execute();
    await trx
      .insertInto('jobs')
      .values({ ...past, last_success_at: null, last_result: null })
      .execute();
  });
  await ledger.close();
  const { out } = await home.run(['status']);
  expect(out.replaceAll(/\s+/g, ' ')).toContain('november.errors.csv, on lagos-2:/srv/pay');
});
