import { afterAll, describe, expect, it } from 'vitest';
import { makeHome } from '../support/cli.ts';
import { noPostgres, type PostgresServer, startPostgres } from '../support/postgres-server.ts';

const server: PostgresServer | null = await startPostgres({ fsync: 'on' });
afterAll(() => server?.stop());

describe.skipIf(!server)(`machines that share a ledger${server ? '' : noPostgres}`, () => {
  it('status tells a daemon of another machine from none, and from one of its own', async () => {
    const ledger = { COUNTERFOIL_LEDGER_URL: `${server?.url}?schema=status` };
    const [one, two] = [await makeHome({}, ledger), await makeHome({}, ledger)];
    const standing = async () => (await two.json(['status'], 0)).daemon;
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
});
