import * as intakeJob from '../../jobs/intake.ts';
import * as submitJob from '../../jobs/submit.ts';
import { type App, openApp } from '../../src/app/app.ts';
import { unprovenEvidence, waiveListing } from '../../src/core/ledger/barriers.ts';
import { holdReasonsOf } from '../../src/core/ledger/hold-reasons.ts';
import { foreignOrigins } from '../../src/core/ledger/origins.ts';
import { findHalt, halt, haltMarks, liftCanary, liftHalt } from '../../src/sending/halts.sql.ts';
import { holdBatch, releaseBatch } from '../../src/sending/holds.sql.ts';
import { sayHalt } from '../../src/words/halt-words.ts';
import { approve, chunkOf, waitingForApproval } from './approver.ts';
import type { PeoplesAct } from './coverage.ts';
import type { Life } from './life.ts';
import { beginRace } from './races.ts';
import type { Random } from './random.ts';
import type { Town } from './town.ts';

const minute = 60_000;

/** The people of the office: now and then one of them looks at the ledger and does something, rightly or not. */
export function createPeople(town: Town, wake: () => void): { start(): void; tidyUp(): Promise<void> } {
  const { world } = town;
  const { long } = town.weather;
  const random = world.random.fork('people');

  /** One command: a process of its own, that may be killed as any other. */
  async function command(work: (app: App) => Promise<void>, begun?: (life: Life) => void): Promise<void> {
    if (town.fall.shut) return;
    const { life, options } = town.begin('person');
    begun?.(life);
    const { done } = town.stalls.begins(life, 'a command');
    try {
      const app = await openApp('whole', { ...options, kind: 'command' });
      await app.takeOver();
      await work(app);
      await app.close();
      life.kill('done');
    } catch (error) {
      town.failed(life, 'a command', error);
    }
    done();
    wake();
  }

  const visit = (): void => {
    if (town.calm) return;
    void command((app) => decide(town, app, random));
    world.after(
      random.between(5, town.weather.longestAwayMinutes) * (long.ordersWait ? 3 : 1) * minute,
      null,
      visit,
    );
  };
  const rivals = world.random.fork('races');
  const race = (): void => {
    if (town.calm) return;
    beginRace(town, { command, act, random: rivals });
    world.after(rivals.between(10, 40) * minute, null, race);
  };
  return {
    start() {
      world.after(random.between(1, 30) * minute, null, visit);
      if (long.races) world.after(minute, null, race);
    },
    tidyUp: () =>
      command(async (app) => {
        if (mayEndTheWait(town) && town.service.listFlaw()) await act(town, app, 'end the wait', null);
        if (await findHalt(app.ledger.db)) await act(town, app, 'release mode', null);
        for (const { batch_id: batch } of held(town)) await act(town, app, 'release batch', batch);
        for (const batch of waitingForApproval(town, app)) await act(town, app, 'approve', batch);
        if (long.skipsRows || long.dropsFiles || isPromised(town)) await intakeJob.run(app);
        if (!long.sweeps) await submitJob.run(app);
      }),
  };
}

/** An adopted ledger waits for a list that cannot be complete, or that could not be so for a while. */
function mayEndTheWait({ weather, fall }: Town): boolean {
  return weather.long.listFlaw !== null && fall.waits();
}

/** A process was killed before it brought a file to its place. */
function isPromised({ inspector }: Town): boolean {
  return inspector.rows('select 1 from file_moves where done_at is null limit 1').length > 0;
}

function held(town: Town): { batch_id: string }[] {
  return town.inspector.rows<{ batch_id: string }>(
    `select id as batch_id from batches b where phase = 'loaded' and (hold_reasons <> '[]'
      or exists (select 1 from payouts where batch_id = b.id and state = 'held')) order by 1`,
  );
}

