import * as applyJob from '../../jobs/apply-webhooks.ts';
import * as requeueJob from '../../jobs/requeue.ts';
import * as submitJob from '../../jobs/submit.ts';
import { type App, openApp } from '../../src/app/app.ts';
import type { Queue } from '../../src/core/runtime/queue.ts';
import { createScheduler, type ScheduledJob, type Scheduler } from '../../src/core/runtime/scheduler.ts';
import { openWorkers } from '../../src/core/runtime/workers.sql.ts';
import { scheduledJobs } from '../../src/daemon/schedules.ts';
import { createGate } from '../../src/daemon/sending-gate.ts';
import { sendable } from '../../src/sending/claims.sql.ts';
import { describeDelivery } from '../../src/watching/webhooks/delivery.ts';
import { storeDeliveries } from '../../src/watching/webhooks/webhook-inbox.sql.ts';
import { createWebhookVerifier } from '../../src/watching/webhooks/webhook-signature.ts';
import { createAlarm, watchSteps } from './alarm.ts';
import type { Life } from './life.ts';
import type { Town } from './town.ts';
import type { Receiver } from './webhooks.ts';

const minute = 60_000;

/** The daemon of the town: begun again whenever it ends, until it is told to rest. */
export type Daemon = {
  start(): void;
  /** Stops in an orderly way, and does not come back. */
  rest(): void;
  /** Stops in an orderly way, and comes back at once. */
  restart(): void;
  /** Someone wants to see where everything stands, now. */
  reconcile(): void;
  /** Wakes the submit lane, as a person's command does. */
  wake(): void;
};

export function createDaemon(town: Town): Daemon {
  const { world } = town;
  const random = world.random.fork('daemon');
  let resting = false;
  let current: { life: Life; stop(): void; submit(): void; reconcile(): void } | null = null;

  function start(): void {
    if (town.fall.shut) {
      world.after(minute, null, start);
      return;
    }
    noteSchedule(town);
    const { life, options } = town.begin('serve');
    void life.died.then(() => {
      current = null;
      town.receiver = null;
      const away =
        town.calm || town.weather.isSteady ? 1_000 : random.pick([500, 20_000, 20 * minute, 5 * 60 * minute]);
      if (!resting) world.after(away, null, start);
    });
    openApp('whole', { ...options, kind: 'serve' }).then(
      (app) => {
        if (life.alive) current = { life, ...run(town, life, app) };
      },
      (error: unknown) => town.failed(life, 'opening', error),
    );
  }
  return {
    start,
    restart: () => current?.stop(),
    reconcile: () => current?.reconcile(),
    wake: () => current?.submit(),
    rest() {
      resting = true;
      current?.stop();
    },
  };
}

/** A daemon without a schedule for sending, and perhaps something ready beside it. */
function noteSchedule({ world, weather, inspector }: Town): void {
  if (weather.long.sweeps) return;
  world.coverage.count('schedule: a daemon begins without one');
  if (inspector.states().some(({ state }) => state === 'ready'))
    world.coverage.count('schedule: ready beside such a daemon');
}

/** What `serve` does. */
function run(town: Town, life: Life, app: App): { stop(): void; submit(): void; reconcile(): void } {
  const { world } = town;
  const random = world.random.fork(`lanes ${life.name}`);
  const stopping = new AbortController();
  const { signal } = stopping;
  const working = new Set<string>();
  let cleared = false;
  let scheduled = true;
  let ringing = { disarm: (): void => undefined };

  function lane(name: string, work: () => Promise<unknown>): () => void {
    let again = false;
    const go = (): void => {
      if (signal.aborted) return;
      again = working.has(name);
      if (again) return;
      working.add(name);
      const { done } = town.stalls.begins(life, name);
      work()
        .catch((error: unknown) => town.failed(life, name, error))
        .then(() => {
          done();
          working.delete(name);
          if (signal.aborted) return working.size === 0 && !scheduled ? end() : undefined;
          return again ? go() : undefined;
        })
        .catch((error: unknown) => town.failed(life, name, error));
    };
    return go;
  }
  const send = async (): Promise<void> => {
    await app.brakes.settle();
    const left = await sendable(app.ledger.db, app.brakes.under());
    if (left.ready === 0 && (await app.brakes.unsettled(1)).length === 0 && !(await mustAsk(app))) return;
    if (!cleared && (await app.preflight(signal)).kind === 'problem') return;
    cleared = true;
    await submitJob.run(app, { signal });
  };
  const gate = createGate(app);
  const submit = lane('submit', async () => {
    if ((await gate.word()) !== null) await send();
  });
  const apply = lane('apply', () => applyJob.run(app, signal));
  const reconcile = lane('reconcile', async () => {
    await app.takeOver();
    await app.applyWebhooks(signal);
    const found = await app.reconciliation.run({ full: true, followUp: true, signal });
    world.trace(`${life.name} reconciled: ${found.complete} in ${found.passes} passes`);
    if (found.passes > 2) world.coverage.count('machine: page shift');
  });
  const end = (): void => {
    app.close().then(
      () => life.kill('stopped in order'),
      (error: unknown) => town.failed(life, 'closing', error),
    );
  };
  const every = (ms: number, first: number, go: () => void): void => {
    const tick = (): void => {
      go();
      world.after(ms, life, tick);
    };
    world.after(first, life, tick);
  };
  const add: Pick<Queue, 'add'>['add'] = async (job) => {
    if (job.name === submitJob.name) submit();
    return 'added';
  };
  const refill = async (): Promise<requeueJob.Requeued> =>
    requeueJob.run(app, { own: { add }, shared: null, word: await gate.word() });
  const scheduler = schedulerOf(town, life, app, { stopping: signal, refill });
  // As the daemon does when it begins, and then by its schedules.
  const begin = lane('start', async () => {
    await app.takeOver();
    await refill();
    await scheduler.start();
    if (!signal.aborted) ringing = town.schedules.armed(life, scheduler.jobs);
    every(5 * minute, 5 * minute, makeUp);
  });
  const makeUp = lane('make up', scheduler.makeUp);
  world.after(500, life, begin);
  const onStep = async (): Promise<void> => {
    world.coverage.count('schedule: computed again after a step of the clock');
    await app.rebuildWaits();
    await scheduler.rebuild();
  };
  watchSteps(world, life, { signal, onStep }).catch((error: unknown) =>
    town.failed(life, 'a step of the clock', error),
  );
  const { ordersWait, returns, listFlaw } = town.weather.long;
  const hours = town.calm ? 2 : returns || listFlaw ? 1 : random.between(1, 6) * (ordersWait ? 12 : 1);
  every(hours * 60 * minute, random.between(1, 120) * minute, reconcile);
  town.receiver = receiverOf(town, life, app, apply);
  const stop = (): void => {
    ringing.disarm();
    world.coverage.count('machine: orderly stop');
    world.trace(`${life.name} is asked to stop`);
    stopping.abort();
    void scheduler.stop().then(() => {
      scheduled = false;
      if (working.size === 0) end();
    });
  };
  if (!town.calm && !town.weather.isSteady && random.chance(0.5))
    world.after(random.between(1, 600) * minute, life, stop);
  return { stop, submit, reconcile };
}

