import { parseArgs } from 'node:util';
import { startPostgres } from '../support/postgres-server.ts';
import { runChaos } from './chaos.ts';

const { values } = parseArgs({
  options: {
    payouts: { type: 'string', default: '100000' },
    seconds: { type: 'string', default: '300' },
    seed: { type: 'string', default: '1' },
    ledger: { type: 'string', default: 'sqlite' },
    'clock-steps': { type: 'boolean', default: false },
  },
});

const server = values.ledger === 'postgres' ? await startPostgres({ fsync: 'on' }) : null;
if (values.ledger === 'postgres' && !server) throw new Error('--ledger postgres: there is no PostgreSQL');
let figures: Awaited<ReturnType<typeof runChaos>>;
try {
  figures = await runChaos({
    payouts: whole('payouts', values.payouts),
    seconds: whole('seconds', values.seconds),
    seed: whole('seed', values.seed),
    clockSteps: values['clock-steps'],
    say: (line) => void process.stderr.write(`${line}\n`),
    ...(server && { server }),
  });
} finally {
  await server?.stop();
}
const width = Math.max(...figures.map(({ what }) => what.length));
for (const { what, value, wrong } of figures)
  console.log(`${what.padEnd(width)}  ${value}${wrong ? '  WRONG' : ''}`);
if (figures.some(({ wrong }) => wrong)) process.exitCode = 1;

function whole(name: string, text: string): number {
  if (!/^[1-9]\d{0,6}$/.test(text)) throw new Error(`--${name}: expected a whole number, got "${text}"`);
  return Number(text);
}