async function decide(town: Town, app: App, random: Random): Promise<void> {
  const { inspector } = town;
  const { sweeps, ordersWait } = town.weather.long;
  if (!sweeps && random.chance(0.3)) await submitJob.run(app);
  if (mayEndTheWait(town) && random.chance(town.service.listFlaw() ? 0.9 : 0.05))
    return act(town, app, 'end the wait', null);
  const halted = inspector.rows<{ kind: string }>('select kind from halts').length > 0;
  if (halted && random.chance(0.8)) return act(town, app, 'release mode', null);
  const [unapproved] = waitingForApproval(town, app);
  if (unapproved && random.chance(0.6)) {
    const how = random.pick<PeoplesAct>([
      'approve',
      'approve',
      'approve',
      'approve own',
      'approve what changed',
    ]);
    return act(town, app, how, unapproved);
  }
  const [waiting] = held(town);
  if (waiting && random.chance(ordersWait ? 0.01 : 0.25)) return act(town, app, 'cancel', waiting.batch_id);
  if (waiting && random.chance(ordersWait ? 0.05 : 0.6))
    return act(town, app, 'release batch', waiting.batch_id);
  const unknown = inspector.states().filter(({ state }) => state === 'unknown');
  const batches = inspector.batches().filter(({ phase }) => phase === 'loaded');
  const someUnknown = unknown[random.between(0, Math.max(0, unknown.length - 1))];
  const someBatch = batches[random.between(0, Math.max(0, batches.length - 1))];
  if (someUnknown && random.chance(0.8)) {
    const truth = isShown(town, someUnknown.reference);
    const rightly: PeoplesAct = truth ? 'settle rightly' : random.pick(['retry rightly', 'settle rightly']);
    const wrongly: PeoplesAct = random.pick(['retry wrongly', 'retry wrongly', 'settle wrongly']);
    if (ordersWait && random.chance(0.6)) await holdBatchOf(town, app, someUnknown.reference);
    return act(town, app, random.chance(town.weather.patience) ? rightly : wrongly, someUnknown.reference);
  }
  const anyState = random.chance(0.3);
  const { returns } = town.weather.long;
  const over = inspector
    .states()
    .filter(
      ({ state }) => (anyState && state !== 'unknown') || ['failed', 'refused', 'returned'].includes(state),
    );
  const back = over.filter(({ state }) => state === 'returned');
  const [first, ...others] = returns && back.length > 0 && random.chance(0.7) ? back : over;
  if (first && random.chance(ordersWait || returns ? 0.9 : 0.5)) {
    for (let more = ordersWait || returns ? 4 : 1; more > 0; more--) {
      const someOver = random.pick([first, ...others]);
      if (ordersWait && random.chance(0.6)) await holdBatchOf(town, app, someOver.reference);
      await act(town, app, 'pay anew', someOver.reference);
    }
    return;
  }
  if (!someBatch) return;
  const choice = random.next();
  if (choice < 0.25) return act(town, app, 'hold batch', someBatch.id);
  if (choice < 0.35) return act(town, app, 'hold mode', null);
  if (choice < 0.45) return act(town, app, 'cancel', someBatch.id);
}

/** What is ordered of it now waits until somebody lets the batch go. */
async function holdBatchOf(town: Town, app: App, reference: string): Promise<void> {
  const sql = 'select batch_id from payouts where reference = ?';
  const [row] = town.inspector.rows<{ batch_id: string }>(sql, reference);
  if (row) await act(town, app, 'hold batch', row.batch_id);
}

