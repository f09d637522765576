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

const filter = z.strictObject({
  kind: z.enum(discrepancyKinds).exactOptional(),
  batch: z.string().exactOptional(),
  /** Only those first seen at this instant or before, ISO UTC. */
  seenBefore: z.string().exactOptional(),
});

/**
 * The named ones, or all that a filter finds. `shown`: the mark of what the person saw of each; with it, each must still
 * be that, and open to the decision.
 */
const resolution = z.strictObject({
  ids: z.array(z.string()).exactOptional(),
  filter: filter.exactOptional(),
  note: z.string(),
  shown: z.record(z.string(), z.string()).exactOptional(),
});
/** `files`: refused files by name, of which this ends what is known. */
const acknowledgement = resolution.extend({ files: z.array(z.string()).exactOptional() });

type Order = z.infer<typeof acknowledgement>;

/** `already`: those that were closed to the decision; `open`: what stays open, by kind. */
export type DecisionOutcome = {
  kind: 'decided';
  verdict: DiscrepancyDecision;
  ids: string[];
  changed: number;
  already: Discrepancy[];
  files: RejectedFile[];
  open: Record<string, number>;
};

/** Somebody works on it: it stays listed, and reopens when something else is found. */
export const acknowledgeVerb = verb({
  name: 'acknowledge',
  can: 'decide',
  touchesMoney: false,
  input: acknowledgement,
  run: (parts: Parts, order, person) => decideAll(parts, 'acknowledge', order, person),
});

/** It is dealt with, as the note says; it reopens when something else is found. */
export const resolveVerb = verb({
  name: 'resolve',
  can: 'decide',
  touchesMoney: false,
  input: resolution,
  run: (parts: Parts, order, person) => decideAll(parts, 'resolve', order, person),
});

/** What is wrong with the note of a decision; null for nothing. */
export function noteObstacle(verdict: DiscrepancyDecision, note: string): Obstacle | null {
  if (note.length > longestNote) return { kind: 'long_note', most: longestNote };
  return verdict === 'resolve' && note === '' ? { kind: 'no_note' } : null;
}

async function decideAll(
  { ledger, clock, config }: Parts,
  verdict: DiscrepancyDecision,
  order: Order,
  { name: person }: Person,
): Promise<DecisionOutcome | Refused> {
  const note = order.note.trim();
  const obstacle = noteObstacle(verdict, note);
  if (obstacle) return refusedFor(obstacle);
  const word = { verdict, note, person, at: clock.iso() };
  const done = await ledger.write((trx) => decideSome(trx, order, word, config));
  return done.kind === 'refused' ? done : { ...done, verdict, open: await countOpen(ledger.db) };
}

async function decideSome(
  trx: Trx,
  { filter: found, shown, ...order }: Order,
  word: Parameters<typeof decide>[2],
  { mode }: Parts['config'],
): Promise<Omit<DecisionOutcome, 'verdict' | 'open'> | Refused> {
  const { verdict, note, at, person: by } = word;
  const none = { kind: 'decided' as const, ids: [], already: [], files: [] };
  if (found) return { ...none, changed: await decide(trx, found, word) };
  const ids = [...new Set(order.ids ?? [])];
  const known = new Map((await findByIds(trx, ids)).map((one) => [one.id, one]));
  const wrong = ids.filter((id) => !known.has(id));
  const orFile = verdict === 'acknowledge';
  if (wrong.length > 0) return refusedFor({ kind: 'no_discrepancy', ids: wrong, mode, orFile });
  const already = [...known.values()].filter(({ state }) => !openTo[verdict].includes(state));
  if (shown) {
    const [closed] = already;
    if (closed) return refusedFor({ kind: 'closed', id: closed.id, state: closed.state });
    const changed = [...known.values()].find((one) => discrepancyMark(one) !== shown[one.id]);
    if (changed) return refusedFor({ kind: 'changed', id: changed.id });
  }
  const names = order.files ?? [];
  const rejected = names.length > 0 ? await openRejectedFiles(trx) : [];
  const files = [...new Set(names.flatMap((name) => rejectedNamed(rejected, name)))];
  const fileIds = files.map(({ id }) => id);
  await acknowledgeRejected(trx, fileIds, { at, by, note });
  return { ...none, ids, already, files, changed: ids.length === 0 ? 0 : await decide(trx, { ids }, word) };
}
