import { cpus } from 'node:os';
import { parseArgs } from 'node:util';
import { startPostgres } from '../support/postgres-server.ts';
import { startRedis } from '../support/redis-server.ts';
import { type Ran, runWorkers } from './workers-run.ts';

/** Where the ledger and the queue lie. */
const arrangements: { name: string; ledger: 'sqlite' | 'postgres'; queue: 'redis' | 'postgres' }[] = [
  { name: 'sqlite+redis', ledger: 'sqlite', queue: 'redis' },
  { name: 'postgres+redis', ledger: 'postgres', queue: 'redis' },
  { name: 'postgres+postgres', ledger: 'postgres', queue: 'postgres' },
];

const { values } = parseArgs({
  options: {
    payouts: { type: 'string', default: '8000' },
    workers: { type: 'string', default: '1,2,4' },
    concurrency: { type: 'string', default: '16' },
    latency: { type: 'string', default: '50' },
    only: { type: 'string', default: '' },
    kill: { type: 'boolean', default: false },
  },
});
const [payouts, concurrency, latencyMs] = [values.payouts, values.concurrency, values.latency].map(Number);
if (!payouts || !concurrency || latencyMs === undefined || Number.isNaN(latencyMs))
  throw new Error('--payouts, --concurrency and --latency are whole numbers');
const counts = values.workers.split(',').map(Number);
const wanted = arrangements.filter(({ name }) => values.only === '' || values.only === name);
if (wanted.length === 0) throw new Error(`--only: one of ${arrangements.map(({ name }) => name).join(', ')}`);

const redis = wanted.some(({ queue }) => queue === 'redis') ? await startRedis() : null;
const postgres = wanted.some(({ ledger, queue }) => ledger === 'postgres' || queue === 'postgres')
  ? await startPostgres({ fsync: 'on' })
  : null;
try {
  const limit = latencyMs === 0 ? '' : `; one worker alone can send ${(concurrency * 1000) / latencyMs}/s`;
  console.log(
    `${payouts} payouts, ${concurrency} requests in flight a worker, a service that takes ${latencyMs} ms${limit}; ${cpus().length} processors for all of it, the service and the servers included\n`,
  );
  console.log(
    '| ledger + queue    | workers | payouts/s | steady | times one | busy % | cpu ms each | twice | lost | kills |',
  );
  console.log(
    '|-------------------|--------:|----------:|-------:|----------:|-------:|------------:|------:|-----:|------:|',
  );
  for (const arrangement of wanted) await measure(arrangement);
} finally {
  await redis?.stop();
  await postgres?.stop();
}

async function measure({ name, ledger, queue }: (typeof arrangements)[number]): Promise<void> {
  const server = queue === 'redis' ? redis : postgres;
  if (!server || (ledger === 'postgres' && !postgres)) {
    console.log(`| ${name.padEnd(17)} | skipped: no ${queue} server, or none of its ledger`);
    return;
  }
  let first: Ran | undefined;
  for (const workers of counts) {
    const schema = `bench_${workers}_${queue}`;
    const ran = await runWorkers({
      workers,
      payouts: payouts ?? 0,
      concurrency: concurrency ?? 0,
      latencyMs: latencyMs ?? 0,
      queueUrl: server.url,
      ...(ledger === 'postgres' && { ledgerUrl: `${postgres?.url}?schema=${schema}` }),
      kill: values.kill,
      say: (line) => void process.stderr.write(`${line}\n`),
    });
    first ??= ran;
    const cells = [
      String(workers).padStart(7),
      ran.perSecond.toFixed(0).padStart(9),
      ran.steadyPerSecond.toFixed(0).padStart(6),
      (ran.perSecond / first.perSecond).toFixed(2).padStart(9),
      ran.busyPercent.toFixed(0).padStart(6),
      ran.cpuMs.toFixed(2).padStart(11),
      String(ran.sentTwice).padStart(5),
      String(ran.lost).padStart(4),
      String(ran.kills).padStart(5),
    ];
    console.log(`| ${name.padEnd(17)} | ${cells.join(' | ')} |`);
    if (ran.sentTwice > 0 || ran.lost > 0) process.exitCode = 1;
  }
}
