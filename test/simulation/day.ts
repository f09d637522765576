import { type BatchFile, bringIn, writeBatch } from './batch-files.ts';
import { judgeClosing } from './closing.ts';
import { createDaemon } from './daemon.ts';
import { drawClockError, nameStep } from './long-weather.ts';
import { createOldCopies } from './old-copies.ts';
import { createPaperRounds } from './paper-round.ts';
import { createPeople } from './people.ts';
import { createRandom, type Random } from './random.ts';
import { setUpTown } from './set-up.ts';
import { tellStory } from './story.ts';
import type { Town } from './town.ts';
import { judgeTheEnd, type Tally } from './verdict.ts';
import { drawWeather, type Wish } from './weather.ts';
import type { Violation } from './world.ts';

/** What became of one seed. `story` tells of a violation whatever is needed to understand it. */
export type DayResult = {
  seed: number;
  hash: string;
  counts: Record<string, number>;
  tally: Tally;
  violation: Violation | undefined;
  story: string;
  lines: string[];
};

const hour = 3_600_000;

const nothingWished: Wish = {
  small: false,
  fault: null,
  again: null,
  oldCopies: false,
  brake: null,
  turn: null,
  more: [],
  doubtful: false,
};

export type DayOptions = Wish & { trace: boolean };

/** Lives through one day of troubles and a calm end, and judges both. The same seed always gives the same hash. */
export async function runDay(seed: number, options: Partial<DayOptions> = {}): Promise<DayResult> {
  const random = createRandom(seed);
  const weather = drawWeather(random.fork('weather'), {
    ...nothingWished,
    ...options,
  });
  const { town, root, wentBack, end } = await setUpTown(random, weather);
  const { world } = town;
  try {
    const { files, hash } = await liveThrough(town, root, random.fork('day'), wentBack);
    const violated = world.violation() !== undefined;
    const nothing = { payouts: 0, posts: 0, paid: 0, operator: 0, hidden: 0, stopped: 0, turned: 0 };
    const tally = violated ? nothing : await judgeTheEnd(town, files);
    await judgeClosing(town);
    const violation = world.violation();
    const story = violation?.about ? tellStory(town, violation.about) : '';
    const lines = options.trace ? world.lines : [];
    return { seed, hash, counts: world.coverage.counts(), tally, violation, story, lines };
  } finally {
    end();
  }
}

async function liveThrough(
  town: Town,
  root: string,
  random: Random,
  wentBack: () => void,
): Promise<{ files: BatchFile[]; hash: string }> {
  const { world, weather } = town;
  const daemon = createDaemon(town);
  const people = createPeople(town, daemon.wake);
  const files = weather.batches.map((size, i) => writeBatch(town, root, { number: i + 1, size, random }));
  for (const [i, file] of files.entries()) {
    const at = i === 0 ? 1_000 : random.between(0, weather.lengthMs / 2);
    world.after(at, null, () => bringIn(town, file));
    // Who has just sent a batch looks, now and then, before all of it is there.
    for (const ms of [5_000, 20_000, 60_000])
      if (random.chance(0.7)) world.after(at + random.between(100, ms), null, daemon.reconcile);
  }
  town.brakes.expect(files);
  daemon.start();
  people.start();
  askApprovals(town, daemon.restart);
  createOldCopies(town, files, wentBack).start();
  const paper = createPaperRounds(town);
  paper.start();
  scheduleClockJumps(town, random);
  nameAnother(town, daemon.restart);
  await world.runUntil(weather.startsAt + weather.lengthMs);
  town.calm = true;
  world.wallError = 0;
  town.service.calmDown();
  world.trace('the calm begins');
  daemon.restart();
  for (const ms of [2 * hour, 2 * hour, weather.quietPeriodMs + 4 * hour]) {
    world.after(0, null, () => void people.tidyUp());
    await world.runUntil(world.now() + ms);
  }
  // Each round has a reconciliation in it: at the end one has seen everything as it will stay.
  for (let more = 0, moves = -1; more < mostRounds(town) && !world.violation(); more++) {
    if (moves === movesOf(town) && !waitsForADay(town)) break;
    moves = movesOf(town);
    world.after(0, null, () => void people.tidyUp());
    await world.runUntil(world.now() + 4 * hour);
  }
  world.after(0, null, paper.atLast);
  await world.runUntil(world.now() + hour);
  // An absence that was confirmed last makes a payout ready again. Somebody submits it, and it reaches its end too.
  for (let more = 0, moves = -1; more < 10 && moves !== movesOf(town) && !world.violation(); more++) {
    moves = movesOf(town);
    world.after(0, null, () => void people.tidyUp());
    await world.runUntil(world.now() + 2 * hour);
  }
  world.after(0, null, daemon.rest);
  await world.runUntil(world.now() + hour);
  town.evidence.sumUp();
  return { files, hash: world.hash() };
}

/** What a day's limit or a day of payment keeps back goes on the next days, however many it takes. */
function mostRounds({ weather }: Town): number {
  return weather.brakes.dailyLimit === null && !weather.brakes.dates ? 10 : 40;
}

function waitsForADay({ weather, inspector }: Town): boolean {
  const { dailyLimit, dates } = weather.brakes;
  return (dailyLimit !== null || dates) && inspector.states().some(({ state }) => state === 'ready');
}

/** The office decides that batches need an approval from now on, and has the daemon begin anew to know of it. */
function askApprovals(town: Town, restart: () => void): void {
  const { world, weather } = town;
  const { approval, approvalFromMs } = weather.brakes;
  if (approval === 'none' || approvalFromMs === 0 || approvalFromMs >= weather.lengthMs) return;
  world.after(approvalFromMs, null, () => {
    world.coverage.count('brake: approval begins to be asked');
    restart();
  });
}

/** How often anything changed its state, in the ledger and at the service; a halt counts while it stands. */
function movesOf({ inspector, service }: Town): number {
  const sql = `select count(*) + (select count(*) from halts) as n from history
    where to_state <> coalesce(from_state, '')`;
  const settled = service.book.all().filter(({ record }) => record.status !== 'pending').length;
  return (inspector.rows<{ n: number }>(sql)[0]?.n ?? 0) + settled;
}

/** The machine's clock is set wrong now and then, forward and back, and set right again. */
function scheduleClockJumps(town: Town, random: Random): void {
  const { world, weather } = town;
  const scales = weather.long.clock.length > 0 ? weather.long.clock : (['minutes'] as const);
  if (!weather.clockJumps && weather.long.clock.length === 0) return;
  const jump = (): void => {
    if (town.calm) return;
    const before = world.wallError;
    world.wallError = random.chance(0.5) ? 0 : drawClockError(random, scales);
    if (world.wallError !== before) note(world.wallError - before);
    world.after(random.between(1, 80) * 60_000, null, jump);
  };
  const note = (ms: number): void => {
    world.coverage.count(`clock: ${nameStep(ms)}`);
    town.brakes.stepped();
    world.coverage.count(ms > 0 ? 'machine: clock set forward' : 'machine: clock set back');
    world.trace(`the clock is off by ${world.wallError} ms`);
  };
  world.after(random.between(1, 60) * 60_000, null, jump);
}

/** Now and then the configuration names another account for a while, and the daemon begins anew to know of it. */
function nameAnother(town: Town, restart: () => void): void {
  const { world, weather } = town;
  for (const { by, fromMs, untilMs } of weather.long.elsewhere) {
    if (fromMs >= weather.lengthMs) return;
    world.after(fromMs, null, () => {
      world.coverage.count(`account: another ${by} named`);
      restart();
    });
    world.after(untilMs, null, restart);
  }
}
