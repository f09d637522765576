import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { LookedUp } from '../../src/books/discrepancies/questions.ts';
import { createReconciliation } from '../../src/books/discrepancies/reconciliation.ts';
import type { Clock } from '../../src/core/runtime/clock.ts';
import { type Config, loadConfig } from '../../src/core/settings/settings.ts';
import type { RunSummary } from '../../src/core/shapes/run-shapes.ts';
import type { Ledger } from '../../src/core/storage/ledger.ts';
import { openLedger } from '../../src/custody/open-ledger.ts';
import { createListing } from '../../src/watching/listing/listing.ts';
import { createRandom, type Random } from '../simulation/random.ts';
import { batchRow } from '../support/batch-row.ts';
import { createListService, drawHabits } from './list-service.ts';
import { lasting, returning } from './plant.ts';
import { birth, createTown, settle, type Town } from './town.ts';
import { judge, type Seen } from './verdict.ts';

export type ShiftingResult = {
  seed: number;
  order: string;
  /** How each of the three runs ended. */
  complete: (boolean | 'window')[];
  planted: number;
  /** Sentences about what was missed or is false; none when all is well. */
  wrongs: string[];
};

const day = 86_400_000;

/** Three nights of one seed: the real reconciliation on a real ledger, against a list that moves while it is read. */
export async function shiftingDay(seed: number, rows: number): Promise<ShiftingResult> {
  const random = createRandom(seed);
  const habits = drawHabits(random.fork('habits'));
  const folder = mkdtempSync(join(tmpdir(), 'shifting-'));
  const ledger = await openLedger(join(folder, 'ledger.db'), { now: () => birth });
  try {
    await addBatch(ledger);
    const town = createTown(ledger, random.fork('town'), habits.clockErrorMs);
    await settle(town, random.fork('settle'), rows);
    const nights = createNights(ledger, town, {
      random: random.fork('nights'),
      habits,
      config: configured(folder),
    });
    const result: ShiftingResult = { seed, order: habits.order, complete: [], planted: 0, wrongs: [] };
    const seen: Seen = new Map();
    for (const night of [1, 2, 3]) {
      if (night > 1) town.world.now += day;
      change(town, random.fork(`change ${night}`), night);
      const summary = await nights.run(night > 1 ? random.chance(0.3) : random.chance(0.5));
      result.complete.push(summary.complete);
      result.wrongs.push(...(await judge({ ledger, town, summary, night, seen })));
    }
    result.planted = town.subjects.filter(({ plant }) => plant !== null).length;
    return result;
  } finally {
    await ledger.close();
    rmSync(folder, { recursive: true, force: true });
  }
}

/** On the second night some are healed, on the third some of those are wrong again. */
function change(town: Town, random: Random, night: number): void {
  for (const subject of town.subjects) {
    const { plant } = subject;
    if (plant === null || lasting.includes(plant) || !random.chance(0.5)) continue;
    if (night === 2) subject.healed = true;
    else if (night === 3 && subject.healed && returning.includes(plant)) subject.healed = false;
    else continue;
    // The service's word is newer than what it said before.
    subject.row = { ...subject.row, updated_at: stampOf(town.world.now) };
    town.show(subject);
  }
}

function stampOf(ms: number): string {
  return new Date(ms).toISOString().replace('Z', '000Z');
}

export function createNights(
  ledger: Ledger,
  town: Town,
  { random, habits, config }: { random: Random; habits: ReturnType<typeof drawHabits>; config: Config },
): { run(full: boolean): Promise<RunSummary>; requests(): number } {
  const { world } = town;
  const due: Promise<void>[] = [];
  const disturb = (): void => {
    const plain = town.subjects.filter(({ plant, row }) => plant === null && row.status === 'pending');
    const subject = plain[random.between(0, Math.max(0, plain.length - 1))];
    if (subject && random.chance(0.6)) {
      const status = random.pick(['success', 'failed', 'pending']);
      subject.row = { ...subject.row, status, updated_at: stampOf(world.now + habits.clockErrorMs) };
      town.show(subject);
    } else {
      due.push(town.add([town.draw(world.now, null)]));
    }
  };
  const service = createListService(world, habits, { random, disturb });
  const listPage: typeof service.listPage = async (page, status, recall) => {
    const answer = await service.listPage(page, status, recall);
    await Promise.all(due.splice(0));
    return answer;
  };
  const clock: Clock = {
    now: () => world.now,
    iso: () => new Date(world.now).toISOString(),
    monotonic: () => world.now,
    sleep: async (ms) => {
      world.now += ms;
    },
  };
  const { maxPasses, windowDays } = config.reconciliation;
  const listing = createListing({
    ledger,
    clock,
    service: { listPage },
    limiter: { take: async () => undefined },
    settings: { maxPasses, windowDays, concurrency: random.pick([1, 2, 8]) },
  });
  const lookUp = async (ids: bigint[]): Promise<Map<bigint, LookedUp>> =>
    new Map(ids.map((id) => [id, detailsOf(town, Number(id))]));
  const followUp = { lookUp, askResend: async () => 0 };
  const reconciliation = createReconciliation({ ledger, config, clock, listing, followUp });
  return { run: (full) => reconciliation.run({ full, followUp: true }), requests: service.requests };
}

function detailsOf({ subjects, world }: Town, n: number): LookedUp {
  const reference = subjects[n - 1]?.reference;
  const row = world.rows.find((one) => one.reference === reference);
  if (!row) return { word: 'not_found', status: null };
  const status = row.status === 'success' || row.status === 'failed' ? row.status : 'pending';
  return { word: 'found', status };
}

export async function addBatch(ledger: Ledger): Promise<void> {
  await ledger.db.insertInto('batches').values(batchRow('b', birth)).execute();
}

export function configured(folder: string): Config {
  mkdirSync(join(folder, 'config'), { recursive: true });
  const file = join(folder, 'config', 'counterfoil.yaml');
  writeFileSync(file, 'service: { base_url: "http://127.0.0.1:1" }\nreceiver: { enabled: false }\n');
  const loaded = loadConfig({ configFlag: file, cwd: folder, env: {} });
  if (loaded.kind !== 'ok') throw new Error(loaded.problems.join('\n'));
  return loaded.config;
}
