import type { HistoryEvent } from '../../src/core/domain/history-event.ts';
import type { PayoutState } from '../../src/core/domain/payout.ts';
import type { Listed } from '../../src/core/storage/tables/tables.ts';
import type { Random } from '../simulation/random.ts';
import { addListed, addPayout, addRun, type World } from './support.ts';

/** A payout as the test remembers it: its history so far, and what the service has under its reference. */
export type Life = { id: bigint; reference: string; amount: bigint; currency: string; path: PayoutState[] };
type Transfer = Pick<Listed, 'transfer_id' | 'reference' | 'currency' | 'domain' | 'created_at'> & {
  amount: bigint | null;
  payout: bigint | null;
  status: string;
};

/** Where a payout may go next, legal or rare; the books must tie for all of it. */
const next: Record<PayoutState, [event: HistoryEvent, to: PayoutState][]> = {
  held: [
    ['release', 'ready'],
    ['cancel', 'cancelled'],
  ],
  ready: [
    ['intent', 'sending'],
    ['intent', 'sending'],
    ['hold', 'held'],
    ['adopted', 'unknown'],
  ],
  sending: [
    ['accepted', 'pending'],
    ['accepted', 'pending'],
    ['unknown', 'unknown'],
    ['refused', 'refused'],
    ['not_sent', 'ready'],
  ],
  pending: [
    ['listing says success', 'success'],
    ['details says success', 'success'],
    ['listing says failed', 'failed'],
    ['listing says returned', 'returned'],
    ['details says failed', 'unknown'],
  ],
  unknown: [
    ['retry', 'ready'],
    ['retry', 'held'],
    ['settle as failed', 'failed'],
    ['settle as success', 'success'],
    ['listing says success', 'success'],
    ['not_sent', 'ready'],
  ],
  success: [
    ['listing says returned', 'returned'],
    ['listing says pending', 'pending'],
  ],
  failed: [
    ['listing says success', 'success'],
    ['accepted', 'pending'],
    ['adopted', 'unknown'],
  ],
  refused: [
    ['details says pending', 'pending'],
    ['adopted', 'unknown'],
  ],
  cancelled: [],
  returned: [],
};

/** Lives that go on at random, under a clock that jumps, and a service that shows what it likes of them. */
export function createRandomLives(world: World, random: Random, startsAt: number) {
  const lives: Life[] = [];
  const transfers: Transfer[] = [];
  let now = startsAt;
  let wrongBy = 0;
  let runs = 0;
  const iso = (ms: number): string => new Date(ms).toISOString();
  const clock = (): string => iso(now + wrongBy);

  async function take(): Promise<void> {
    const reference = `R${lives.length}`;
    const amount = BigInt(random.between(1, 99_999));
    const currency = random.pick(['NGN', 'NGN', 'ZAR', 'JPY']);
    const first = random.pick<PayoutState>(['ready', 'ready', 'held']);
    const id = await addPayout(world.ledger, reference, [first], {
      amount,
      currency,
      transfer_id: `T${reference}`,
      times: [clock()],
      events: ['intake'],
    });
    lives.push({ id, reference, amount, currency, path: [first] });
  }

  async function step(life: Life): Promise<void> {
    const from = life.path.at(-1) ?? 'ready';
    const options = next[from];
    const [event, to] = options[random.between(0, options.length - 1)] ?? [];
    if (event === undefined || to === undefined) return;
    const seq = BigInt(life.path.push(to));
    const fee = random.chance(0.4) ? { fee: `${random.between(0, 60)}.${random.between(0, 99)}5` } : {};
    const entry = {
      payout_id: life.id,
      seq,
      at: clock(),
      event,
      source: 'test',
      from_state: from,
      to_state: to,
    };
    const rest = { detail: JSON.stringify(fee), prev_hash: '', hash: '' };
    await world.ledger.db
      .insertInto('history')
      .values({ ...entry, ...rest })
      .execute();
    await world.ledger.db.updateTable('payouts').set({ state: to }).where('id', '=', life.id).execute();
    if (to === 'sending' && random.chance(0.9)) show(life);
    if (random.chance(0.03)) show(life);
  }

  /** The service makes a transfer of it: mostly what was ordered. */
  function show({ id, reference, amount, currency }: Life): void {
    const known = transfers.some((one) => one.payout === id);
    transfers.push({
      transfer_id: known ? `T${reference}-${transfers.length}` : `T${reference}`,
      reference,
      currency: random.chance(0.03) ? 'KES' : currency,
      amount: random.chance(0.03) ? null : random.chance(0.04) ? amount + 7n : amount,
      domain: random.chance(0.03) ? 'live' : 'test',
      created_at: iso(now + random.between(-90, 90) * 1000),
      payout: id,
      status: random.pick(['pending', 'success', 'success', 'failed', 'reversed', 'odd']),
    });
  }

  function foreign(): void {
    const reference = `F${transfers.length}`;
    transfers.push({
      transfer_id: `T${reference}`,
      reference,
      currency: 'NGN',
      amount: 500n,
      domain: 'test',
      created_at: random.chance(0.1) ? '' : iso(now),
      payout: null,
      status: random.pick(['success', 'failed']),
    });
  }

  return {
    lives,
    now: () => iso(now),
    /** So much time passes, in which payouts are taken in and move. */
    async pass(ms: number, moves: number): Promise<void> {
      for (let n = 0; n < moves; n++) {
        now += Math.floor(ms / moves);
        if (random.chance(0.1)) wrongBy = random.pick([0, 0, 3_600_000, -3_600_000, -40 * 86_400_000]);
        const life = lives[random.between(0, Math.max(0, lives.length - 1))];
        if (life === undefined || random.chance(0.25)) await take();
        else await step(life);
        if (random.chance(0.04)) foreign();
      }
      wrongBy = 0;
    },
    /** A run reads the list: all that there is, as it stands now, now and then not all of it. */
    async list(complete = true): Promise<{ run: string }> {
      runs += 1;
      const run = `2026${String(runs).padStart(4, '0')}T000000Z`;
      await addRun(world.ledger, run, iso(now));
      for (const one of transfers)
        if (random.chance(0.2)) one.status = random.pick(['success', 'failed', 'pending']);
      const shown = complete ? transfers : transfers.filter(() => random.chance(0.7));
      for (const { payout, amount, ...one } of shown)
        await addListed(world.ledger, one.reference, {
          ...one,
          run_id: run,
          amount,
          amount_text: String(amount),
          payout_id: payout,
        });
      return { run };
    },
  };
}
