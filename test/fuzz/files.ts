import { parseArgs } from 'node:util';
import { dropFiles } from './hostile-files.ts';

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
const { runs, taken, skipped, refused, problems } = await dropFiles({
  runs: Number(values.runs),
  seed: Number(values.seed),
});
console.log(
  `${runs} files in ${((performance.now() - began) / 1000).toFixed(1)} s: ${taken} taken (${skipped} without their bad rows), ${refused} refused; ${unhandled} unhandled, ${problems.length} problems`,
);
for (const problem of problems.slice(0, 20)) console.log(problem);
process.exitCode = problems.length + unhandled > 0 ? 1 : 0;
