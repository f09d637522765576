import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { batchOf, flat, type Home, makeHome, until } from '../support/cli.ts';
import { query } from '../support/on-postgres/template.ts';
import { noPostgres, type PostgresServer, startPostgres } from '../support/postgres-server.ts';

const server: PostgresServer | null = await startPostgres({ fsync: 'on' });
afterAll(() => server?.stop());

const everyMinute = { COUNTERFOIL_SCHEDULES_INTAKE: '* * * * *' };

/** Two data folders with one ledger, each with its own `serve`. */
async function twoHosts(schema: string, settings: Record<string, string>) {
  const shared = { COUNTERFOIL_LEDGER_URL: `${server?.url}?schema=${schema}`, ...settings };
  const homes = [await makeHome({}, shared), await makeHome({}, shared)] as const;
  const daemons = [];
  for (const home of homes) {
    const daemon = home.start(['serve', '--json']);
    await daemon.line(/"ready":true/);
    daemons.push(daemon);
  }
  return { homes, daemons };
}

/** Drops a file as people should: under its name at once. */
function drop(home: Home, name: string, text: string): void {
  renameSync(home.put(`data/${name}`, text), join(home.dir, 'data/inbox', name));
}

const isGone = (names: string[]): boolean => !names.some((name) => name.endsWith('.csv'));

describe.skipIf(!server)(`two hosts with one ledger${server ? '' : noPostgres}`, () => {
  it('each take in the files of their own inbox within a minute', async () => {
    const { homes } = await twoHosts('inboxes', everyMinute);
    for (const [n, home] of homes.entries()) drop(home, `batch-${n}.csv`, batchOf(2, 1 + 10 * n));
    // One due time: the host that is later at the ledger waits for no other.
    await until(64_000, () => homes.flatMap((home) => home.names('data/inbox')), isGone);
    const batches = await query(`${server?.url}`, 'select file_name as name from inboxes.batches order by 1');
    expect(batches).toEqual([{ name: 'batch-0.csv' }, { name: 'batch-1.csv' }]);
  }, 120_000);

  it('name the host whose inbox nobody reads, until it counts as gone', async () => {
    const { homes, daemons } = await twoHosts('gone', everyMinute);
    const [one, two] = homes;
    const url = `${server?.url}`;
    const intakes = async () => {
      const { schedules } = JSON.parse((await one.run(['status', '--json'])).out);
      return schedules.filter((row: { job: string }) => row.job === 'intake');
    };
    await until(
      10_000,
      intakes,
      (rows) =>
        rows.length === 2 &&
        rows.every((row: { last_result: { kind: string } | null }) => row.last_result?.kind === 'succeeded'),
    );
    daemons[1]?.signal('SIGKILL');
    await daemons[1]?.done;
    const place = `${join(two.dir, 'data')}`;
    const past = (ms: number): string => new Date(Date.now() - ms).toISOString();
    const age = (ms: number) =>
      query(
        url,
        `update gone.jobs set last_run_at = '${past(ms)}', last_success_at = '${past(ms)}' where place like '%${place}'`,
      );
    await age(3_600_000);
    const status = await one.run(['status']);
    expect([status.code, flat(status.out)]).toEqual([
      4,
      expect.stringMatching(new RegExp(`! intake on \\S+:${place}: it is overdue`)),
    ]);
    await age(8 * 24 * 3_600_000);
    await until(40_000, intakes, (rows) => rows.length === 1);
    expect((await one.run(['status'])).code).toBe(0);
  });
});
