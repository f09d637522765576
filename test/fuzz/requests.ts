import { parseArgs } from 'node:util';
import { startReceiver } from '../support/receiver.ts';
import { holdConversations } from './raw-requests.ts';

const { values } = parseArgs({
  options: { runs: { type: 'string', default: '10000' }, seed: { type: 'string', default: '1' } },
});

let unhandled = 0;
for (const event of ['unhandledRejection', 'uncaughtException'] as const)
  process.on(event, (error: unknown) => {
    unhandled += 1;
    console.error(event, error);
  });

const began = performance.now();
const running = await startReceiver({ requestTimeoutMs: 5000 });
const { held, statuses, problems } = await holdConversations(running, {
  runs: Number(values.runs),
  seed: Number(values.seed),
});
await running.remove();
const told = [...statuses].toSorted(([a], [b]) => a - b).map(([status, count]) => `${status} ${count} times`);
console.log(
  `${held} conversations in ${((performance.now() - began) / 1000).toFixed(1)} s: ${told.join(', ')}; ${unhandled} unhandled, ${problems.length} problems`,
);
for (const problem of problems.slice(0, 20)) console.log(problem);
process.exitCode = problems.length + unhandled > 0 ? 1 : 0;
