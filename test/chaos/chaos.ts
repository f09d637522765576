import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { PostgresServer } from '../support/postgres-server.ts';
import { readBook } from './book.ts';
import { type LedgerView, lookInto } from './ledger-facts.ts';
import { finish, keepRunning, type Slot } from './processes.ts';
import { createRandom } from './random.ts';
import { minorOf, prepare, type Setting } from './setting.ts';
import { createSteppingClock } from './stepping.ts';
import { type Deeds, type Figure, judge, longestTakeOverMs, type Planned } from './verdict.ts';

export type ChaosOptions = {
  payouts: number;
  /** How long processes are killed at most; it ends earlier when everything is sent. */
  seconds: number;
  seed: number;
  /** Requests a second of all processes together; no limit where absent. */
  perSecond?: number;
  /** Where the ledger lies, and what else is killed now and then; a file where absent. */
  server?: Pick<PostgresServer, 'url' | 'kill' | 'start'>;
  /** The wall clock of `serve` is set every ten seconds, by seconds, an hour or a year. */
  clockSteps?: boolean;
  say(line: string): void;
};

/** Longer than the deadline of an intent and what a loaded machine may add to it. */
const stopMs = 3500;

/**
 * `serve` and two `submit` on one ledger, killed and stopped at random moments and started again, until every payout
 * was sent; then one reconciliation, and the ledger is held against the service's own book.
 */
export async function runChaos(options: ChaosOptions): Promise<Figure[]> {
  const { payouts, perSecond = 0 } = options;
  const minor = Array.from({ length: payouts }, (_, i) => minorOf(i)).reduce((a, b) => a + b, 0);
  const limits = { concurrency: 8, sendDeadlineMs: 1000, perSecond, processes: 3 };
  const planned: Planned = { payouts, minor, ...limits, ...(options.clockSteps && { stepped: 'serve' }) };
  const setting = await prepare(planned, options.server?.url);
  const ledger = lookInto(setting.ledger);
  try {
    const began = performance.now();
    const deeds = await hurt(options, setting, ledger);
    await settle(setting, options.say);
    await orderUnknowns(setting, options.say);
    await settle(setting, options.say);
    const book = await readBook(setting.url, setting.key);
    const verified = (await finish(setting.place, ['verify', '--json'])).code === 0;
    return judge(planned, { ...deeds, verified, seconds: (performance.now() - began) / 1000 }, ledger, book);
  } finally {
    ledger.close();
    const gone = once(setting.sandbox, 'close');
    setting.sandbox.kill('SIGKILL');
    await gone;
    rmSync(setting.place.dir, { recursive: true, force: true });
  }
}

/** Kills and stops, then lets the survivors finish in peace. */
async function hurt(
  options: ChaosOptions,
  setting: Setting,
  ledger: LedgerView,
): Promise<Omit<Deeds, 'verified'>> {
  const random = createRandom(options.seed);
  const began = performance.now();
  // On PostgreSQL one of them is another machine, with a data folder of its own.
  const elsewhere =
    options.server === undefined ? [] : ['--data', join(setting.place.dir, 'another-machine')];
  const clock = options.clockSteps
    ? createSteppingClock(setting.place, createRandom(options.seed + 1))
    : null;
  const slots = [
    keepRunning(clock?.place ?? setting.place, 'serve', ['serve', '--quiet'], 100),
    keepRunning(setting.place, 'submit 1', ['submit', '--quiet'], 100),
    keepRunning(setting.place, 'submit 2', ['submit', '--quiet', ...elsewhere], 100),
  ];
  const deeds: Omit<Deeds, 'verified'> = {
    kills: 0,
    stops: 0,
    takeOverMs: [],
    seconds: 0,
    sendingSeconds: 0,
  };
  const watches: Promise<void>[] = [];
  const done = (): boolean => ledger.payouts() === options.payouts && ledger.unfinished() === 0;
  const elapsed = (): number => (performance.now() - began) / 1000;
  const stopped = new Set<string>();
  try {
    while (elapsed() < options.seconds && !done()) {
      await sleep(100 + random() * 900);
      const slot = slots[Math.floor(random() * slots.length)];
      const pid = slot?.pid();
      if (!slot || pid === undefined || stopped.has(slot.name)) continue;
      if (options.server?.kill && random() < 0.08) {
        deeds.crashes = (deeds.crashes ?? 0) + 1;
        // Who looks into the ledger meanwhile would only be in the way.
        await Promise.all(watches.splice(0));
        await options.server.kill();
        await sleep(random() * 2000);
        await options.server.start();
      } else if (random() < 0.1) {
        deeds.stops += 1;
        stopped.add(slot.name);
        watches.push(stopAWhile(slot).then(() => void stopped.delete(slot.name)));
      } else {
        deeds.kills += 1;
        slot.signal('SIGKILL');
        watches.push(watchTakeOver(ledger, pid, deeds.takeOverMs));
      }
      if ((deeds.kills + deeds.stops) % 20 === 0) {
        const left = ledger.unfinished();
        options.say(
          `${Math.round(elapsed())} s: ${deeds.kills} kills, ${deeds.stops} stops, ${ledger.payouts()} taken in, ${left} to be sent`,
        );
      }
    }
    await Promise.all(watches);
    await untilStill(ledger, done);
    deeds.sendingSeconds = elapsed();
    if (clock) deeds.clockSteps = clock.steps();
  } finally {
    clock?.stop();
    await Promise.all(slots.map((slot) => slot.stop()));
  }
  for (const slot of slots)
    options.say(`${slot.name} ended: ${JSON.stringify(slot.endings)} ${slot.lastWords().trim()}`);
  return deeds;
}

