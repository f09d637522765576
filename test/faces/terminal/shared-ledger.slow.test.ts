import { afterAll, describe, expect, it } from 'vitest';
import { batchOf, flat, makeHome } from '../../support/cli.ts';
import { inProcess } from '../../support/in-process.ts';
import { startNextVersion } from '../../support/older-ledger.ts';
import { query } from '../../support/on-postgres/template.ts';
import { noPostgres, type PostgresServer, startPostgres } from '../../support/postgres-server.ts';

const server: PostgresServer | null = await startPostgres({ fsync: 'on' });
afterAll(() => server?.stop());

describe.skipIf(!server)(`machines that share a ledger${server ? '' : noPostgres}`, () => {
  it('status tells a daemon of another machine from none, and from one of its own', async () => {
    const ledger = { COUNTERFOIL_LEDGER_URL: `${server?.url}?schema=status` };
    const [one, two] = [await makeHome({}, ledger), await makeHome({}, ledger)];
    const standing = async () => (await two.json(['status'], 0)).daemon;
    await one.json(['submit'], 0);
    expect(await standing()).toEqual({ running: false, elsewhere: false });
    const daemon = one.start(['serve', '--json']);
    await daemon.line(/"ready":true/);
    expect((await one.json(['status'], 0)).daemon).toEqual({ running: true });
    expect(await standing()).toEqual({ running: false, elsewhere: true });
    expect((await two.run(['status'])).out).toMatch(
      /^ {2}Daemon running on this ledger, but for another data folder/m,
    );
    daemon.signal('SIGKILL');
    await daemon.done;
    expect(await standing()).toEqual({ running: false, elsewhere: false });
  });

  it('P24: a schema belongs to the mode that made it', async () => {
    const ledger = { COUNTERFOIL_LEDGER_URL: `${server?.url}?schema=modes` };
    const [one, two] = [await makeHome({}, ledger), await makeHome({}, ledger)];
    await one.json(['submit', one.put('pay.csv', batchOf(1)), '--no-wait'], 0);
    two.put('data/inbox/november.csv', batchOf(1, 5));
    const live = { COUNTERFOIL_MODE: 'live', COUNTERFOIL_LIVE_SECRET_KEY: 'sk_live_1' };
    for (const args of [['submit', '--live', '--yes'], ['status']])
      expect(await two.run(args, live), args.join(' ')).toMatchObject({
        code: 2,
        err: expect.stringMatching(/is of\s+mode test[\s\S]*counterfoil init --mode live DIR/),
      });
    expect(two.names('data/inbox')).toEqual(['collections', 'november.csv']);
  });

  it('an older schema is only upgraded alone, and the person hears that the backup is the database’s', async () => {
    const url = `${server?.url}?schema=older`;
    const home = inProcess(await makeHome({}, { COUNTERFOIL_LEDGER_URL: url }));
    await home.json(['submit'], 0);
    const count = async () => (await query(url, 'select name from older.kysely_migration')).length;
    const all = await count();
    const daemon = home.start(['serve', '--json']);
    await daemon.line(/"ready":true/);
    startNextVersion();
    for (const args of [['upgrade'], ['submit']])
      expect(await home.run(args), args.join(' ')).toMatchObject({ code: 11 });
    daemon.signal('SIGTERM');
    await daemon.done;
    expect(await home.run(['status'])).toMatchObject({
      code: 1,
      err: expect.stringMatching(/run counterfoil upgrade/),
    });
    expect(await home.json(['upgrade', '--check'], 0)).toMatchObject({ due: true });
    expect(await count()).toBe(all);
    expect(await home.run(['upgrade'])).toMatchObject({
      code: 0,
      err: expect.stringMatching(/makes no backup on PostgreSQL/),
    });
    expect(await count()).toBe(all + 1);
  });

  it('a reconciliation has the server count what it listed, before it compares', async () => {
    const url = `${server?.url}?schema=counted`;
    const home = inProcess(await makeHome({ settleMs: 0 }, { COUNTERFOIL_LEDGER_URL: url }));
    await home.json(['submit', home.put('pay.csv', batchOf(30))], 0);
    await home.run(['reconcile', '--full']);
    const known = await query(
      url,
      `select most_common_vals::text as runs from pg_stats where schemaname = 'counted'
         and tablename = 'listed' and attname = 'run_id'`,
    );
    expect(known).toEqual([{ runs: expect.stringMatching(/^\{\d{8}T\d{6}Z\}$/) }]);
  });

  it('migrate shows no password, and says where it is to be put', async () => {
    const home = await makeHome();
    expect((await home.run(['submit', '--no-wait', home.put('pay.csv', batchOf(1))])).code).toBe(0);
    const to = new URL(`${server?.url}?schema=moved`);
    to.password = 'geheim-wort';
    const moved = await home.run(['migrate', '--to', to.href]);
    expect(moved.err + moved.out).not.toContain('geheim');
    expect(moved.out).toMatch(
      /set COUNTERFOIL_LEDGER_URL to postgres:\/\/\S+:\*\*\*@\S+, with the password in place of \*\*\*, in \S+\.env$/m,
    );
    const old = await home.run(['submit']);
    expect([old.code, flat(old.err)]).toEqual([
      1,
      expect.stringMatching(/set ledger.url to it, with the password in place of/),
    ]);
    expect(old.err).not.toContain('geheim');
  });
});
