import { z } from 'zod';
import { countOpen } from '../books/discrepancies/discrepancies.sql.ts';
import {
  type DiscrepancyDecision,
  decide,
  discrepancyMark,
  findByIds,
  openTo,
} from '../books/discrepancies/discrepancy-decisions.sql.ts';
import { discrepancyKinds } from '../core/domain/discrepancy-kinds.ts';
import {
  acknowledgeRejected,
  openRejectedFiles,
  type RejectedFile,
  rejectedNamed,
} from '../core/ledger/rejected-files.ts';
import type { Clock } from '../core/runtime/clock.ts';
import type { Config } from '../core/settings/settings.ts';
import type { Ledger, Trx } from '../core/storage/ledger.ts';
import type { Discrepancy } from '../core/storage/tables/tables.ts';
import { type Obstacle, type Refused, refusedFor } from './obstacles.ts';
import { type Person, verb } from './verb.ts';

type Parts = { ledger: Ledger; clock: Pick<Clock, 'iso'>; config: Pick<Config, 'mode'> };

const longestNote = 2000;

/** An empty one would find everything. */
const filter = z
  .strictObject({
    kind: z.enum(discrepancyKinds).exactOptional(),
    batch: z.string().exactOptional(),
    /** Only those first seen at this instant or before, ISO UTC. */
    seenBefore: z.string().exactOptional(),
  })
  .refine((given) => Object.keys(given).length > 0, 'name a kind, a batch or an instant');

/**
 * The named ones, or all that a filter finds. `shown`: the mark of what the person saw of each; with it, each must still
 * be that, and open to the decision. `apart`: each is judged alone, and those that are not are left as they are.
 */
const resolution = z.strictObject({
  ids: z.array(z.string()).exactOptional(),
  filter: filter.exactOptional(),
  note: z.string(),
  shown: z.record(z.string(), z.string()).exactOptional(),
  apart: z.boolean().exactOptional(),
});
/** A filter beside names would make what was shown of them count for nothing. */
const isOneWay = ({ ids, shown, files, filter: found }: Partial<Order>): boolean =>
  found === undefined || (!ids?.length && !shown && !files?.length);
const oneWay = 'name them, or filter them: not both';
/** `files`: refused files by name, of which this ends what is known. */
const acknowledgement = resolution.extend({ files: z.array(z.string()).exactOptional() });
const verdictKind = z.enum(['acknowledge', 'resolve'] satisfies DiscrepancyDecision[]);

type Order = z.infer<typeof acknowledgement>;
type NamedOrder = Order & { verdict: DiscrepancyDecision };

/**
 * `already`: those that were closed to the decision. `outdated`: those that are no longer what was shown, left as they
 * are. `open`: what stays open, by kind.
 */
export type DecisionOutcome = {
  kind: 'decided';
  verdict: DiscrepancyDecision;
  ids: string[];
  changed: number;
  already: Discrepancy[];
  outdated: string[];
  files: RejectedFile[];
  open: Record<string, number>;
};

/** Somebody works on it: it stays listed, and reopens when something else is found. */
export const acknowledgeVerb = verb({
  name: 'acknowledge',
  can: 'decide',
  touchesMoney: false,
  input: acknowledgement.refine(isOneWay, oneWay),
  run: (parts: Parts, order, person) => decideOne(parts, { ...order, verdict: 'acknowledge' }, person),
});

/** It is dealt with, as the note says; it reopens when something else is found. */
export const resolveVerb = verb({
  name: 'resolve',
  can: 'decide',
  touchesMoney: false,
  input: resolution.refine(isOneWay, oneWay),
  run: (parts: Parts, order, person) => decideOne(parts, { ...order, verdict: 'resolve' }, person),
});

/** Many acknowledgements and resolutions in one transaction: all or none. */
export const decideVerb = verb({
  name: 'decide',
  can: 'decide',
  touchesMoney: false,
  input: z.strictObject({
    decisions: z.array(resolution.extend({ verdict: verdictKind }).refine(isOneWay, oneWay)),
  }),
  run: (parts: Parts, { decisions }, person) => decideAll(parts, decisions, person),
});