async function act(town: Town, app: App, what: PeoplesAct, subject: string | null): Promise<void> {
  const { world } = town;
  const { ledger } = app;
  const at = app.clock.iso();
  world.coverage.count(`person: ${what}`);
  world.trace(`a person: ${what} ${subject ?? ''}`);
  switch (what) {
    case 'hold mode': {
      const halted = town.brakes.holding(null);
      await ledger.write((trx) => halt(trx, { kind: 'person' }, at));
      halted();
      return;
    }
    case 'release mode': {
      world.trace(`it was halted: ${sayHalt(await findHalt(ledger.db))?.cause}`);
      const seen = await haltMarks(ledger.db);
      town.brakes.releasing(null);
      await ledger.write((trx) => liftHalt(trx, { at, seen }));
      return;
    }
    case 'end the wait': {
      town.fall.announceEnd();
      await ledger.write(async (trx) => {
        const foreign = await foreignOrigins(trx, app.account);
        const evidence = (await unprovenEvidence(trx)) ?? undefined;
        return waiveListing(trx, { at, by: 'Ada', note: 'no other list will come', evidence, foreign });
      });
      return;
    }
    case 'hold batch':
    case 'release batch': {
      const { dailyLimit } = app.config.submission;
      const request = { batch: subject ?? '', at, dailyLimit, ...chunkOf(town) };
      if (what === 'hold batch') {
        const held = town.brakes.holding(request.batch);
        await holdBatch(ledger, { ...request, reason: { kind: 'person' } });
        held();
        return;
      }
      const { reasons: seen } = await holdReasonsOf(ledger.db, request.batch);
      town.brakes.releasing(request.batch);
      town.lateBytes.releasing(request.batch);
      await releaseBatch(ledger, { ...request, seen });
      await ledger.write((trx) => liftCanary(trx, request.batch, { at }));
      return;
    }
    case 'approve':
    case 'approve own':
    case 'approve what changed':
      return approve(town, app, what, subject ?? '');
    case 'cancel':
      await app.decisions.cancel({ batch: subject ?? '', person: 'Ada' });
      return;
    case 'pay anew':
      return payAnew(town, app, subject ?? '');
    case 'retry rightly':
    case 'retry wrongly':
      return retry(town, app, what === 'retry rightly', subject ?? '');
    case 'settle rightly':
    case 'settle wrongly':
      return settle(town, app, what === 'settle rightly', subject ?? '');
  }
}

/** Rightly: after the quiet period, when the service says on the telephone that nothing is there and nothing is coming. */
async function retry(town: Town, app: App, rightly: boolean, reference: string): Promise<void> {
  const { decisions, inspector, service, weather, world } = town;
  const last = inspector.lastAttempt(reference);
  const since = Math.max(last ? town.begunAt(last.id) : 0, town.fall.fellAt() ?? 0);
  if (since === 0) return;
  const afterQuietPeriod = world.now() - since > weather.quietPeriodMs;
  const onItsWay = town.left(reference) > service.book.arrivals(reference).length;
  // What stands still in a stopped process, nobody at the service can know of.
  const coming = onItsWay && !town.decisions.isLate(reference);
  const safe = afterQuietPeriod && !isShown(town, reference) && !coming;
  if (rightly && !safe) return;
  const order = await look(app, reference);
  if (!order) return;
  decisions.announceRetry(reference, { afterQuietPeriod });
  await app.decisions.retry(order);
  await submitJob.run(app, { scope: { payouts: order.ids } });
}

/** What the service's people see when they look, as everybody else does. */
function isShown({ service, world }: Town, reference: string): boolean {
  return service.book.entries(reference).some(({ shownFrom }) => shownFrom <= world.now());
}

/** What `retry` and `settle` do first: ask the service, then show the evidence, whose digest the decision repeats (P20). */
async function look(app: App, reference: string) {
  const { payouts } = await app.decisions.find([reference]);
  const ids = payouts.map(({ id }) => id);
  const since = app.clock.iso();
  const asked = payouts.filter(({ state }) => ['unknown', 'failed', 'refused', 'returned'].includes(state));
  await app.lookUps.lookUp(asked.map(({ id }) => id));
  const { digest, cases } = await app.decisions.weigh(ids, since);
  const possible = cases.some(({ judgement }) => judgement.kind !== 'no');
  return possible ? { ids, since, digest, person: 'Ada' } : null;
}

async function payAnew({ decisions }: Town, app: App, reference: string): Promise<void> {
  const order = await look(app, reference);
  if (!order) return;
  // What came to be unknown meanwhile goes out again under its own reference.
  decisions.announceRetry(reference, { afterQuietPeriod: false });
  await app.decisions.retry(order);
}

async function settle(town: Town, app: App, rightly: boolean, reference: string): Promise<void> {
  const paid = town.service.book.timesPaid(reference) > 0;
  const pending = town.service.book.entries(reference).some(({ record }) => record.status === 'pending');
  if (rightly && pending) return;
  const order = await look(app, reference);
  const as = paid === rightly ? 'success' : 'failed';
  if (order) await app.decisions.settle({ ...order, as, note: 'the bank statement says so' });
}
