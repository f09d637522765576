import { join } from 'node:path';
import * as reconcileJob from '../../jobs/reconcile.ts';
import { openApp } from '../../src/app/app.ts';
import { bringIn } from '../simulation/batch-files.ts';
import { noBrakesSet } from '../simulation/brake-weather.ts';
import { createClosedMonths } from '../simulation/closed-months.ts';
import { judgeClosing } from '../simulation/closing.ts';
import { createDaemon } from '../simulation/daemon.ts';
import { localTimeIn } from '../simulation/local-time.ts';
import { shortWeather } from '../simulation/long-weather.ts';
import { createPaperRounds } from '../simulation/paper-round.ts';
import { createPaperVerdict } from '../simulation/paper-verdict.ts';
import { createRandom, type Random } from '../simulation/random.ts';
import { setUpTown } from '../simulation/set-up.ts';
import { tellStory } from '../simulation/story.ts';
import { judgeProof, judgeTheEnd, type Tally } from '../simulation/verdict.ts';
import type { Weather } from '../simulation/weather.ts';
import type { Violation } from '../simulation/world.ts';
import { judgeEnds, judgeStates, standing } from './ends.ts';
import { bring, isLoaded, large } from './files.ts';
import { reconcileAlone, releaseAll } from './moves/verbs.ts';
import { type Opening, openingFor } from './opening.ts';
import type { Play } from './plays.ts';
import { addStranger, extraAnswers } from './service-extras.ts';
import {
  type Fault,
  forgetUnasked,
  judgeCancelled,
  judgeWaiting,
  type Seat,
  type Stage,
  type Switches,
} from './stage.ts';
import { tidyUp } from './tidy.ts';

/** What became of a play: of each of its elements, and of all. */
export type PlayResult = {
  number: number;
  name: string;
  hash: string;
  outcomes: { id: string; did: boolean; what: string }[];
  /** What stood when the moves were over: states, holds and halts. */
  stood: string[];
  tally: Tally;
  violation: Violation | undefined;
  story: string;
  lines: string[];
};

/** The month that is over in plays that close one. */
const closable = '2026-10';

const second = 1_000;
const minute = 60 * second;
const hour = 60 * minute;

/** Plays one play: its opening, its moves, the calm in which people tidy up, and the judgement. */
export async function runPlay(play: Play, { trace = false } = {}): Promise<PlayResult> {
  const random = createRandom(play.number);
  const opening = openingFor(play.elements.map(({ move }) => move.needs ?? {}));
  const switches = createSwitches();
  const weather = weatherOf(random, opening, switches);
  const setUp = await setUpTown(random, weather, {
    settings: settingsOf(opening),
    serve: (service) => extraAnswers(service, switches, weather),
  });
  const { town, root, wentBack, end } = setUp;
  const { world } = town;
  try {
    const stage = createStage({
      play,
      town,
      root,
      random: random.fork('stage'),
      opening,
      switches,
      wentBack,
    });
    const paper = createPaperRounds(town, closable);
    const closed = createClosedMonths(town, closable);
    await open(stage);
    const seats = await makeMoves(stage, play);
    const stood = standing(stage);
    closed.judge();
    if (play.number % 3 === 0) await readPaper(stage);
    await judgeProof(town);
    if (play.number % 4 === 1) judgeStates(stage);
    await calmDown(stage);
    world.after(0, null, paper.atLast);
    await world.runUntil(world.now() + 20 * minute);
    await settleDown(stage);
    world.after(0, null, stage.daemon.rest);
    await world.runUntil(world.now() + 10 * minute);
    const hash = world.hash();
    const nothing = { payouts: 0, posts: 0, paid: 0, operator: 0, hidden: 0, stopped: 0, turned: 0 };
    judgeCancelled(stage);
    judgeWaiting(stage);
    closed.judge();
    if (!world.violation()) judgeEnds(stage);
    const tally = world.violation() ? nothing : await judgeTheEnd(town, stage.files);
    await judgeClosing(town);
    const violation = world.violation();
    return {
      ...{ number: play.number, name: play.name, hash, stood, tally, violation },
      outcomes: play.elements.map(({ id }, i) => ({ id, did: false, what: 'nothing', ...seats[i]?.outcome })),
      story: violation?.about ? tellStory(town, violation.about) : '',
      lines: trace ? world.lines : [],
    };
  } finally {
    end();
  }
}

function createSwitches(): Switches {
  return {
    ...{ posts: [], questions: [], webhooks: [], codeIs22: false, balance: null, holder: null, hiddenMs: 0 },
    settlements: new Map(),
  };
}

/** The first fault of those that are on which is about the reference; it is on for one message less now. */
function take<Name>(faults: Fault<Name>[], reference: string): Name | null {
  const found = faults.find((fault) => fault.left > 0 && fault.of(reference));
  if (found) found.left -= 1;
  return found?.name ?? null;
}

