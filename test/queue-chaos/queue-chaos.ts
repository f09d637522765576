import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { readBook } from '../chaos/book.ts';
import { orderUnknowns, settle, stopAWhile, untilStill, watchTakeOver } from '../chaos/chaos.ts';
import { type LedgerView, lookInto } from '../chaos/ledger-facts.ts';
import { finish, keepRunning, type Slot } from '../chaos/processes.ts';
import { createRandom } from '../chaos/random.ts';
import { minorOf, prepare, type Setting } from '../chaos/setting.ts';
import { type Figure, judge, type Planned } from '../chaos/verdict.ts';
import type { PostgresServer } from '../support/postgres-server.ts';
import { type RedisServer, startRedis } from '../support/redis-server.ts';

export type QueueChaosOptions = {
  payouts: number;
  /** Sent by all daemons together: slow enough that something is left to send until the last deed. */
  perSecond: number;
  /** How often the Redis is killed and started again empty, or flushed. */
  outages: number;
  /** How long it stays away once, in the middle. */
  outageSeconds: number;
  seed: number;
  daemons: number;
  /** Where the ledger lies, killed in turn with the daemons; a file where absent. */
  server?: Pick<PostgresServer, 'url' | 'kill' | 'start'>;
  say(line: string): void;
};

/** From the ledger within a minute, whatever became of the queue. */
const longestStandstillMs = 60_000;
const sweepEverySeconds = 5;

type Deeds = {
  kills: number;
  stops: number;
  /** How often the ledger's database was killed. */
  crashes?: number;
  takeOverMs: number[];
  emptied: number;
  flushed: number;
  frozen: number;
  joined: number;
  /** The longest time in which nobody began to send, while something was left to send. */
  standstillMs: number;
  /** Payouts begun while the Redis was away for long. */
  sentWithoutQueue: number;
  /** What the last deed still found to be sent. */
  leftAtLast: number;
};

/**
 * Some daemons, and now and then one more, send what lies in the inbox over a Redis that is killed, emptied and frozen.
 * Meanwhile the daemons are killed and stopped in turn, and so is the ledger's database. Then the ledger is held against the
 * service's own book. Null without a Redis.
 */
export async function runQueueChaos(options: QueueChaosOptions): Promise<Figure[] | null> {
  const redis = await startRedis();
  if (!redis?.kill) return null;
  const { payouts, perSecond, daemons, server } = options;
  const minor = Array.from({ length: payouts }, (_, i) => minorOf(i)).reduce((a, b) => a + b, 0);
  const limits = { concurrency: 8, sendDeadlineMs: 1000, perSecond, processes: daemons + 1 };
  const planned: Planned = { payouts, minor, ...limits };
  const setting = await prepare(planned, server?.url);
  Object.assign(setting.place.env, {
    COUNTERFOIL_QUEUE_URL: redis.url,
    COUNTERFOIL_SCHEDULES_SUBMIT: `*/${sweepEverySeconds} * * * * *`,
  });
  const ledger = lookInto(setting.ledger);
  try {
    const began = performance.now();
    const deeds = await hurt(options, { setting, ledger, redis });
    const sendingSeconds = (performance.now() - began) / 1000;
    await settle(setting, options.say);
    await orderUnknowns(setting, options.say);
    await settle(setting, options.say);
    const book = await readBook(setting.url, setting.key);
    const verified = (await finish(setting.place, ['verify', '--json'])).code === 0;
    const seconds = (performance.now() - began) / 1000;
    const figures = judge(planned, { ...deeds, verified, seconds, sendingSeconds }, ledger, book);
    return [...describe(deeds), ...figures];
  } finally {
    ledger.close();
    const gone = once(setting.sandbox, 'close');
    setting.sandbox.kill('SIGKILL');
    await gone;
    await redis.stop();
    rmSync(setting.place.dir, { recursive: true, force: true });
  }
}

type Scene = { setting: Setting; ledger: LedgerView; redis: RedisServer };

