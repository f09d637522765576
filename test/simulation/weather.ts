import { type BrakeName, type BrakeWeather, drawBrakes, noBrakesSet } from './brake-weather.ts';
import {
  type PostFault,
  postFaults,
  type QuestionFault,
  questionFaults,
  type WebhookFault,
  webhookFaults,
} from './coverage.ts';
import { localTimeIn } from './local-time.ts';
import {
  drawLongDayMs,
  drawLongWeather,
  type LongWeather,
  shortWeather,
  type TurnName,
} from './long-weather.ts';
import type { Random } from './random.ts';
import type { ZoneWeather } from './zone-weather.ts';

/** What kind of day a seed makes: how the service is, and how often things go wrong. */
export type Weather = {
  duplicates: 'accept' | 'refuse' | 'conflict';
  detailsShow: 'first' | 'last';
  notFoundCode: '04' | '05' | '12';
  perPage: number;
  serviceClockErrorMs: number;
  slowestSettlementMs: number;
  failedShare: number;
  returnedShare: number;
  quietPeriodMs: number;
  timeoutMs: number;
  sendDeadlineMs: number;
  concurrency: number;
  requestsPerSecond: number;
  haltAfterUnknown: number;
  /** After how long a process that stands still is taken for dead; null: only when it is dead. */
  leaseMs: number | null;
  /** How likely a process is struck at all, per life. */
  strokes: number;
  clockJumps: boolean;
  /** The service shows some transfers only after the quiet period, and says nothing of them before. */
  showsTooLate: boolean;
  /** How likely a process is stopped between its last check and the kernel's write, per POST. */
  stopsAtLastCheck: number;
  /** No disk is full and no daemon stops, unless it is told to. */
  isSteady: boolean;
  /** After how long a transfer settles, and whether it is paid; without it, the seed decides. */
  settlementOf?: (reference: string) => { ms: number; paid: boolean };
  /** How likely people decide rightly where they have the choice. */
  patience: number;
  /** For how long nobody of the office looks at the ledger, at most. */
  longestAwayMinutes: number;
  /** Nothing but the quiet period stands before a second payment. */
  isUnguarded: boolean;
  /** All goes well, so that the books can tie. */
  isCalm: boolean;
  /** An operator keeps copies of the ledger, and puts an old one back. */
  oldCopies: boolean;
  resubmit: 'manual' | 'confirmed_absent';
  batches: number[];
  brakes: BrakeWeather;
  long: LongWeather;
  /** True time at which the day begins, and for how long its troubles last. */
  startsAt: number;
  lengthMs: number;
  /** For how long a process stands still that is stopped there. */
  drawStillnessMs(random: Random): number;
  /** How long after acceptance a transfer shows itself. */
  drawVisibilityMs(random: Random): number;
  /** `again`: it was sent before, and what meets it now must not be taken for the fate of the first. */
  drawPostFault(random: Random, again: boolean, reference: string): PostFault | null;
  drawQuestionFault(random: Random): QuestionFault | null;
  drawWebhookFault(random: Random): WebhookFault | null;
};

const minute = 60_000;
const hour = 60 * minute;

/** Answers that say something of one POST, and nothing of another. */
const contradicting = [
  'refused 24',
  '429 with envelope',
  '429 without envelope',
  'connection refused',
  'refused 24',
  'lost after acceptance',
] as const;

/** Where few faults befall a day, the likely ones must not crowd out the others. */
const evenly = [
  ...postFaults,
  'HTML page',
  '401 page',
  'code 100',
  '429 without envelope',
  'wrong echo',
  'reset after body',
  'lost before acceptance',
  '500 before acceptance',
  'hang, not taken',
  'success without our reference',
  'success that contradicts its status',
] as const;

const takenUnanswered = ['lost after acceptance', 'hang, taken', '500 after acceptance'] as const;

/** What a day must be like to show one thing soon; the seed decides all else. */
export type Wish = {
  small: boolean;
  fault: PostFault | null;
  /** What befalls each POST of what was sent before. */
  again: PostFault | null;
  oldCopies: boolean;
  brake: BrakeName | null;
  turn: TurnName | null;
  /** What the day must have beside that one. */
  more: readonly TurnName[];
  /** The service takes what it gives no answer for, and shows it late. */
  doubtful: boolean;
};

