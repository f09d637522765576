import { z } from 'zod';
import { hasRow } from '../storage/counting.ts';
import type { Db, Trx } from '../storage/ledger.ts';
import { newestId } from './history.ts';
import { dropMeta, keepMeta, metaOf, metaOfKeys, setMeta } from './meta.ts';

/** How far a reader is: the last entry of history, and the last row of events. */
export type EventPlace = { history: bigint; event: bigint };

/** A copy of the ledger that went back in time, and was adopted, goes on after `history` and `event` with other events. */
const fork = z.strictObject({ mark: z.string(), history: z.coerce.bigint(), event: z.coerce.bigint() });
type Fork = z.infer<typeof fork>;

/**
 * Where the events of this ledger can be read. `forks`: its adoptions, the first one first. `floor`: what an archive took,
 * with all before it. `end`: nothing after it is told yet, since the ledger went back in time and is not adopted.
 */
export type EventPlaces = { forks: readonly Fork[]; floor: EventPlace; end: EventPlace | null };

/** In `meta`: `HISTORY.EVENT` of the last event that went into an archive. */
export const eventFloorKey = 'event_floor';
const keys = { forks: 'event_forks', floor: eventFloorKey, end: 'behind_events' };
const start: EventPlace = { history: 0n, event: 0n };

export async function eventPlaces(db: Db | Trx): Promise<EventPlaces> {
  const found = await metaOfKeys(db, [...Object.values(keys), 'behind']);
  const place = (key: string): EventPlace => readPlace(found.get(key) ?? '') ?? start;
  const forks = z.array(fork).parse(JSON.parse(found.get(keys.forks) ?? '[]'));
  return { forks, floor: place(keys.floor), end: found.has('behind') ? place(keys.end) : null };
}

export async function newestPlace(db: Db | Trx): Promise<EventPlace> {
  return { history: await newestId(db, 'history'), event: await newestId(db, 'events') };
}

/**
 * Keeps what this copy told before new events hide it, when a fall is noticed (P25). That may be before the ledger of an
 * earlier version is upgraded: then nothing was told yet.
 */
export async function noteLastTold(trx: Trx): Promise<void> {
  const tables = trx.selectFrom('kysely_migration').where('name', '=', '0003-doors');
  if (!(await hasRow(tables))) return;
  await keepMeta(trx, keys.end, placeText(await newestPlace(trx)));
}

/** From now on the events after the fall are told, under ids that the lost copy never used. `at`: of the adoption. */
export async function forkEvents(trx: Trx, at: string): Promise<void> {
  const { forks } = await eventPlaces(trx);
  // A copy that an older version found behind kept no place: then no earlier cursor is good.
  const last = readPlace((await metaOf(trx, keys.end)) ?? '') ?? start;
  const added = { mark: Date.parse(at).toString(36), ...last };
  const text = JSON.stringify([...forks, added], (_key, value) =>
    typeof value === 'bigint' ? value.toString() : value,
  );
  await setMeta(trx, keys.forks, text);
  await dropMeta(trx, [keys.end]);
}

function placeText({ history, event }: EventPlace): string {
  return `${history}.${event}`;
}

function readPlace(text: string): EventPlace | undefined {
  const [, history, event] = /^(\d{1,18})\.(\d{1,18})$/.exec(text) ?? [];
  return history === undefined || event === undefined
    ? undefined
    : { history: BigInt(history), event: BigInt(event) };
}

/** The cursor of a place, which also tells this ledger from copies that went on otherwise. */
export function cursorOf({ forks }: EventPlaces, place: EventPlace): string {
  const mark = forks.at(-1)?.mark;
  return mark === undefined ? placeText(place) : `${placeText(place)}.${mark}`;
}

/** The id of an event by its row. After an adoption a row has a number that the lost copy may have used too. */
export function eventId({ forks }: EventPlaces, of: keyof EventPlace, id: bigint): string {
  const mark = forks.findLast((one) => one[of] < id)?.mark;
  return `${of === 'history' ? 'h' : 'e'}${id}${mark === undefined ? '' : `.${mark}`}`;
}

/** Why nothing can be read after a cursor without skipping events. */
export type Lost =
  /** Some of them are in an archive. */
  | 'archived'
  /** It is of a copy of this ledger that went on otherwise: the ledger went back in time since. */
  | 'went_back'
  | 'unreadable';

/** The place of a cursor, the oldest kept without one. */
export function placeOfCursor(
  places: EventPlaces,
  newest: EventPlace,
  cursor: string | null,
): EventPlace | Lost {
  if (cursor === null) return places.floor;
  const [, text = '', mark] = /^(\d+\.\d+)(?:\.([0-9a-z]+))?$/.exec(cursor) ?? [];
  const place = readPlace(text);
  if (!place) return 'unreadable';
  const at = mark === undefined ? -1 : places.forks.findIndex((one) => one.mark === mark);
  if (mark !== undefined && at < 0) return 'went_back';
  const ends = [...places.forks.slice(at + 1), newest, ...(places.end ? [places.end] : [])];
  if (ends.some(({ history, event }) => place.history > history || place.event > event)) return 'went_back';
  return place.history < places.floor.history ? 'archived' : place;
}

/** Whether a receiver was not told all that happened up to an entry of history: an archive must not take it (P39). */
export async function areUndelivered(db: Db, through: bigint): Promise<boolean> {
  const rows = await db.selectFrom('event_outboxes').select('after_cursor').execute();
  return rows.some(({ after_cursor }) => BigInt(after_cursor.split('.')[0] ?? '0') < through);
}