async function hurt(options: QueueChaosOptions, { setting, ledger, redis }: Scene): Promise<Deeds> {
  const random = createRandom(options.seed);
  const deeds: Deeds = {
    kills: 0,
    stops: 0,
    takeOverMs: [],
    emptied: 0,
    flushed: 0,
    frozen: 0,
    joined: 0,
    standstillMs: 0,
    sentWithoutQueue: 0,
    leftAtLast: 0,
  };
  const left = (): number => ledger.unfinished();
  const done = (): boolean => ledger.payouts() === options.payouts && left() === 0;
  const elsewhere = { ...setting.place, env: { ...setting.place.env, COUNTERFOIL_RECEIVER_PORT: '0' } };
  const { server } = options;
  // On PostgreSQL each is another machine, with a data folder of its own.
  const serve = (n: number): string[] => [
    ...['serve', '--quiet'],
    ...(server && n > 0 ? ['--data', join(setting.place.dir, `machine-${n}`)] : []),
  ];
  const slots = Array.from({ length: options.daemons }, (_, n) =>
    keepRunning(n === 0 ? setting.place : elsewhere, `serve ${n + 1}`, serve(n), 100),
  );
  const standstill = watchStandstill(ledger, deeds);
  const watches: Promise<void>[] = [];
  const hurtDaemon = (slot: Slot | undefined): void => {
    const pid = slot?.pid();
    if (!slot || pid === undefined) return;
    if (random() < 0.3) {
      deeds.stops += 1;
      watches.push(stopAWhile(slot));
    } else {
      deeds.kills += 1;
      slot.signal('SIGKILL');
      watches.push(watchTakeOver(ledger, pid, deeds.takeOverMs));
    }
  };
  try {
    while (ledger.payouts() === 0 || left() === ledger.payouts()) await sleep(100);
    for (let outage = 0; outage < options.outages; outage++) {
      await sleep(500 + random() * 2500);
      if (outage === Math.floor(options.outages / 2)) await longOutage(options, { redis, ledger, deeds });
      else await hurtRedis(redis, random(), deeds);
      hurtDaemon(slots[outage % slots.length]);
      if (outage % 6 === 3) {
        deeds.joined += 1;
        watches.push(visit(elsewhere, serve(options.daemons), 4000 + random() * 4000));
      }
      if (server?.kill && outage % 3 === 1) {
        // A look into the ledger meanwhile would only be in the way.
        await Promise.all([standstill.stop(), ...watches.splice(0)]);
        deeds.crashes = (deeds.crashes ?? 0) + 1;
        await server.kill();
        await sleep(random() * 3000);
        await server.start();
        standstill.start();
      }
      deeds.leftAtLast = left();
      options.say(
        `outage ${outage + 1} of ${options.outages}: ${left()} of ${ledger.payouts()} left to send, standstill at most ${Math.round(deeds.standstillMs)} ms`,
      );
    }
    await Promise.all(watches);
    await untilStill(ledger, done);
  } finally {
    await standstill.stop();
    await Promise.all(slots.map((slot) => slot.stop()));
  }
  for (const slot of slots)
    options.say(`${slot.name} ended: ${JSON.stringify(slot.endings)} ${slot.lastWords().trim()}`);
  return deeds;
}

async function hurtRedis(redis: RedisServer, chance: number, deeds: Deeds): Promise<void> {
  if (chance < 0.4) {
    deeds.emptied += 1;
    await redis.kill?.();
    await sleep(chance * 2000);
    await redis.start();
  } else if (chance < 0.85) {
    deeds.flushed += 1;
    await redis.flush();
  } else {
    deeds.frozen += 1;
    redis.signal?.('SIGSTOP');
    await sleep(6000);
    redis.signal?.('SIGCONT');
    await redis.flush();
    deeds.flushed += 1;
  }
}

async function longOutage(
  options: QueueChaosOptions,
  { redis, ledger, deeds }: { redis: RedisServer; ledger: LedgerView; deeds: Deeds },
): Promise<void> {
  deeds.emptied += 1;
  await redis.kill?.();
  const before = ledger.begun();
  await sleep(options.outageSeconds * 1000);
  deeds.sentWithoutQueue = ledger.begun() - before;
  await redis.start();
}

/** One more daemon that comes and goes. */
async function visit(place: Setting['place'], args: string[], ms: number): Promise<void> {
  const slot = keepRunning(place, 'a visitor', args, 100_000);
  await sleep(ms);
  await slot.stop();
}

/** Keeps the longest time in which nobody began to send, while something was left to send. It starts at once. */
function watchStandstill(ledger: LedgerView, deeds: Deeds): { start(): void; stop(): Promise<void> } {
  let watching = new AbortController();
  async function watch(signal: AbortSignal): Promise<void> {
    let [begun, since] = [ledger.begun(), performance.now()];
    for (; !signal.aborted; await sleep(100)) {
      const now = ledger.begun();
      if (now === begun && ledger.unfinished() > 0) {
        deeds.standstillMs = Math.max(deeds.standstillMs, performance.now() - since);
        continue;
      }
      [begun, since] = [now, performance.now()];
    }
  }
  let watched = watch(watching.signal);
  return {
    start() {
      watching = new AbortController();
      watched = watch(watching.signal);
    },
    stop() {
      watching.abort();
      return watched;
    },
  };
}

function describe(deeds: Deeds): Figure[] {
  const figure = (what: string, value: number | string, wrong = false): Figure => ({
    what,
    value: String(value),
    wrong,
  });
  const standstill = Math.round(deeds.standstillMs);
  return [
    figure('Redis killed and started again empty', deeds.emptied),
    figure('Redis flushed', deeds.flushed),
    figure('Redis frozen for 6 s', deeds.frozen),
    figure('daemons that joined and left', deeds.joined),
    figure('payouts left to send after the last of it', deeds.leftAtLast),
    figure('payouts begun during the long outage', deeds.sentWithoutQueue, deeds.sentWithoutQueue === 0),
    figure(
      `longest standstill while something was left (sweep every ${sweepEverySeconds} s)`,
      `${standstill} ms`,
      standstill > longestStandstillMs,
    ),
  ];
}
