import { brokenBy, falseOf } from './invariants.ts';
import {
  type Act,
  applied,
  beginnings,
  type Payout,
  possible,
  unheard,
  type Worlds,
} from './payout-model.ts';

/** What a search came to. `sequences`: the ways of `depth` events each. `closedAt`: no longer way reaches a new state. */
export type Searched = {
  states: number;
  steps: number;
  sequences: bigint;
  closedAt: number | null;
  fault: { rule: string; way: string[] } | null;
};

type Seen = { now: Payout; from: Seen | null; by: string };

/**
 * Walks through every state that the payout can reach, by breadth first: each order of events, each of them lost or
 * repeated. Every step is held against the rules. `depth`: how many events at most; the service's own doings cost none.
 */
export function search(worlds: Worlds, depth: number): Searched {
  const seen = new Map<string, Seen>();
  let layer = new Map<Seen, bigint>();
  const result: Searched = { states: 0, steps: 0, sequences: 0n, closedAt: null, fault: null };

  /** The state and all that it may become unheard of. */
  function enter(from: Seen | null, now: Payout, by: string): Seen[] {
    const known = seen.get(keyOf(now));
    const one = known ?? { now, from, by };
    if (!known) {
      seen.set(keyOf(now), one);
      const rule = worlds.kind === 'honest' ? falseOf(now) : null;
      if (rule) result.fault ??= { rule, way: wayTo(one) };
    }
    return [one, ...unheardOf(one)];
  }

  const later = new Map<Seen, Seen[]>();
  function unheardOf(one: Seen): Seen[] {
    if (worlds.kind === 'lying') return [];
    const known = later.get(one);
    if (known) return known;
    const all = unheard(one.now).flatMap((now) =>
      enter(one, now, `(${now.sent.map(({ truth }) => truth).join(', ')})`),
    );
    const own = [...new Set(all)];
    later.set(one, own);
    return own;
  }

  const reached = new Map<Seen, Seen[][]>();
  function stepsFrom(one: Seen): Seen[][] {
    const known = reached.get(one);
    if (known) return known;
    const next = possible(one.now, worlds).flatMap((act) => {
      const done = applied(one.now, act, worlds.forgetful);
      if (!done) return [];
      result.steps += 1;
      const rule = brokenBy({ before: one.now, act, ...done }, worlds);
      if (rule) result.fault ??= { rule, way: [...wayTo(one), nameOf(act), `${done.after.state}`] };
      return [enter(one, ordered(done.after), nameOf(act))];
    });
    reached.set(one, next);
    return next;
  }

  for (const now of beginnings(worlds))
    for (const one of enter(null, now, `sent ${now.sent.length} times`)) layer.set(one, 1n);
  for (let events = 0; events < depth && result.fault === null; events++) {
    const before = seen.size;
    const next = new Map<Seen, bigint>();
    for (const [one, ways] of layer)
      for (const each of stepsFrom(one)) for (const to of each) next.set(to, (next.get(to) ?? 0n) + ways);
    layer = next;
    if (seen.size === before) {
      result.closedAt = events;
      break;
    }
  }
  result.states = seen.size;
  result.sequences = [...layer.values()].reduce((sum, ways) => sum + ways, 0n);
  return result;
}

/** Attempts stand in no order: a payout has one form. */
function ordered(now: Payout): Payout {
  return { ...now, sent: now.sent.toSorted((a, b) => (formOf(a) < formOf(b) ? -1 : 1)) };
}

const formOf = ({ outcome, truth }: Payout['sent'][number]): string => `${outcome} ${truth}`;

function keyOf({ state, evidence, left, unseen, ordered: order, sent }: Payout): string {
  return `${state} ${evidence} ${left} ${unseen} ${order} ${sent.map(formOf).join(',')}`;
}

function nameOf({ event, unshown }: Act): string {
  const more =
    event.kind === 'witness' || event.kind === 'turned'
      ? `${event.witness.source} ${event.witness.status} ${event.witness.transfers ?? ''}`
      : event.kind === 'outcome'
        ? event.outcome.kind
        : event.kind === 'settle'
          ? event.as
          : '';
  return `${event.kind} ${more}${unshown === undefined ? '' : ', not the accepted one'}`.trim();
}

function wayTo(one: Seen): string[] {
  return [...(one.from ? wayTo(one.from) : []), `${one.by} -> ${one.now.state}`];
}
