import { availableParallelism } from 'node:os';
import { parseArgs } from 'node:util';
import { allElements, elementKinds } from './elements.ts';
import { idleElements, runPlays, type Summary } from './many-plays.ts';
import type { PlayResult } from './play.ts';
import { allPlays } from './plays.ts';

const { values } = parseArgs({
  options: {
    /** A number, or parts of the name: each that is given must be in it. */
    only: { type: 'string', multiple: true, default: [] },
    /** Leaves out those with any of these in their name. */
    without: { type: 'string', multiple: true, default: [] },
    /** Ends at the first that fails. */
    stop: { type: 'boolean', default: false },
    share: { type: 'string', default: '0/1' },
    seconds: { type: 'string', default: '1000000' },
    threads: { type: 'string', default: String(availableParallelism()) },
    json: { type: 'boolean', default: false },
  },
});
const [part = 0, parts = 1] = values.share.split('/').map(Number);
const { only, without } = values;
const chosen = allPlays().filter(
  ({ number, name }) =>
    number % parts === part &&
    only.every((one) => String(number) === one || name.includes(one)) &&
    !without.some((one) => name.includes(one)),
);
const trace = chosen.length === 1;
let printedAt = 0;
let hash = '';
const summary = await runPlays(chosen, {
  seconds: Number(values.seconds),
  threads: Number(values.threads),
  trace,
  stop: values.stop,
  onPlay(result, sofar) {
    hash = result.hash;
    if (trace && !values.json) process.stdout.write(`${result.lines.join('\n')}\nhash ${result.hash}\n`);
    if (result.violation && !values.json) process.stdout.write(`${failureText(result)}\n`);
    if (values.json || sofar.seconds - printedAt < 10) return;
    printedAt = sofar.seconds;
    process.stderr.write(`${sofar.run} of ${chosen.length} plays in ${sofar.seconds.toFixed(0)} s\n`);
  },
});
const idle = idleElements(summary);
process.stdout.write(values.json ? `${jsonOf(summary)}\n` : `${textOf(summary)}\n`);
process.exitCode = summary.failed.length + idle.length + summary.wrongTable.length > 0 ? 1 : 0;

/** The result of a play that failed, and the command that repeats it. */
function failureText({ number, name, outcomes, violation, story }: PlayResult): string {
  const moves = outcomes.map(({ id, did, what }) => `${id} (${did ? what : `nothing: ${what}`})`).join('; ');
  const about = violation?.about ?? 'no single payout';
  const head = `FAILED ${number} ${name}: ${violation?.invariant}: ${violation?.detail} (${about})\n  ${moves}`;
  return trace ? `${head}\n${story}` : `${head}\n  again: npm run pairs -- --only ${number}`;
}

function textOf({ met, nothings, stood, ...sum }: Summary): string {
  const sorted = (counts: Map<string, number>): string[] =>
    [...counts].toSorted(([, a], [, b]) => b - a).map(([key, n]) => `${String(n).padStart(8)}  ${key}`);
  return [
    'played, did something, beside another that did',
    ...allElements.map(({ id }) => {
      const { played = 0, did = 0, pairs = 0 } = met.get(id) ?? {};
      return `${String(played).padStart(8)}${String(did).padStart(8)}${String(pairs).padStart(8)}  ${id}`;
    }),
    'stood after the moves',
    ...sorted(stood),
    'did nothing',
    ...sorted(nothings),
    `${allElements.length} elements of ${elementKinds.length} kinds; ${sum.run} plays of ${chosen.length} in ${sum.seconds.toFixed(0)} s`,
    `all moves did something: ${sum.all}; all but one: ${sum.one}; fewer: ${sum.none}; impossible: ${sum.impossible}`,
    `paid again by a person's wrong order: ${sum.operator}`,
    ...(idle.length > 0 ? [`never did anything: ${idle.join(', ')}`] : []),
    ...sum.wrongTable.map((one) => `the table calls it impossible: ${one}`),
    sum.failed.length > 0 ? `FAILED: ${sum.failed.length}` : '0 paid twice, 0 lost, 0 false, 0 stuck',
  ].join('\n');
}

/** `hash`: of the last play. */
function jsonOf({ run, seconds, failed }: Summary): string {
  const [first] = failed;
  const shown = first && { number: first.number, name: first.name, ...first.violation };
  return JSON.stringify({ run, seconds, idle, failed: shown ?? null, hash });
}
