import { expect, it, onTestFinished } from 'vitest';
import { outageOfPostgres } from '../drills/database-outage.ts';
import { noPostgres, startPostgres } from '../support/postgres-server.ts';

const long = { timeout: 240_000 };
const server = await startPostgres({ fsync: 'on' });
const has = server?.kill != null;
const title = has ? '' : noPostgres;

it.skipIf(!has)(
  `P12: goes on by itself after PostgreSQL was away in the middle of a batch${title}`,
  long,
  async () => {
    if (!server) return;
    onTestFinished(() => server.stop());
    const { lines, failed } = await outageOfPostgres(server, { seconds: 8, payouts: 300 });
    expect(failed, lines.join('\n')).toBe(false);
  },
);
