import { parseArgs } from 'node:util';
import { runStalled } from './stalled.ts';

const { values } = parseArgs({
  options: {
    uploads: { type: 'string', default: '1000' },
    parallel: { type: 'string', default: '40' },
    settle: { type: 'string', default: '2' },
    seed: { type: 'string', default: '1' },
  },
});

const figures = await runStalled({
  count: Number(values.uploads),
  parallel: Number(values.parallel),
  settleSeconds: Number(values.settle),
  seed: Number(values.seed),
  patienceMs: 90_000,
  say: (line) => void process.stderr.write(`${line}\n`),
});
for (const [what, value] of Object.entries(figures)) console.log(`${what.padEnd(12)} ${value}`);
if (figures.fromPartial + figures.paidTwice + figures.missing > 0) process.exitCode = 1;