export function drawWeather(
  random: Random,
  { small, fault, again: nextFault, oldCopies, brake, turn, more, doubtful }: Wish,
): Weather {
  const kind = drawKind(random, { doubtful, turn });
  // Batches that come after a copy are what it does not know.
  const drawn = kind.oldCopies ? { ...kind, batches: [...kind.batches.slice(0, 2), 6, 9] } : kind;
  const batches = small
    ? drawn.batches
        .slice(0, oldCopies ? 3 : 2)
        .map((size) => Math.min(size, turn === 'waiting' || turn === 'races' ? 20 : 8))
    : drawn.batches;
  const long = longOf(random.fork('long'), drawn, { small, turn, more });
  const zone = long.long?.zone ?? null;
  const brakes = inZone(drawBrakes(random.fork('brakes'), batches, brake), zone);
  return {
    ...drawn,
    batches,
    ...(small && { perPage: 2, lengthMs: Math.min(drawn.lengthMs, 10 * hour) }),
    ...long,
    // What no client can know needs a way without brakes.
    ...(drawn.isUnguarded ? {} : { brakes }),
    ...(!drawn.isUnguarded &&
      brakes.dates &&
      datedDay(random.fork('midnight'), { ...drawn, ...long, brakes })),
    ...(oldCopies && { oldCopies }),
    ...(fault && {
      // What is sent again meets what the day has for it: the fault of the first must not be taken for that of the second.
      drawPostFault: (own, again, reference) =>
        again ? (nextFault ?? drawn.drawPostFault(own, again, reference)) : own.chance(0.5) ? fault : null,
    }),
  };
}

/** What no client can know stays apart, and a small day has of all this what is wished for. */
function longOf(
  random: Random,
  { isUnguarded, isCalm, lengthMs, clockJumps }: Weather,
  { small, turn, more }: Pick<Wish, 'small' | 'turn' | 'more'>,
): Partial<Weather> {
  if (isUnguarded || (small && turn === null && more.length === 0)) return {};
  if (isCalm && (turn === null || turn === 'paper')) return { long: { ...shortWeather, readsPaper: true } };
  const drawn = drawLongWeather(random, { wished: turn, more, small });
  // What is due is judged by a clock that is right.
  const isRight = turn === 'zone' || more.includes('zone') || (drawn.clock.length === 0 && !clockJumps);
  const long = isRight ? drawn : { ...drawn, zone: null };
  const { zone } = long;
  return {
    long,
    lengthMs: long.ordersWait ? drawLongDayMs(random) : lengthMs,
    // What is ordered once more, and waits, had failed before.
    ...(long.ordersWait && { failedShare: 0.5 }),
    ...(long.returns && {
      lengthMs: Math.max(lengthMs, (turn === 'returns' ? 18 : 12) * hour),
      returnedShare: 0.6,
      failedShare: 0.1,
    }),
    // What comes back is paid again while the service may still change its mind; who waits for a list soon ends the wait.
    ...((long.returns || long.listFlaw) && !long.ordersWait && { longestAwayMinutes: 25 }),
    ...(long.closes && { startsAt: monthEndsAt - random.between(hour, 6 * hour) }),
    ...(zone && { startsAt: zone.startsAt, clockJumps: false, lengthMs: Math.max(lengthMs, 8 * hour) }),
  };
}

/** In Lagos, whose months the reports count. */
const monthEndsAt = Date.UTC(2026, 10, 30, 23);

/**
 * Midnight comes amid the troubles where rows name days. A clock that is a year behind would take tomorrow for a day too far
 * ahead, and refuse the file: such a clock is off by days.
 */
function datedDay(
  random: Random,
  { long, brakes, startsAt, lengthMs }: Weather,
): Pick<Weather, 'long' | 'startsAt' | 'brakes'> {
  const clock = long.clock.map((scale) => (scale === 'a year' ? 'days' : scale));
  const beforeMs = random.between(hour / 2, Math.min(5 * hour, lengthMs / 2));
  const midnight = startsAt + (24 * 60 - localTimeIn(brakes.timezone)(startsAt).minutes) * minute;
  return {
    long: { ...long, clock },
    brakes: { ...brakes, hosts: clock.includes('days') && random.chance(0.5) },
    startsAt: long.zone || long.closes ? startsAt : midnight - beforeMs,
  };
}

/** The days of the daily limit are those of the zone whose clock changes. */
function inZone(brakes: BrakeWeather, zone: ZoneWeather | null): BrakeWeather {
  return zone ? { ...brakes, timezone: zone.name } : brakes;
}

function drawKind(random: Random, { doubtful, turn }: Pick<Wish, 'doubtful' | 'turn'>): Weather {
  const ordinary = drawOrdinary(random, { doubtful, turn });
  const special = random.next();
  if (doubtful) return ordinary;
  if (special < 0.08) return tooLate(ordinary, random);
  return special < 0.25 ? drowsy(ordinary, random) : ordinary;
}

/**
 * What no client can know: the service accepts duplicates and shows some transfers only after the quiet period. People
 * wait it out, and so does confirmed absence; what they then send again is paid twice.
 */
function tooLate(ordinary: Weather, random: Random): Weather {
  return {
    ...unguarded(ordinary),
    detailsShow: random.pick(['first', 'last']),
    serviceClockErrorMs: random.between(-5_000, 5_000),
    showsTooLate: true,
    drawVisibilityMs: (own) => (own.chance(0.5) ? own.between(2 * hour, 8 * hour) : 0),
    drawPostFault: (own) => (own.chance(0.5) ? own.pick(takenUnanswered) : null),
    drawQuestionFault: () => null,
  };
}

