import type { Account } from './book.ts';
import type { Inspector, Told } from './inspector.ts';
import type { Life } from './life.ts';
import type { Service } from './service.ts';
import type { Weather } from './weather.ts';
import type { World } from './world.ts';

/** What a look-up of a reference was answered: the status that the service has of it, or that it has none. */
type Said = { account: Account; life: string; at: number; status: string };

/** A reference that may have been paid already, and what the service may say of it when another POST is to follow. */
type Doubt = { reference: string; accounts: Account[]; allowed: readonly string[] };

/** An answer of the last two minutes, and what a process may take between its check and the bytes that leave. */
const longestMs = 120_000 + 10_000;
const notThere = 'not found';
const alive = ['success', 'pending'];

/**
 * P31, by a book of its own of who asked what where: what may have been paid already is asked about within two minutes
 * before it is paid again, by the process that sends, at the account that the earlier attempt went to.
 */
export type EvidenceWatch = {
  /** A process heard the answer to a look-up. */
  answered(life: Life, reference: string, status: string | null): void;
  noted(told: Told): void;
  /** The bytes of this attempt leave now. */
  leaving(life: Life, attempt: { id: number; payout_id: number }, reference: string): void;
  /** When the bytes of a reference last left, true time; null when they never did. */
  leftAt(reference: string): number | null;
  /** The accounts to which the ledger knows that the bytes of a reference left. */
  placesOf(reference: string): readonly Account[];
  /** The ledger went back: where it sent what it has forgotten, it cannot know (P25). */
  wentBack(): void;
  /** Counts what became of the orders that waited. */
  sumUp(): void;
};

export function createEvidenceWatch(deps: {
  world: World;
  weather: Weather;
  inspector: Inspector;
  service: Service;
}): EvidenceWatch {
  const { world, inspector, service } = deps;
  const answers = new Map<string, Said[]>();
  const departures = new Map<string, Account[]>();
  const lastLeft = new Map<string, number>();
  /** Orders to pay again, by the reference under which they go, and when each was given. */
  const orders = new Map<string, number>();

  function leaving(life: Life, attempt: { id: number; payout_id: number }, reference: string): void {
    const doubts = doubtsOf(attempt, reference, life);
    for (const doubt of doubts) judge(life, doubt, reference);
    const orderedAt = orders.get(reference);
    if (orderedAt !== undefined && doubts.length > 0) countWait(world.now() - orderedAt);
    if (turnedSince(reference, orderedAt))
      world.coverage.count('waiting: the service changed its mind while it waited');
    orders.delete(reference);
    lastLeft.set(reference, world.now());
    if (life.account !== 'home') world.coverage.count('account: sent to another account');
    departures.set(reference, [...(departures.get(reference) ?? []), life.account]);
  }

  function judge(life: Life, { reference: first, accounts, allowed }: Doubt, reference: string): void {
    const fail = (detail: string): void =>
      world.violate('P31: evidence is of the moment of sending', detail, reference);
    for (const account of accounts) {
      const shown = service.shownNow(account, first);
      const since = Math.max(shown?.shownFrom ?? 0, shown?.turnedAt ?? 0);
      if (shown && alive.includes(shown.record.status) && world.now() - since > longestMs)
        fail(`${first} is ${shown.record.status} at ${account} for ${world.now() - since} ms`);
      const said = answers.get(first)?.findLast((one) => one.life === life.name && one.account === account);
      const age = said ? life.clock.monotonic() - said.at : Number.POSITIVE_INFINITY;
      if (age > longestMs)
        fail(`${first} was asked about at ${account} ${said ? `${age} ms ago` : 'by nobody'}`);
      else if (said && !allowed.includes(said.status)) fail(`${first} is ${said.status} at ${account}`);
    }
  }

  function doubtsOf(
    { id, payout_id }: { id: number; payout_id: number },
    reference: string,
    life: Life,
  ): Doubt[] {
    const doubts: Doubt[] = [];
    const earlier = inspector.rows<{ n: number }>(
      "select count(*) as n from attempts where payout_id = ? and id <> ? and coalesce(outcome, '') <> 'not_sent'",
      payout_id,
      id,
    );
    const placesOf = (one: string): Account[] => {
      const left = departures.get(one) ?? [];
      return left.length > 0 ? [...new Set(left)] : [life.account];
    };
    if ((earlier[0]?.n ?? 0) > 0)
      doubts.push({ reference, accounts: placesOf(reference), allowed: [notThere, 'failed'] });
    const [first] = inspector.rows<{ reference: string }>(
      'select reference from payouts where id = (select successor_of from payouts where id = ?)',
      payout_id,
    );
    const allowed = [notThere, 'failed', 'reversed'];
    if (first) doubts.push({ reference: first.reference, accounts: placesOf(first.reference), allowed });
    return doubts;
  }

  function countWait(ms: number): void {
    if (ms > longestMs) world.coverage.count('waiting: sent more than two minutes after its order');
    if (ms > 86_400_000) world.coverage.count('waiting: sent more than a day after its order');
  }

  /** A transfer of it, or of what it follows, turned out to be paid since the order was given. */
  function turnedSince(reference: string, orderedAt: number | undefined): boolean {
    if (orderedAt === undefined) return false;
    const [first] = inspector.rows<{ reference: string }>(
      'select f.reference from payouts f join payouts p on p.successor_of = f.id where p.reference = ?',
      reference,
    );
    const entries = [reference, ...(first ? [first.reference] : [])].flatMap((one) =>
      service.book.entries(one),
    );
    return entries.some(({ turnedAt }) => turnedAt !== null && turnedAt > orderedAt);
  }

  return {
    answered(life, reference, status) {
      const { account } = life;
      const said = { account, life: life.name, at: life.clock.monotonic(), status: status ?? notThere };
      answers.set(reference, [...(answers.get(reference) ?? []), said]);
      const left = departures.get(reference) ?? [];
      if (left.length > 0 && left.every((one) => one !== account))
        world.coverage.count('account: asked another account about what went elsewhere');
    },
    noted({ event, reference, from_state, payout_id }) {
      const follows = (): boolean =>
        inspector.rows('select 1 from payouts where id = ? and successor_of is not null', payout_id).length >
        0;
      if (event === 'retry' || (from_state === null && follows())) orders.set(reference, world.now());
    },
    leaving,
    placesOf: (reference) => departures.get(reference) ?? [],
    leftAt: (reference) => lastLeft.get(reference) ?? null,
    wentBack() {
      const sql =
        'select count(*) as n from attempts a join payouts p on p.id = a.payout_id where p.reference = ?';
      for (const [reference, left] of departures)
        departures.set(reference, left.slice(0, inspector.rows<{ n: number }>(sql, reference)[0]?.n ?? 0));
    },
    sumUp() {
      for (const [reference, orderedAt] of orders) {
        if (!turnedSince(reference, orderedAt)) continue;
        world.coverage.count('waiting: the service changed its mind while it waited');
        world.coverage.count('waiting: its evidence changed, and it was not sent');
      }
    },
  };
}
