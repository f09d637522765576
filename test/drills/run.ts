import { parseArgs } from 'node:util';
import { type PostgresServer, startPostgres } from '../support/postgres-server.ts';
import { startRedis } from '../support/redis-server.ts';
import { measureAlerts } from './alert-times.ts';
import { measureArchive } from './archive.ts';
import { besideStatus } from './beside-status.ts';
import { outageOfServers } from './database-outage.ts';
import { runDrills } from './drills.ts';
import { failOver } from './failover.ts';
import { measureReloads } from './reload.ts';
import { measureSlow } from './slow.ts';
import { soak } from './soak.ts';
import { tryDashboard } from './tries.ts';
import { measureWebhooks } from './webhooks.ts';

const { values } = parseArgs({
  options: {
    'beside-status': { type: 'string' },
    webhooks: { type: 'string' },
    slow: { type: 'string' },
    archive: { type: 'string' },
    /** The longest that an alert may take from its cause, in seconds. */
    alerts: { type: 'string' },
    /** Seconds for which PostgreSQL and Redis are stopped in the middle of a batch. */
    outage: { type: 'string' },
    /** Kills PostgreSQL in the middle of a batch of so many, and promotes its standby. */
    failover: { type: 'string' },
    /** Minutes of steady load. */
    soak: { type: 'string' },
    /** Reloads under a load of webhooks. */
    reload: { type: 'string' },
    tries: { type: 'boolean', default: false },
    /** Only the outages whose name holds this text. */
    only: { type: 'string', default: '' },
    /** Controls, which must fail: no way out for alerts, or no outage. */
    'alerts-off': { type: 'boolean', default: false },
    'no-outage': { type: 'boolean', default: false },
    'signal-seconds': { type: 'string', default: '240' },
    'alert-seconds': { type: 'string', default: '280' },
    'cleared-seconds': { type: 'string', default: '280' },
  },
});

const seconds = (name: 'signal' | 'alert' | 'cleared'): number => wholeNumber(values[`${name}-seconds`]);
const { lines, failed } = await chosen();
for (const line of lines) console.log(line);
if (failed) process.exitCode = 1;

function chosen(): Promise<Verdict> {
  if (values['beside-status'] !== undefined) return besideStatus(wholeNumber(values['beside-status']));
  if (values.webhooks !== undefined) return measureWebhooks(wholeNumber(values.webhooks));
  if (values.slow !== undefined) return measureSlow(wholeNumber(values.slow));
  if (values.archive !== undefined) return measureArchive(wholeNumber(values.archive));
  if (values.alerts !== undefined) return measureAlerts(wholeNumber(values.alerts));
  if (values.outage !== undefined) return stopServers(wholeNumber(values.outage));
  const { failover } = values;
  if (failover !== undefined)
    return withPostgres((server) => failOver(server, { payouts: wholeNumber(failover) }));
  if (values.soak !== undefined) return soak(wholeNumber(values.soak));
  if (values.reload !== undefined) return measureReloads(wholeNumber(values.reload));
  if (values.tries) return tryDashboard();
  return runDrills({
    only: values.only,
    bounds: { signal: seconds('signal'), alert: seconds('alert'), cleared: seconds('cleared') },
    settings: values['alerts-off'] ? { COUNTERFOIL_ALERTS_WEBHOOK_URL: '' } : {},
    spared: values['no-outage'],
  });
}

type Verdict = { lines: string[]; failed: boolean };

async function stopServers(seconds: number): Promise<Verdict> {
  const redis = await startRedis();
  if (!redis) throw new Error('there is no Redis: install its server');
  try {
    return await withPostgres((server) => outageOfServers({ server, redis }, { seconds, payouts: 1000 }));
  } finally {
    await redis.stop();
  }
}

async function withPostgres(work: (server: PostgresServer) => Promise<Verdict>): Promise<Verdict> {
  const server = await startPostgres({ fsync: 'on' });
  if (!server) throw new Error('there is no PostgreSQL: install its server');
  try {
    return await work(server);
  } finally {
    await server.stop();
  }
}

function wholeNumber(text: string): number {
  if (!/^[1-9]\d*$/.test(text)) throw new Error(`expected a whole number from 1, got "${text}"`);
  return Number(text);
}