/** A batch waits for a question before its first payout, where the office has such questions. */
async function mustAsk({ config, brakes }: App): Promise<boolean> {
  const { balance, account_name } = config.service.extras;
  return balance + account_name !== '' && (await brakes.waits()).some(({ kind }) => kind === 'check');
}

/** The daemon's own scheduler and jobs, with virtual time for its timers; what they write of batches is left to others. */
function schedulerOf(
  town: Town,
  life: Life,
  app: App,
  { stopping, refill }: { stopping: AbortSignal; refill(): Promise<requeueJob.Requeued> },
): Scheduler & { jobs: readonly ScheduledJob[] } {
  const watched = <T>(work: Promise<T>): Promise<T> =>
    work.catch((error: unknown) => {
      town.failed(life, 'a scheduled job', error);
      throw error;
    });
  const nothing = async (): Promise<void> => undefined;
  const jobs = scheduledJobs(app, {
    stopping,
    refill,
    unsent: async () => null,
    watched,
    wakeResults: nothing,
    events: { look: nothing },
  });
  const scheduler = createScheduler({
    jobs: jobs.map((job) => ({
      ...job,
      async run() {
        const { done } = town.stalls.begins(life, job.name);
        town.world.coverage.count(`schedule: ${job.name}`);
        const { ended } = town.schedules.begins(job.name);
        return job.run().finally(() => {
          done();
          ended();
        });
      },
    })),
    timezone: app.config.schedules.timezone,
    clock: life.clock,
    jobsStore: app.jobsStore,
    log: app.log,
    worker: app.workers.id,
    isAlive: async (worker) => (await openWorkers(app.ledger.db)).some(({ id }) => id === worker),
    alarm: createAlarm(town.world, life),
  });
  return { ...scheduler, jobs };
}

/** As the receiver does: verify, store, answer, apply. */
function receiverOf(town: Town, life: Life, app: App, apply: () => void): Receiver {
  const { secretKeys = [], publicKeys = [], webhookKeys = [] } = app.config.keys.test ?? {};
  return async ({ body, headers }) => {
    if (!life.alive || life.stoppedUntil > town.world.now()) return false;
    const bytes = Buffer.from(body);
    const { payloadsignature, merchantsignature } = headers;
    const proof = { payloadsignature, merchantsignature, authorization: undefined };
    const verdict = createWebhookVerifier({ secretKeys, publicKeys, webhookKeys })(bytes, proof);
    if (verdict.kind === 'rejected') return true;
    const delivery = describeDelivery({
      body: bytes,
      headers,
      authorization: verdict.authorization,
      signedWith: verdict.signedWith,
      source: { address: '192.0.2.1', protocol: 'https' },
      receivedAt: life.clock.iso(),
      nowMs: life.clock.now(),
      replayWindowMs: app.config.receiver.replayWindowSeconds * 1000,
    });
    try {
      await life.pass('storing a webhook');
      await app.ledger.write((trx) => storeDeliveries(trx, [delivery]));
    } catch (error) {
      town.failed(life, 'storing a webhook', error);
      return false;
    }
    apply();
    return true;
  };
}
