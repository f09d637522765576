import { parseArgs } from 'node:util';
import { startPostgres } from '../support/postgres-server.ts';
import { startRedis } from '../support/redis-server.ts';
import { runSettling } from './settling-run.ts';

const { values } = parseArgs({
  options: {
    payouts: { type: 'string', default: '3000' },
    workers: { type: 'string', default: '1,2,4' },
    latency: { type: 'string', default: '50' },
    rate: { type: 'string', default: '0' },
    patience: { type: 'string', default: '300' },
    only: { type: 'string', default: '' },
    kill: { type: 'boolean', default: false },
  },
});
const arrangements = ['sqlite+redis', 'postgres+redis'].filter(
  (name) => values.only === '' || values.only === name,
);
const redis = await startRedis();
const postgres = arrangements.includes('postgres+redis') ? await startPostgres({ fsync: 'on' }) : null;
if (!redis) throw new Error('no redis-server here');
try {
  console.log(
    '| ledger + queue | workers | seconds | to send | look-ups | pages | requests a payout | unknown | open | kills |',
  );
  console.log(
    '|----------------|--------:|--------:|--------:|---------:|------:|------------------:|--------:|-----:|------:|',
  );
  for (const name of arrangements) {
    for (const workers of values.workers.split(',').map(Number)) {
      const payouts = Number(values.payouts);
      const ran = await runSettling({
        ...{ workers, payouts, queueUrl: redis.url, kill: values.kill },
        latencyMs: Number(values.latency),
        requestsPerSecond: Number(values.rate),
        patienceMs: Number(values.patience) * 1000,
        ...(name === 'postgres+redis' && { ledgerUrl: `${postgres?.url}?schema=settling_${workers}` }),
      });
      const cells = [
        name.padEnd(14),
        String(workers).padStart(7),
        ran.seconds.toFixed(1).padStart(7),
        ran.secondsToSend.toFixed(1).padStart(7),
        String(ran.lookUps).padStart(8),
        String(ran.pages).padStart(5),
        (ran.requests / payouts).toFixed(3).padStart(17),
        String(ran.unknown).padStart(7),
        String(ran.unsettled).padStart(4),
        String(ran.kills).padStart(5),
      ];
      console.log(`| ${cells.join(' | ')} |`);
      if (ran.unsettled > 0) process.exitCode = 1;
    }
  }
} finally {
  await redis.stop();
  await postgres?.stop();
}
