import { parseArgs } from 'node:util';
import type { Built } from './measure-instead.ts';
import { measureOnce, type Run } from './once.ts';
import { type Line, medianOf, tableOf } from './table.ts';

const memoryLimitMb = 300;
const { values } = parseArgs({
  options: {
    rows: { type: 'string', default: '10000' },
    runs: { type: 'string', default: '1' },
    'commit-ms': { type: 'string', default: '0' },
  },
});
const rows = wholeNumber('--rows', values.rows);
const runs = wholeNumber('--runs', values.runs);
/** How long each commit of the additional row takes, as on a slow disk; 0: no such row. */
const commitMs = Number(values['commit-ms']);
/** What the bare loop should reach, so that the service limits nothing that is measured. */
const barePerSecondAsked = 12_000;

const all: Run[] = [];
while (all.length < runs) all.push(await measureOnce(rows, commitMs));
print(all);

function wholeNumber(option: string, text: string): number {
  if (!/^[1-9]\d{0,6}$/.test(text)) throw new Error(`${option}: expected a whole number, got "${text}"`);
  return Number(text);
}

function print(all: readonly Run[]): void {
  const told = all.length === 1 ? '' : `; medians of ${all.length} runs, the most of held and peak`;
  console.log(
    `${rows} payouts, 32 requests in flight, a minimal service in a process of its own; sandbox: ours/bare with that service${told}\n`,
  );
  console.log(tableOf(medianLines(all)));
  const bare = medianOf(all.map(({ perSecond }) => perSecond.bare));
  console.log(`\nundici alone, signed POSTs: ${Math.round(bare)} a second (${barePerSecondAsked} asked)`);
  const plain = medianOf(all.map(({ perSecond }) => perSecond.plain));
  const times = medianOf(all.map(({ perSecond }) => perSecond.ours / perSecond.plain));
  console.log(
    `fetch with a commit for each step: ${Math.round(plain)} payouts/s; submit: ${times.toFixed(1)} times that`,
  );
  printBuilds(all.map(({ builds }) => builds));
  for (const { receiver } of all) {
    console.log('\nthe receiver, a process of its own:');
    for (const line of receiver) console.log(`- ${line}`);
  }
  const peakMb = Math.max(...all.map((one) => one.peakMb));
  console.log(
    `\npeak memory of our process: ${peakMb} MB (limit ${memoryLimitMb} MB${peakMb > memoryLimitMb ? ', EXCEEDED' : ''})`,
  );
  if (peakMb > memoryLimitMb) process.exitCode = 1;
}

/** Payouts a second and requests a payout, a column for each way to send them. */
function printBuilds(runs: readonly (readonly Built[])[]): void {
  const columns = (runs[0] ?? []).map(({ what }, at) => ({
    what,
    perSecond: medianOf(runs.flatMap((builds) => builds[at]?.perSecond ?? [])),
    requestsEach: medianOf(runs.flatMap((builds) => builds[at]?.requestsEach ?? [])),
  }));
  const line = (first: string, cells: string[]): void => console.log(`| ${[first, ...cells].join(' | ')} |`);
  console.log();
  line(
    'sending',
    columns.map(({ what }) => what),
  );
  console.log(`|---|${columns.map(() => '---:|').join('')}`);
  line(
    'payouts/s',
    columns.map(({ perSecond }) => perSecond.toFixed(0)),
  );
  line(
    'requests a payout',
    columns.map(({ requestsEach }) => requestsEach.toFixed(3)),
  );
}

function medianLines(all: readonly Run[]): Line[] {
  const [first] = all;
  return (first?.lines ?? []).map((line, at) => {
    const same = all.flatMap(({ lines }) => lines[at] ?? []);
    const most = (of: (one: Line) => number | undefined): number | undefined => {
      const told = same.map(of).filter((one) => one !== undefined);
      return told.length === 0 ? undefined : Math.max(...told);
    };
    const beside = same.flatMap(({ sandbox }) => sandbox ?? []);
    const heldMs = most((one) => one.heldMs);
    const peakMb = most((one) => one.peakMb);
    return {
      ...line,
      seconds: medianOf(same.map(({ seconds }) => seconds)),
      ...(line.bare && {
        bare: { ...line.bare, seconds: medianOf(same.map(({ bare }) => bare?.seconds ?? Number.NaN)) },
        ratio: medianOf(same.map(({ seconds, bare }) => seconds / (bare?.seconds ?? Number.NaN))),
      }),
      ...(beside.length > 0 && {
        sandbox: {
          seconds: medianOf(beside.map((one) => one.seconds)),
          bareSeconds: medianOf(beside.map((one) => one.bareSeconds)),
        },
      }),
      ...(heldMs !== undefined && { heldMs }),
      ...(peakMb !== undefined && { peakMb }),
    };
  });
}