function weatherOf(random: Random, opening: Opening, switches: Switches): Weather {
  return {
    duplicates: random.pick(['accept', 'refuse', 'conflict']),
    detailsShow: random.pick(['first', 'last']),
    notFoundCode: random.pick(['04', '05', '12']),
    perPage: random.pick([5, 10]),
    serviceClockErrorMs: 0,
    slowestSettlementMs: 30 * second,
    failedShare: 0,
    returnedShare: 0,
    quietPeriodMs: hour,
    timeoutMs: 8 * second,
    sendDeadlineMs: 5 * second,
    concurrency: random.pick([1, 3]),
    requestsPerSecond: 0,
    haltAfterUnknown: opening.haltAfterUnknown,
    leaseMs: random.pick([null, 30_000]),
    strokes: 0,
    clockJumps: opening.clockSteps,
    showsTooLate: false,
    stopsAtLastCheck: 0,
    patience: 1,
    longestAwayMinutes: 90,
    isSteady: true,
    isUnguarded: false,
    isCalm: false,
    oldCopies: opening.oldCopy,
    resubmit: random.pick(['manual', 'confirmed_absent']),
    batches: [4, 2],
    brakes: { ...noBrakesSet, ...opening.brakes },
    long: {
      ...shortWeather,
      readsPaper: true,
      returns: opening.returns,
      listFlaw: opening.listFlaw && {
        kind: opening.listFlaw,
        fromMs: Number.MAX_SAFE_INTEGER,
        untilMs: null,
      },
    },
    startsAt: opening.startsAt,
    lengthMs: Number.MAX_SAFE_INTEGER,
    settlementOf: (reference) => switches.settlements.get(reference) ?? { ms: 30 * second, paid: true },
    drawStillnessMs: () => 0,
    drawVisibilityMs: () => switches.hiddenMs,
    drawPostFault: (_own, _again, reference) => take(switches.posts, reference),
    drawQuestionFault: () => take(switches.questions, ''),
    drawWebhookFault: () => take(switches.webhooks, ''),
  };
}

function settingsOf({ extras, brakes, unique }: Opening): Record<string, Record<string, unknown>> {
  const paths = {
    balance: extras.balance ? 'wallet_balance' : '',
    account_name: extras.account_name ? 'account_name' : '',
  };
  return {
    service: { extras: paths },
    intake: { unique_columns: unique ? ['invoice'] : [] },
    schedules: {
      timezone: brakes.timezone,
      follow_up: '*/30 * * * *',
      submit: '*/10 * * * *',
      reconcile: '',
    },
    reports: { timezone: brakes.timezone },
  };
}

function createStage(
  known: Pick<Stage, 'town' | 'root' | 'random' | 'opening' | 'switches' | 'wentBack'> & { play: Play },
): Stage {
  const { town, play, random } = known;
  const { world } = town;
  const daemon = createDaemon(town);
  return {
    ...known,
    ...{
      daemon,
      number: play.number,
      files: [],
      amends: [],
      cancelled: new Map(),
      mustWait: new Map(),
      reconciling: null,
      waitsUntil: '',
    },
    note(seat, did, what) {
      if (seat.outcome) return;
      seat.outcome = { did, what };
      world.trace(`move ${seat.number}: ${did ? 'did' : 'did nothing'}: ${what}`);
    },
    command(work, begun) {
      if (town.fall.shut) return;
      const { life, options } = town.begin('person');
      begun?.(life);
      const { done } = town.stalls.begins(life, 'a command');
      const run = async (): Promise<void> => {
        await life.clock.sleep(random.between(0, 40));
        const app = await openApp('whole', { ...options, kind: 'command' });
        await app.takeOver();
        await work(app, life);
        await app.close();
        life.kill('done');
      };
      void run()
        .catch((error: unknown) => town.failed(life, 'a command', error))
        .then(() => {
          done();
          daemon.wake();
        });
    },
    when(isSo, then) {
      const look = (): void => {
        if (town.calm) return;
        if (isSo()) then();
        else world.after(second / 2, null, look);
      };
      world.after(0, null, look);
    },
  };
}

/** The first batch meets its four fates: paid, failed, unknown, under way. The second is held. */
async function open(stage: Stage): Promise<void> {
  const { town, daemon, opening, switches, number } = stage;
  const { world } = town;
  daemon.start();
  switches.settlements.set('B1-1', { ms: 5 * second, paid: true });
  switches.settlements.set('B1-2', { ms: 5 * second, paid: false });
  switches.settlements.set('B1-4', { ms: 80 * minute, paid: true });
  const lost = number % 3 === 0 ? 'lost after acceptance' : 'lost before acceptance';
  switches.posts.push({ name: lost, left: 1, of: (reference) => reference === 'B1-3' });
  world.after(second, null, () => bring(stage, 1, [{}, {}, {}, {}]));
  const { twins, approval } = opening.second;
  const minor = approval ? large.approval : 102_000;
  const like = twins ? { account: '1000020000' } : {};
  world.after(2 * minute, null, () => bring(stage, 2, [{ minor }, { minor, ...like }]));
  if (opening.stranger) {
    world.after(3 * minute, null, () => addStranger(town));
    world.after(4 * minute, null, daemon.reconcile);
  }
  await world.runUntil(Math.max(opening.startsAt + 6 * minute, opening.movesAt ?? 0));
}

