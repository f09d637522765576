import { afterAll, describe, expect, it } from 'vitest';
import { batchOf, makeHome } from '../support/cli.ts';
import { noPostgres, type PostgresServer, startPostgres } from '../support/postgres-server.ts';

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
      /^daemon +running on this ledger, but not for this data folder/m,
    );
    daemon.signal('SIGKILL');
    await daemon.done;
    expect(await standing()).toEqual({ running: false, elsewhere: false });
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
    expect([old.code, old.err]).toEqual([
      1,
      expect.stringMatching(/set ledger.url to it, with the password in place of/),
    ]);
    expect(old.err).not.toContain('geheim');
  });
});