/** The other such case: processes are stopped after their last check, and wake when the money went out again. */
function drowsy(ordinary: Weather, random: Random): Weather {
  return {
    ...unguarded(ordinary),
    leaseMs: 30_000,
    strokes: random.pick([0, 0.3]),
    stopsAtLastCheck: 0.4,
    drawStillnessMs: (own) => own.between(3 * hour, 8 * hour),
  };
}

/** Nothing but the quiet period stands before a second payment, and everybody waits for it. */
function unguarded(ordinary: Weather): Weather {
  return {
    ...ordinary,
    duplicates: 'accept',
    quietPeriodMs: hour,
    failedShare: 0.02,
    returnedShare: 0,
    haltAfterUnknown: 0,
    clockJumps: false,
    oldCopies: false,
    lengthMs: Math.max(ordinary.lengthMs, 20 * hour),
    patience: 0.95,
    isUnguarded: true,
  };
}

function drawOrdinary(random: Random, wished: Pick<Wish, 'doubtful' | 'turn'>): Weather {
  const isCalm = random.chance(wished.turn === 'paper' ? 0.5 : 0.12) && !wished.doubtful;
  const postTrouble = isCalm ? 0 : random.pick([0.35, 0.5, 0.6]);
  const questionTrouble = isCalm ? 0 : random.pick([0, 0.05, 0.2]);
  const webhookTrouble = random.pick([0.1, 0.3, 0.6]);
  const quietPeriodMs = random.pick([1, 2, 6]) * hour;
  // The case that no client can know: a transfer that shows itself only after the quiet period.
  const hidesBeyondQuiet = random.chance(0.15);
  // A service that takes what it gives no answer for, and shows it late: there people send again what was taken.
  const doubtful = (random.chance(0.2) && !isCalm) || wished.doubtful;
  const hides = isCalm ? 0 : doubtful ? 0.8 : random.pick([0, 0.2, 0.6]);
  const fewFaults = doubtful
    ? takenUnanswered
    : random.chance(0.15)
      ? ([random.pick(evenly), random.pick(evenly)] as const)
      : evenly;
  return {
    duplicates: random.pick(doubtful ? ['accept', 'accept', 'refuse'] : ['accept', 'refuse', 'conflict']),
    detailsShow: random.pick(['first', 'last']),
    notFoundCode: random.pick(['04', '05', '12']),
    perPage: random.pick([3, 5, 5, 10]),
    serviceClockErrorMs: random.between(-20_000, 20_000),
    slowestSettlementMs: random.pick([20_000, 10 * minute, 3 * hour]),
    failedShare: isCalm ? 0 : random.pick(doubtful ? [0.5] : [0.02, 0.2, 0.5]),
    returnedShare: isCalm ? 0 : random.pick([0, 0.1]),
    quietPeriodMs,
    timeoutMs: random.pick([8_000, 30_000]),
    sendDeadlineMs: random.pick([2_000, 5_000]),
    concurrency: random.pick([1, 3, 8]),
    requestsPerSecond: random.pick([0, 0, 20]),
    haltAfterUnknown: random.pick(doubtful ? [0] : [0, 0, 3, 5]),
    leaseMs: random.chance(0.7) ? 30_000 : null,
    strokes: isCalm ? 0.1 : random.pick([0.5, 0.8, 1]),
    clockJumps: random.chance(0.4),
    showsTooLate: false,
    stopsAtLastCheck: 0.01,
    // Who must be seen to send again what was taken is quick to do so.
    patience: wished.doubtful ? 0.1 : 0.4,
    longestAwayMinutes: wished.doubtful ? 20 : 90,
    isSteady: false,
    isUnguarded: false,
    isCalm,
    brakes: noBrakesSet,
    long: shortWeather,
    oldCopies: !isCalm && random.chance(0.6),
    resubmit: random.pick(['manual', 'confirmed_absent', 'confirmed_absent']),
    batches: Array.from({ length: random.between(2, 4) }, () => random.between(6, random.pick([30, 50]))),
    startsAt: Date.UTC(2026, 10, 21, 8),
    lengthMs: random.between(6, 18) * hour,
    drawStillnessMs: (own) => own.pick([20_000, 600_000, 7_200_000]),
    drawVisibilityMs: (own) => {
      if (!own.chance(hides)) return 0;
      return hidesBeyondQuiet
        ? quietPeriodMs + own.between(0, 6 * hour)
        : own.between(1_000, quietPeriodMs / 2);
    },
    drawPostFault: (own, again) => {
      if (again && own.chance(0.4)) return own.pick(contradicting);
      return own.chance(postTrouble) ? own.pick(fewFaults) : null;
    },
    drawQuestionFault: (own) => (own.chance(questionTrouble) ? own.pick(questionFaults) : null),
    drawWebhookFault: (own) => (own.chance(webhookTrouble) ? own.pick(webhookFaults) : null),
  };
}
