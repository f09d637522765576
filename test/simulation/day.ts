import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createLogger } from '../../src/core/runtime/logger.ts';
import { type Config, loadConfig } from '../../src/core/settings/settings.ts';
import { openLedger } from '../../src/custody/open-ledger.ts';
import { memoryFolder } from '../support/memory-folder.ts';
import { type BatchFile, bringIn, writeBatch } from './batch-files.ts';
import type { Account } from './book.ts';
import { createBrakeWatch } from './brake-watch.ts';
import { brakeSettings } from './brake-weather.ts';
import { judgeClosing } from './closing.ts';
import { createCoverage } from './coverage.ts';
import { createDaemon } from './daemon.ts';
import { createDecisions } from './decisions-made.ts';
import { createEvidenceWatch } from './evidence-watch.ts';
import { createFall } from './fall.ts';
import { openInspector } from './inspector.ts';
import { createLateBytes } from './late-bytes.ts';
import { createWriteLock } from './ledger-seam.ts';
import { createListWatch } from './list-watch.ts';
import { drawClockError, nameStep } from './long-weather.ts';
import { createOldCopies } from './old-copies.ts';
import { createPaperRounds } from './paper-round.ts';
import { createPeople } from './people.ts';
import { createRandom, type Random } from './random.ts';
import { accounts, createService } from './service.ts';
import { tellStory } from './story.ts';
import { createTown, type Town } from './town.ts';
import { judgeTheEnd, type Tally } from './verdict.ts';
import { createWatch, returnHours } from './watch.ts';
import { drawWeather, type Weather, type Wish } from './weather.ts';
import { createWebhooks } from './webhooks.ts';
import { createWorld, type Violation } from './world.ts';

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
  const root = mkdtempSync(join(memoryFolder(), 'counterfoil-simulation-'));
  const random = createRandom(seed);
  const coverage = createCoverage();
  const weather = drawWeather(random.fork('weather'), {
    ...nothingWished,
    ...options,
  });
  const { startsAt } = weather;
  const world = createWorld({ random, coverage, startsAt, keepTrace: true });
  const settingAt = createSettings(root, weather);
  const { config } = settingAt(0);
  const log = createLogger({ to: { write: () => undefined } });
  const birth = await openLedger(config.ledgerFile, { now: () => new Date(startsAt).toISOString() });
  const inspector = openInspector(config.ledgerFile);
  await birth.close();
  let town: Town | undefined;
  const webhooks = createWebhooks({
    world,
    weather,
    isCalm: () => town?.calm ?? false,
    receiver: () => town?.receiver ?? null,
  });
  const service = createService(world, weather, webhooks);
  const fall = createFall(world, inspector);
  const decisions = createDecisions(service.book, world.now, weather.quietPeriodMs);
  const brakes = createBrakeWatch({ world, book: service.book, inspector, weather, fall });
  const evidence = createEvidenceWatch({ world, weather, inspector, service });
  const lateBytes = createLateBytes(world, inspector);
  const lists = createListWatch({ world, weather, inspector, service });
  const watch = createWatch({
    ...{ world, book: service.book, inspector, decisions, weather, fall, brakes, evidence, lateBytes, lists },
  });
  const lock = createWriteLock(world);
  town = createTown({
    world,
    weather,
    service,
    config,
    inspector,
    decisions,
    lock,
    fall,
    brakes,
    evidence,
    lateBytes,
    settingNow: () => settingAt(world.now() - startsAt),
    watch,
    log,
    ...watch,
  });
  try {
    const { files, hash } = await liveThrough(town, root, random.fork('day'), watch.wentBack);
    const violated = world.violation() !== undefined;
    const nothing = { payouts: 0, posts: 0, paid: 0, operator: 0, hidden: 0, stopped: 0, turned: 0 };
    const tally = violated ? nothing : await judgeTheEnd(town, files);
    await judgeClosing(town);
    const violation = world.violation();
    const story = violation?.about ? tellStory(town, violation.about) : '';
    const lines = options.trace ? world.lines : [];
    return { seed, hash, counts: coverage.counts(), tally, violation, story, lines };
  } finally {
    inspector.close();
    rmSync(root, { recursive: true, force: true });
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

/** What a day's limit keeps back goes on the next days, however many it takes. */
function mostRounds({ weather }: Town): number {
  return weather.brakes.dailyLimit === null ? 10 : 40;
}

function waitsForADay({ weather, inspector }: Town): boolean {
  return weather.brakes.dailyLimit !== null && inspector.states().some(({ state }) => state === 'ready');
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

/** The configuration by the time of the day, as files that were read. */
function createSettings(
  root: string,
  weather: Weather,
): (ms: number) => { config: Config; account: Account } {
  const { approvalFromMs } = weather.brakes;
  const { elsewhere } = weather.long;
  const read = new Map<string, Config>();
  return (ms) => {
    const visit = elsewhere.find(({ fromMs, untilMs }) => ms >= fromMs && ms < untilMs);
    const account: Account = visit && ms < weather.lengthMs ? visit.by : 'home';
    const rule = ms < approvalFromMs ? 0 : approvalFromMs;
    const config = read.get(`${account} ${rule}`) ?? configFor(root, weather, rule, account);
    read.set(`${account} ${rule}`, config);
    return { config, account };
  };
}

/** The configuration as it is `ms` into the day. */
function configFor(root: string, weather: Weather, ms: number, account: Account): Config {
  const { baseUrl, keys } = accounts[account];
  const settings = {
    mode: 'test',
    service: {
      base_url: baseUrl,
      timeout_ms: weather.timeoutMs,
      concurrency: weather.concurrency,
      requests_per_second: weather.requestsPerSecond,
    },
    submission: {
      quiet_period_minutes: weather.quietPeriodMs / 60_000,
      send_deadline_ms: weather.sendDeadlineMs,
      halt_after_unknown: weather.haltAfterUnknown,
      resubmit: weather.resubmit,
      ...brakeSettings(weather.brakes, ms),
    },
    ...(weather.long.returns && { reconciliation: { return_hours: returnHours } }),
    schedules: schedulesOf(weather),
    ...(weather.long.zone && { reports: { timezone: weather.long.zone.name } }),
    ...(weather.long.skipsRows && { intake: { on_invalid_row: 'skip_row' } }),
  };
  mkdirSync(join(root, 'config'), { recursive: true });
  mkdirSync(join(root, 'data', 'inbox'), { recursive: true });
  writeFileSync(join(root, 'config', 'counterfoil.yaml'), JSON.stringify(settings));
  const env = { COUNTERFOIL_TEST_SECRET_KEY: keys.secret, COUNTERFOIL_TEST_PUBLIC_KEY: keys.public };
  const loaded = loadConfig({ cwd: root, env });
  if (loaded.kind === 'problem') throw new Error(loaded.problems.join('\n'));
  return loaded.config;
}

function schedulesOf({ long }: Weather) {
  const often = long.ordersWait ? '*/30 * * * *' : '*/15 * * * *';
  const { zone } = long;
  const daily = zone
    ? `${zone.fixed.minutes % 60} ${Math.floor(zone.fixed.minutes / 60)} * * *`
    : '0 2 * * *';
  return {
    ...(zone && { timezone: zone.name }),
    intake: long.dropsFiles ? '*/30 * * * *' : '',
    submit: long.sweeps ? often : '',
    follow_up: often,
    reconcile: long.readsPaper || zone ? daily : '',
    reconcile_full: '',
    report: '',
  };
}
