import { expect, it, onTestFinished } from 'vitest';
import { outageOfServers } from '../drills/database-outage.ts';
import { noPostgres, startPostgres } from '../support/postgres-server.ts';
import { noRedis, startRedis } from '../support/redis-server.ts';

const long = { timeout: 240_000 };
const server = await startPostgres({ fsync: 'on' });
const redis = await startRedis();
const has = server?.kill != null && redis?.kill != null;
const title = has ? '' : `${server ? '' : noPostgres}${redis ? '' : noRedis}`;

it.skipIf(!has)(
  `P12: goes on by itself after PostgreSQL and Redis were away in the middle of a batch${title}`,
  long,
  async () => {
    if (!server || !redis) return;
    onTestFinished(() => server.stop());
    onTestFinished(() => redis.stop());
    const { lines, failed } = await outageOfServers({ server, redis }, { seconds: 8, payouts: 300 });
    expect(failed, lines.join('\n')).toBe(false);
  },
);
