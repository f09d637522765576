import type { ListedTransfer } from '../../src/core/domain/listed-transfer.ts';
import type { ListPage, ServiceClient, ServiceTrouble } from '../../src/core/service/types.ts';
import type { Random } from '../simulation/random.ts';

/** In which order a seed's service lists; `restless` is another one with every request. */
export const orders = ['newest', 'oldest', 'updated', 'updated oldest', 'by id', 'restless'] as const;
export type Order = (typeof orders)[number];

/** How a seed's service behaves; shares are of requests. */
export type Habits = {
  order: Order;
  perPage: number;
  /** The page size changes: never, between two pages, or when page 1 is asked. */
  resizes: 'never' | 'pages' | 'passes';
  faults: number;
  /** Something is inserted, updated or moved before an answer. */
  churn: number;
  repeats: number;
  /** `total` is off by some, in some replies. */
  wrongTotals: number;
  /** The service's clock less ours. */
  clockErrorMs: number;
};

/** `version` rises with every change of the rows. */
export type World = { rows: ListedTransfer[]; now: number; version: number };

export function drawHabits(random: Random): Habits {
  const calm = random.chance(0.25);
  return {
    order: random.pick(orders),
    perPage: random.pick([10, 20, 50, 50, 100]),
    resizes: random.pick(['never', 'never', 'never', 'pages', 'passes']),
    faults: calm ? 0 : random.next() * 0.08,
    churn: calm ? 0 : random.pick([0.002, 0.01, 0.05, 0.3]),
    repeats: random.chance(0.2) ? 0.1 : 0,
    wrongTotals: random.chance(0.1) ? 0.2 : 0,
    clockErrorMs: random.between(-20_000, 20_000),
  };
}

/** A list of transfers that moves while it is read; `disturb` is what the world does before an answer. */
export function createListService(
  world: World,
  habits: Habits,
  { random, disturb }: { random: Random; disturb: () => void },
): { listPage: ServiceClient['listPage']; requests(): number } {
  let asked = 0;
  let { perPage } = habits;

  const listPage: ServiceClient['listPage'] = async (page, status, recall) => {
    asked++;
    world.now += random.between(1, 120);
    while (random.chance(habits.churn)) disturb();
    if (random.chance(habits.faults)) return trouble(random);
    if (habits.resizes === 'pages' && random.chance(0.05)) perPage = random.pick([10, 20, 50]);
    if (habits.resizes === 'passes' && page === 1) perPage = random.pick([10, 20, 50]);
    const rows = inOrder(status);
    const off = random.chance(habits.wrongTotals) ? random.between(-2, 2) : 0;
    const items = rows.slice((page - 1) * perPage, page * perPage).map((row) => ({
      ...row,
      domain: status ? null : row.domain,
    }));
    const [first] = items;
    if (first && random.chance(habits.repeats)) items.push({ ...first });
    const shown: Omit<ListPage, 'date'> = {
      page,
      lastPage: Math.max(1, Math.ceil(rows.length / perPage)),
      perPage,
      total: Math.max(0, rows.length + off),
      items,
    };
    const date = Math.floor((world.now + habits.clockErrorMs) / 1000) * 1000;
    const digest = JSON.stringify(shown);
    return { kind: 'page', page: { ...(recall?.(digest) ?? { ...shown, digest }), date } };
  };

  let kept = { key: '', rows: world.rows };
  function inOrder(status: string | undefined): ListedTransfer[] {
    const key = `${world.version} ${status}`;
    if (kept.key !== key || habits.order === 'restless')
      kept = { key, rows: sorted(status ? world.rows.filter((row) => row.status === status) : world.rows) };
    return kept.rows;
  }

  function sorted(rows: ListedTransfer[]): ListedTransfer[] {
    const by = (key: 'created_at' | 'updated_at', sign: 1 | -1) =>
      rows.toSorted(
        (a, b) => (a[key] === b[key] ? Number(a.id) - Number(b.id) : a[key] < b[key] ? -1 : 1) * sign,
      );
    switch (habits.order) {
      case 'newest':
        return by('created_at', -1);
      case 'oldest':
        return by('created_at', 1);
      case 'updated':
        return by('updated_at', -1);
      case 'updated oldest':
        return by('updated_at', 1);
      case 'by id':
        return rows.toSorted((a, b) => scatter(a.id) - scatter(b.id));
      case 'restless':
        return rows
          .map((row) => ({ row, at: random.next() }))
          .toSorted((a, b) => a.at - b.at)
          .map(({ row }) => row);
    }
  }

  return { listPage, requests: () => asked };
}

/** A fixed order that is none of time. */
function scatter(id: string): number {
  return Math.imul(Number(id), 0x9e3779b1) >>> 0;
}

function trouble(random: Random): ServiceTrouble {
  const kind = random.pick<ServiceTrouble['reason']>(['throttled', 'server_error', 'unreachable', 'timeout']);
  return {
    kind: 'trouble',
    reason: kind,
    message: kind,
    httpStatus: kind === 'throttled' ? 429 : kind === 'server_error' ? 500 : null,
    retryAfterMs: kind === 'throttled' ? random.between(1, 5) * 1000 : null,
  };
}
