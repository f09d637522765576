import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { brakeNames } from './brake-weather.ts';
import { allKinds, postFaults } from './coverage.ts';
import type { DayResult } from './day.ts';
import { turnNames } from './long-weather.ts';
import { runDays, type Summary } from './many-days.ts';
import { wishOf } from './short-days.ts';

/** So many seconds make a long run. In it every kind of trouble must have happened, and each of these so often. */
const longRun = 1_500;
const often = 100;
const meetings =
  /^(race: (hold|release) |paper: a month closed|return: undone|list: |zone: the clock goes|ledger: its wait ended by a list)/;

const { values } = parseArgs({
  options: {
    seeds: { type: 'string', default: '200' },
    from: { type: 'string', default: '1' },
    threads: { type: 'string', default: String(availableParallelism()) },
    seconds: { type: 'string', default: '1000000' },
    trace: { type: 'boolean', default: false },
    small: { type: 'boolean', default: false },
    fault: { type: 'string' },
    again: { type: 'string' },
    brake: { type: 'string' },
    turn: { type: 'string' },
    'old-copies': { type: 'boolean', default: false },
    doubtful: { type: 'boolean', default: false },
    json: { type: 'boolean', default: false },
  },
});

/** Days of one sort cannot have all kinds in them. */
const isChosen = [
  values.small,
  values['old-copies'],
  values.doubtful,
  values.fault,
  values.brake,
  values.turn,
].some(Boolean);
let printedAt = 0;
const summary = await runDays({
  from: Number(values.from),
  seeds: Number(values.seeds),
  seconds: Number(values.seconds),
  threads: Number(values.threads),
  dayOf: (seed) => ({
    trace: values.trace,
    small: values.small,
    oldCopies: values['old-copies'],
    doubtful: values.doubtful,
    fault: postFaults.find((fault) => fault === values.fault) ?? null,
    again: postFaults.find((fault) => fault === values.again) ?? null,
    brake: brakeNames.find((name) => name === values.brake) ?? null,
    more: [],
    turn: turnNames.find((name) => name === values.turn) ?? null,
    ...(isChosen ? {} : wishOf(seed)),
  }),
  onDay(result, sofar) {
    if (values.trace) process.stdout.write(`${result.lines.join('\n')}\nhash ${result.hash}\n`);
    if (values.json || values.trace || sofar.seconds - printedAt < 5) return;
    printedAt = sofar.seconds;
    process.stderr.write(
      `${sofar.seeds} seeds, ${sofar.tally.payouts} payouts, ${pace(sofar)} seeds a second\n`,
    );
  },
});
const { failure } = summary;
const isLong = !isChosen && summary.seconds >= longRun;
const floorOf = (kind: string): number => (isLong ? (meetings.test(kind) ? often : 1) : 0);
const rare = allKinds.filter((kind) => (summary.counts[kind] ?? 0) < floorOf(kind));
if (values.json) printJson();
else printText();
process.exitCode = failure || rare.length > 0 ? 1 : 0;

function printJson(): void {
  const { seeds, seconds, tally, counts } = summary;
  const failed = failure && { seed: failure.seed, ...failure.violation };
  process.stdout.write(`${JSON.stringify({ schema: 1, seeds, seconds, ...tally, counts, rare, failed })}\n`);
}

function printText(): void {
  const { seeds, tally, counts } = summary;
  if (failure) process.stdout.write(`${describeFailure(failure)}\n`);
  const lines = [
    ...allKinds.map((kind) => `${String(counts[kind] ?? 0).padStart(8)}  ${kind}`),
    `${seeds} seeds, ${pace(summary)} a second; ${tally.payouts} payouts, ${tally.posts} POSTs, ${tally.paid} paid`,
    `paid again by a person's wrong order: ${tally.operator}`,
    `what no client can know: ${tally.hidden} shown too late, ${tally.stopped} stopped after the last check, ${tally.turned} turned too late`,
    failure ? 'FAILED' : '0 paid twice, 0 lost, 0 false, 0 stuck, 0 false on paper',
    ...(rare.length > 0 ? [`too rare: ${rare.map((kind) => `${kind} (${floorOf(kind)})`).join(', ')}`] : []),
  ];
  process.stdout.write(`${lines.join('\n')}\n`);
}

function pace({ seeds, seconds }: Summary): string {
  return (seeds / Math.max(0.001, seconds)).toFixed(1);
}

/** Everything that is needed to understand a failing seed, and the command that repeats it. */
function describeFailure({ seed, violation, story, hash }: DayResult): string {
  return [
    `seed ${seed} violates: ${violation?.invariant}`,
    `  ${violation?.detail} (${violation?.about ?? 'no single payout'})`,
    story,
    `hash ${hash}`,
    `again: npm run simulate -- ${[...chosenFlags(), '--seeds 1', `--from ${seed}`, '--trace'].join(' ')}`,
  ].join('\n');
}

/** The flags that made the days what they are. A seed alone repeats none of them. */
function chosenFlags(): string[] {
  const { small, doubtful, fault, again, brake, turn, 'old-copies': oldCopies } = values;
  const flags = Object.entries({ small, doubtful, 'old-copies': oldCopies, fault, again, brake, turn });
  return flags.flatMap(([name, value]) => {
    if (typeof value === 'string') return [`--${name} '${value}'`];
    return value ? [`--${name}`] : [];
  });
}