async function makeMoves(stage: Stage, { elements, order }: Play): Promise<Seat[]> {
  const { world } = stage.town;
  const seats = elements.map(
    (_one, i): Seat => ({
      number: 3 + i,
      others: [],
      file: null,
      touched: [],
      outcome: null,
      begunAt: 0,
      comesAt: 0,
    }),
  );
  const begin = (i: number): void => {
    const [seat, element] = [seats[i], elements[i]];
    if (!seat || !element) return;
    seat.others = [...seats.slice(0, i).toReversed(), ...(order === 'at once' ? seats.slice(i + 1) : [])];
    seat.begunAt = world.now();
    world.trace(`move ${seat.number}: ${element.id}`);
    element.move.begin(stage, seat);
  };
  if (order === 'at once') {
    // What the world does has begun when people order something beside it.
    const soon = stage.random.pick([100, 600, 3_000]);
    for (const [i, { kind }] of elements.entries())
      world.after(kind === 'verb' || kind === 'endpoint' ? stage.random.between(0, soon) : 0, null, () =>
        begin(i),
      );
    await waitFor(stage, seats);
  } else
    for (const [i, seat] of seats.entries()) {
      world.after(0, null, () => begin(i));
      await waitFor(stage, [seat]);
    }
  await world.runUntil(world.now() + 3 * minute);
  return seats;
}

/** Until something came of all, but not for ever: what depends on a later move comes after it. */
async function waitFor(stage: Stage, seats: readonly Seat[]): Promise<void> {
  const { world, inspector } = stage.town;
  const isOver = (): boolean => seats.every(({ outcome }) => outcome !== null);
  const comes = (): boolean => seats.some(({ comesAt }) => comesAt > world.now());
  for (let looks = 0; (looks < 600 || comes()) && !isOver() && !world.violation(); looks++) {
    // Somebody lets go what another move has stopped.
    if (looks === 200 && inspector.isHalted())
      stage.command(async (app) => void (await releaseAll(stage, app)));
    await world.runUntil(world.now() + second / 2);
  }
}

/** Somebody reconciles in the midst of it: what is on paper then is no more than was seen. */
async function readPaper(stage: Stage): Promise<void> {
  const { town } = stage;
  const verdict = createPaperVerdict(town, join(town.config.dataDir, 'reports'));
  const closed = createClosedMonths(town, closable);
  stage.command(async (app, life) => {
    const before = verdict.look(life);
    await reconcileAlone(stage, app, async () => {
      const { run } = await reconcileJob.run(app, { full: true, followUp: true });
      verdict.judge({ run, life, before, isLast: false, closed: closed.netPaid() });
      return { did: true, what: 'reconciled' };
    });
  });
  await town.world.runUntil(town.world.now() + 3 * minute);
}

/** All troubles end, and people put right what they can. */
async function calmDown(stage: Stage): Promise<void> {
  const { town, files } = stage;
  const { world, weather, service } = town;
  town.calm = true;
  world.wallError = 0;
  forgetUnasked(stage);
  Object.assign(stage.switches, { balance: null, holder: null, hiddenMs: 0 });
  if (weather.long.listFlaw) weather.long.listFlaw.untilMs = 0;
  service.calmDown();
  world.trace('the calm begins');
  for (const amend of stage.amends) amend();
  for (const file of files.filter((one) => !isLoaded(stage, one)))
    world.after(minute, null, () => bringIn(town, file));
  await world.runUntil(world.now() + 5 * minute);
  for (const ms of [15 * minute, weather.quietPeriodMs + 10 * minute]) {
    world.after(0, null, () => tidyUp(stage));
    await world.runUntil(world.now() + ms);
  }
  const dayIn = localTimeIn(weather.brakes.timezone);
  while (dayIn(world.now()).date < stage.waitsUntil && !world.violation())
    await world.runUntil(world.now() + hour);
  await settleDown(stage, stage.opening.returns ? 2.2 * hour : 0);
}

/** Goes on until no payout changes its state any more. What comes back is sure after two runs with hours between. */
async function settleDown(stage: Stage, firstMs = 0): Promise<void> {
  const { world, inspector } = stage.town;
  const sql =
    "select count(*) + (select count(*) from halts) as n from history where to_state <> coalesce(from_state, '')";
  const moves = (): number => inspector.rows<{ n: number }>(sql)[0]?.n ?? 0;
  for (let more = 0, before = -1; more < 10 && before !== moves() && !world.violation(); more++) {
    before = moves();
    world.after(0, null, stage.daemon.reconcile);
    world.after(5 * minute, null, () => tidyUp(stage));
    await world.runUntil(world.now() + (more === 0 ? firstMs : 0) + 40 * minute);
  }
}
