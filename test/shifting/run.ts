import { parseArgs } from 'node:util';
import { shiftingDay } from './shifting-day.ts';

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '1000' },
    rows: { type: 'string', default: '500' },
    from: { type: 'string', default: '1' },
  },
});
const [seeds, rows, from] = [Number(values.seeds), Number(values.rows), Number(values.from)];

const began = performance.now();
const nights: Record<string, number> = {};
let planted = 0;
for (let seed = from; seed < from + seeds; seed++) {
  const result = await shiftingDay(seed, rows);
  planted += result.planted;
  for (const complete of result.complete) {
    const name = `${result.order}: ${complete}`;
    nights[name] = (nights[name] ?? 0) + 1;
  }
  if (result.wrongs.length > 0) {
    console.log(`seed ${seed}, a list by ${result.order}:\n  ${result.wrongs.slice(0, 20).join('\n  ')}`);
    console.log(`again: npm run shifting -- --seeds 1 --rows ${rows} --from ${seed}`);
    process.exit(1);
  }
  if ((seed - from + 1) % 50 === 0) console.error(`${seed - from + 1} seeds`);
}
for (const [name, count] of Object.entries(nights).toSorted(([a], [b]) => (a < b ? -1 : 1)))
  console.log(`${String(count).padStart(8)}  ${name}`);
const seconds = ((performance.now() - began) / 1000).toFixed(0);
console.log(`${seeds} seeds of ${rows} rows, ${planted} wrongs planted, ${seconds} s: 0 missed, 0 false`);
