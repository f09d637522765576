import type { ListedTransfer } from '../../src/core/domain/listed-transfer.ts';
import type { Ledger } from '../../src/core/storage/ledger.ts';
import { noBrakes } from '../../src/sending/brakes.ts';
import { openDay } from '../../src/sending/limits.sql.ts';
import type { Random } from '../simulation/random.ts';
import type { World } from './list-service.ts';
import { healedRows, type Planted, planted, wrongRows } from './plant.ts';

const day = 86_400_000;
export const start = Date.UTC(2026, 10, 21, 12);
export const birth = new Date(start - 60 * day).toISOString();

/** One payout of the ledger, or a stranger's transfer, with what is wrong about it. */
export type Subject = {
  n: number;
  reference: string;
  sentAt: number;
  plant: Planted | null;
  /** The row that the service would rightly show. */
  row: ListedTransfer;
  otherId: string;
  healed: boolean;
};

export type Town = {
  subjects: Subject[];
  world: World;
  /** Writes new subjects into the ledger, the list's rows at once. */
  add(subjects: Subject[]): Promise<void>;
  draw(sentAt: number, plant: Planted | null): Subject;
  /** Shows what the service has for a subject now, in place of what it had. */
  show(subject: Subject): void;
};

const iso = (ms: number): string => new Date(ms).toISOString();
/** As the service writes times: six digits after the point. */
const stamp = (ms: number): string => iso(ms).replace('Z', '000Z');

/** The ledger's payouts and the service's book of them; `clockErrorMs`: the service's clock less ours. */
export function createTown(ledger: Ledger, random: Random, clockErrorMs: number): Town {
  const world: World = { rows: [], now: start, version: 0 };
  const subjects: Subject[] = [];
  const place = new Map<string, ListedTransfer>();
  let next = 0;

  function draw(sentAt: number, plant: Planted | null): Subject {
    const n = ++next;
    const reference = `ACME-${n}`;
    const old = world.now - sentAt > 3_600_000;
    const status = old
      ? random.chance(0.95)
        ? 'success'
        : 'failed'
      : random.pick(['pending', 'success', 'failed']);
    const createdAt = sentAt + clockErrorMs + random.between(1, 900);
    const settledAt = status === 'pending' ? createdAt : createdAt + random.between(1_000, 3_000_000);
    const row: ListedTransfer = {
      id: String(n),
      trx: `TRX${n}`,
      reference,
      currency: 'NGN',
      amount: '10.00',
      fee: '1.00',
      account_name: 'ADA',
      account_number: '0123456789',
      bank_code: '000013',
      domain: 'test',
      status: plant ? 'success' : status,
      created_at: stamp(createdAt),
      updated_at: stamp(Math.min(settledAt, world.now + clockErrorMs)),
    };
    return { n, reference, sentAt, plant, row, otherId: String(10_000_000 + n), healed: false };
  }

  function show(subject: Subject): void {
    const { plant, row, otherId } = subject;
    const right = plant && subject.healed ? healedRows(plant, row, otherId) : [row];
    const rows = plant && !subject.healed ? wrongRows(plant, row, otherId) : right;
    for (const id of [row.id, otherId]) {
      const shown = rows.find((one) => one.id === id);
      if (shown) place.set(id, shown);
      else place.delete(id);
    }
    world.rows = [...place.values()];
    world.version++;
  }

  async function add(added: Subject[]): Promise<void> {
    subjects.push(...added);
    for (const subject of added) {
      const { plant, row, otherId } = subject;
      for (const one of plant ? wrongRows(plant, row, otherId) : [row]) place.set(one.id, one);
    }
    world.rows = [...place.values()];
    world.version++;
    const ours = added.filter(({ plant }) => plant !== 'missing_in_ledger');
    await ledger.write(async (trx) => {
      for (let from = 0; from < ours.length; from += 100) {
        const some = ours.slice(from, from + 100);
        if (some.length === 0) continue;
        await trx.insertInto('payouts').values(some.map(payoutOf)).execute();
        const day_id = await openDay(trx, { brakes: noBrakes, at: iso(world.now) });
        const attempts = some.flatMap(attemptsOf).map((one) => ({ ...one, day_id }));
        await trx.insertInto('attempts').values(attempts).execute();
      }
    });
  }

  return { subjects, world, add, draw, show };
}

/** A payout's id is its subject's number, its first attempt's the tenfold. */
function payoutOf({ n, reference, sentAt, plant, row }: Subject) {
  const state = stateOf(plant);
  return {
    id: BigInt(n),
    batch_id: 'b',
    row_number: BigInt(n + 1),
    reference,
    reference_key: reference.toLowerCase(),
    account_number: '0123456789',
    account_name: 'ADA',
    bank_code: '000013',
    amount: 1000n,
    currency: 'NGN',
    narration: 'n',
    sender_name: 's',
    type: null,
    body: '{}',
    cells: '[]',
    state,
    attempt_count: plant === 'paid_twice' ? 2n : 1n,
    last_attempt_id: BigInt(plant === 'paid_twice' ? n * 10 + 1 : n * 10),
    transfer_id: plant === 'reference_collision' ? null : row.id,
    trx: null,
    fee: plant === 'fee_conflict' ? '1.00' : null,
    message: null,
    submitted_at: iso(sentAt),
    settled_at: null,
    final_at: state === 'pending' || state === 'unknown' ? null : iso(sentAt + 1000),
    evidence:
      plant === 'reference_collision'
        ? ''
        : plant && plant !== 'stale_pending'
          ? 'response+listing'
          : 'response',
    turned_away_until: null,
    updated_at: iso(sentAt + 1000),
  };
}

function stateOf(plant: Planted | null) {
  if (plant === null || plant === 'stale_pending') return 'pending' as const;
  if (plant === 'status_conflict') return 'failed' as const;
  return plant === 'reference_collision' ? ('unknown' as const) : ('success' as const);
}

function attemptsOf({ n, sentAt, plant }: Subject) {
  const attempt = (number: number) => ({
    id: BigInt(n * 10 + number - 1),
    payout_id: BigInt(n),
    number: BigInt(number),
    worker_id: 'w',
    began_at: iso(sentAt + (number - 1) * 2),
    ended_at: iso(sentAt + number * 2),
    outcome: plant === 'reference_collision' ? ('unknown' as const) : ('accepted' as const),
    http_status: null,
    code: null,
    message: null,
    transfer_id: null,
    raw: null,
  });
  return plant === 'paid_twice' ? [attempt(1), attempt(2)] : [attempt(1)];
}

/** So many subjects over the last weeks, some of each wrong among the recent ones. */
export function settle(town: Town, random: Random, rows: number): Promise<void> {
  const span = random.pick([2, 10, 40]) * day;
  const old = Array.from({ length: rows }, () => start - random.between(60_000, span));
  const first = old.map((sentAt) => town.draw(sentAt, null));
  const wrong = planted.flatMap((kind) =>
    Array.from({ length: random.between(0, 2) }, () =>
      town.draw(start - random.between(26 * 3_600_000, 1.9 * day), kind),
    ),
  );
  return town.add([...first, ...wrong]);
}