/** Waits until everything is sent, or until nothing more is for two minutes. */
export async function untilStill(ledger: LedgerView, done: () => boolean): Promise<void> {
  let left = Number.NaN;
  for (let since = performance.now(); !done() && performance.now() - since < 120_000; await sleep(200)) {
    const now = ledger.unfinished() - ledger.payouts();
    if (now !== left) since = performance.now();
    left = now;
  }
}

export async function stopAWhile(slot: Slot): Promise<void> {
  slot.signal('SIGSTOP');
  await sleep(stopMs);
  slot.signal('SIGCONT');
}

/** How long what a killed process was sending stayed `sending`. */
export async function watchTakeOver(ledger: LedgerView, pid: number, takeOverMs: number[]): Promise<void> {
  const began = performance.now();
  if (ledger.openAttemptsOf(pid) === 0) return;
  while (ledger.openAttemptsOf(pid) > 0 && performance.now() - began < longestTakeOverMs) await sleep(50);
  takeOverMs.push(Math.round(performance.now() - began));
}

/** What an operator does in the end: reconciles until the service has settled everything. */
export async function settle(setting: Setting, say: (line: string) => void): Promise<void> {
  const ledger = lookInto(setting.ledger);
  for (let tries = 0; tries < 10; tries++) {
    const { code, out, err } = await finish(setting.place, [
      'reconcile',
      '--full',
      '--no-follow-up',
      '--json',
    ]);
    say(`reconcile ended ${code}: ${(out || err).slice(0, 400).trim()}`);
    if (code !== 0 && code !== 4) throw new Error(`reconcile ended with ${code}: ${err}`);
    if (ledger.inState('pending') === 0) break;
    await sleep(1000);
  }
  ledger.close();
}

/**
 * A person orders once more what stayed unknown, on the evidence shown. Before, the reconciliation has found whatever
 * had landed: so each is paid once.
 */
export async function orderUnknowns(setting: Setting, say: (line: string) => void): Promise<void> {
  const ledger = lookInto(setting.ledger);
  for (const batch of ledger.batchesWithUnknowns()) {
    const retry = ['retry', '--batch', batch, '--state', 'unknown', '--json'];
    const looked = await finish(setting.place, retry);
    const shown: { evidence_digest?: string } = JSON.parse(looked.out || '{}');
    if (shown.evidence_digest === undefined) throw new Error(`retry showed no evidence: ${looked.err}`);
    const { code, err } = await finish(setting.place, [
      ...retry,
      '--yes',
      '--evidence',
      shown.evidence_digest,
    ]);
    say(`retry of the unknowns of ${batch} ended ${code}: ${err.slice(0, 200)}`);
  }
  ledger.close();
}
