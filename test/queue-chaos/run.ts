import { parseArgs } from 'node:util';
import { startPostgres } from '../support/postgres-server.ts';
import { runQueueChaos } from './queue-chaos.ts';

const { values } = parseArgs({
  options: {
    payouts: { type: 'string', default: '3000' },
    'per-second': { type: 'string', default: '15' },
    outages: { type: 'string', default: '20' },
    'outage-seconds': { type: 'string', default: '60' },
    seed: { type: 'string', default: '1' },
    daemons: { type: 'string', default: '2' },
    ledger: { type: 'string', default: 'sqlite' },
  },
});

const server = values.ledger === 'postgres' ? await startPostgres({ fsync: 'on' }) : null;
if (values.ledger === 'postgres' && !server) throw new Error('--ledger postgres: there is no PostgreSQL');
let figures: Awaited<ReturnType<typeof runQueueChaos>>;
try {
  figures = await runQueueChaos({
    payouts: whole('payouts', values.payouts),
    perSecond: whole('per-second', values['per-second']),
    outages: whole('outages', values.outages),
    outageSeconds: whole('outage-seconds', values['outage-seconds']),
    seed: whole('seed', values.seed),
    daemons: whole('daemons', values.daemons),
    ...(server && { server }),
    say: (line) => void process.stderr.write(`${line}\n`),
  });
} finally {
  await server?.stop();
}
if (figures === null) console.log('skipped: no redis-server');
const width = Math.max(0, ...(figures ?? []).map(({ what }) => what.length));
for (const { what, value, wrong } of figures ?? [])
  console.log(`${what.padEnd(width)}  ${value}${wrong ? '  WRONG' : ''}`);
if (figures?.some(({ wrong }) => wrong)) process.exitCode = 1;

function whole(name: string, text: string): number {
  if (!/^[1-9]\d{0,6}$/.test(text)) throw new Error(`--${name}: expected a whole number, got "${text}"`);
  return Number(text);
}