/** What is wrong with the note of a decision; null for nothing. */
export function noteObstacle(verdict: DiscrepancyDecision, note: string): Obstacle | null {
  if (note.length > longestNote) return { kind: 'long_note', most: longestNote };
  return verdict === 'resolve' && note === '' ? { kind: 'no_note' } : null;
}

async function decideOne(
  parts: Parts,
  order: NamedOrder,
  person: Person,
): Promise<DecisionOutcome | Refused> {
  const done = await decideAll(parts, [order], person);
  return done.kind === 'refused' ? done : { ...done, verdict: order.verdict };
}

async function decideAll(
  { ledger, clock, config }: Parts,
  orders: readonly NamedOrder[],
  { name: person }: Person,
): Promise<Omit<DecisionOutcome, 'verdict'> | Refused> {
  const noted = orders.map((order) => ({ ...order, note: order.note.trim() }));
  for (const { verdict, note } of noted) {
    const obstacle = noteObstacle(verdict, note);
    if (obstacle) return refusedFor(obstacle);
  }
  const done = await ledger.write(async (trx) => {
    const all: Judged[] = [];
    for (const order of noted) {
      const judged = await judge(trx, order, config);
      if (judged.kind === 'refused') return judged;
      all.push(judged);
    }
    let changed = 0;
    for (const one of all) changed += await carryOut(trx, one, { person, at: clock.iso() });
    return {
      kind: 'decided' as const,
      ids: all.flatMap(({ ids }) => ids),
      changed,
      already: all.flatMap(({ already }) => already),
      outdated: all.flatMap(({ outdated }) => outdated),
      files: all.flatMap(({ files }) => files),
    };
  });
  return done.kind === 'refused' ? done : { ...done, open: await countOpen(ledger.db) };
}

type Judged = { kind: 'may'; order: NamedOrder } & Pick<
  DecisionOutcome,
  'ids' | 'already' | 'outdated' | 'files'
>;

/** Whether the decision holds for what is in the ledger now. Writes nothing. */
async function judge(trx: Trx, order: NamedOrder, { mode }: Parts['config']): Promise<Judged | Refused> {
  const { verdict, shown } = order;
  if (order.filter) return { kind: 'may', order, ids: [], already: [], outdated: [], files: [] };
  const ids = [...new Set(order.ids ?? [])];
  const known = new Map((await findByIds(trx, ids)).map((one) => [one.id, one]));
  const already = [...known.values()].filter(({ state }) => !openTo[verdict].includes(state));
  const isShown = (id: string): boolean => {
    const one = known.get(id);
    return one !== undefined && discrepancyMark(one) === shown?.[id];
  };
  if (order.apart) {
    const closed = new Set(already.map(({ id }) => id));
    const still = ids.filter((id) => !closed.has(id));
    const outdated = still.filter((id) => !isShown(id));
    return { kind: 'may', order, ids: still.filter(isShown), already, outdated, files: [] };
  }
  const wrong = ids.filter((id) => !known.has(id));
  const orFile = verdict === 'acknowledge';
  if (wrong.length > 0) return refusedFor({ kind: 'no_discrepancy', ids: wrong, mode, orFile });
  if (shown) {
    const [closed] = already;
    if (closed) return refusedFor({ kind: 'closed', id: closed.id, state: closed.state });
    const changed = ids.find((id) => !isShown(id));
    if (changed !== undefined) return refusedFor({ kind: 'changed', id: changed });
  }
  const names = order.files ?? [];
  const rejected = names.length > 0 ? await openRejectedFiles(trx) : [];
  const files = [...new Set(names.flatMap((name) => rejectedNamed(rejected, name)))];
  return { kind: 'may', order, ids, already, outdated: [], files };
}

async function carryOut(
  trx: Trx,
  { order: { filter: found, verdict, note }, ids, files }: Judged,
  { person, at }: { person: string; at: string },
): Promise<number> {
  const fileIds = files.map(({ id }) => id);
  await acknowledgeRejected(trx, fileIds, { at, by: person, note });
  if (!found && ids.length === 0) return 0;
  return decide(trx, found ?? { ids }, { verdict, note, person, at });
}
