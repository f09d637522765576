import { sql } from 'kysely';
import { formatMinor } from '../domain/money.ts';
import { type EventJson, eventShape } from '../shapes/event-shapes.ts';
import { idList } from '../storage/bulk.ts';
import type { Db, Trx } from '../storage/ledger.ts';
import type { HistoryRow, Payout } from '../storage/tables/tables.ts';
import {
  cursorOf,
  type EventPlace,
  eventId,
  eventPlaces,
  type Lost,
  newestPlace,
  placeOfCursor,
} from './event-places.ts';
import { readDetail } from './history.ts';

/** So many entries of history are read for one page, whatever they tell: the intake of a million payouts tells nothing. */
const entriesAPage = 5000n;

/**
 * Whether an entry of history tells something: the payout moved, or a retry made it. `batch.taken` tells the payouts of a
 * file.
 */
export function isToldEntry(alias: string): string {
  return `(${alias}.from_state <> ${alias}.to_state or (${alias}.from_state is null and ${alias}.detail like '%"body":"%'))`;
}

/**
 * A page of events. `next`: the cursor of the next page, null at the end. `reached`: where to read on later, after what
 * tells nothing too.
 */
export type EventPage = { kind: 'page'; events: EventJson[]; next: string | null; reached: string };
export type EventsRead = EventPage | { kind: 'lost'; why: Lost };

/** After which cursor (null: from the oldest kept), how many, and whether with bank details. */
export type EventRequest = { after: string | null; limit: number; details: boolean };

/**
 * Reads events in the order of their commits (P39): an entry of history whose payout moved, and the rows of `events`, each
 * after the newest entry of its time. History is read first: what is committed meanwhile is on the next page.
 */
export async function readEvents(db: Db | Trx, { after, limit, details }: EventRequest): Promise<EventsRead> {
  const places = await eventPlaces(db);
  const newest = await newestPlace(db);
  const from = placeOfCursor(places, newest, after);
  if (typeof from === 'string') return { kind: 'lost', why: from };
  const scan = await scanOf(db, from, places.end);
  const entries = await entriesOf(db, from, { through: scan.through, limit });
  const evidence = await evidenceBefore(db, entries);
  const found = await rowsOf(db, from, { end: places.end, limit });
  const rows = found.filter(({ after_history }) => after_history <= scan.through);
  const merged = [
    ...entries.map((row) => ({ at: row.id, order: 0, event: 0n, of: changeOf(row, { evidence, details }) })),
    ...rows.map((row) => ({ at: row.after_history, order: 1, event: row.id, of: toldOf(row) })),
  ].sort((a, b) => Number(a.at - b.at) || a.order - b.order || Number(a.event - b.event));
  let place = from;
  const events = merged.slice(0, limit).map(({ at, order, event, of }): EventJson => {
    place = { history: at > place.history ? at : place.history, event: order === 0 ? place.event : event };
    const id = order === 0 ? eventId(places, 'history', at) : eventId(places, 'event', event);
    return eventShape.parse({ id, cursor: cursorOf(places, place), ...of });
  });
  const isFull = merged.length >= limit;
  if (!isFull && scan.through > place.history) place = { ...place, history: scan.through };
  const reached = cursorOf(places, place);
  const goesOn = isFull || scan.goesOn || rows.length < found.length;
  return { kind: 'page', events, next: goesOn ? reached : null, reached };
}

/** The newest cursor: what is told from now on follows it. */
export async function newestCursor(db: Db | Trx): Promise<string> {
  const places = await eventPlaces(db);
  return cursorOf(places, places.end ?? (await newestPlace(db)));
}

/** The last entry of history that a page looks at, and whether more follow it. */
async function scanOf(
  db: Db | Trx,
  { history }: EventPlace,
  end: EventPlace | null,
): Promise<{ through: bigint; goesOn: boolean }> {
  const { rows } = await sql<{
    through: bigint | null;
    n: bigint;
  }>`select max(id) as through, count(*) as n from (
    select id from history where id > ${history} ${end ? sql`and id <= ${end.history}` : sql``}
    order by id limit ${sql.lit(entriesAPage)}) s`.execute(db);
  const [row] = rows;
  return { through: row?.through ?? history, goesOn: row?.n === entriesAPage };
}

type Entry = Pick<HistoryRow, 'id' | 'payout_id' | 'seq' | 'at' | 'from_state' | 'to_state' | 'detail'> &
  Pick<Payout, 'batch_id' | 'reference' | BankDetail | 'currency' | 'amount'>;
type BankDetail = 'account_number' | 'bank_code' | 'account_name';

async function entriesOf(
  db: Db | Trx,
  { history }: EventPlace,
  { through, limit }: { through: bigint; limit: number },
): Promise<Entry[]> {
  return db
    .selectFrom('history as h')
    .innerJoin('payouts as p', 'p.id', 'h.payout_id')
    .select(['h.id', 'h.payout_id', 'h.seq', 'h.at', 'h.from_state', 'h.to_state', 'h.detail'])
    .select(['p.batch_id', 'p.reference', 'p.currency', 'p.amount'])
    .select(['p.account_number', 'p.bank_code', 'p.account_name'])
    .where('h.id', '>', history)
    .where('h.id', '<=', through)
    .where(sql<boolean>`${sql.raw(isToldEntry('h'))}`)
    .orderBy('h.id')
    .limit(limit)
    .execute();
}

/** The evidence of payouts, by entry, where an entry does not change it: that of the last one before that does. */
async function evidenceBefore(db: Db | Trx, entries: readonly Entry[]): Promise<Map<bigint, unknown>> {
  const lacking = entries.filter(({ detail }) => readDetail(detail).evidence === undefined);
  if (lacking.length === 0) return new Map();
  const rows = await db
    .selectFrom('history')
    .select(['payout_id', 'seq', 'detail'])
    .where('payout_id', 'in', idList([...new Set(lacking.map(({ payout_id }) => payout_id))]))
    .where('detail', 'like', '%"evidence":%')
    .orderBy('payout_id')
    .orderBy('seq')
    .execute();
  const byPayout = Map.groupBy(rows, ({ payout_id }) => payout_id);
  return new Map(
    lacking.map(({ id, payout_id, seq }) => {
      const last = byPayout.get(payout_id)?.findLast((row) => row.seq < seq);
      const { evidence = '' } = readDetail(last?.detail ?? '');
      return [id, evidence];
    }),
  );
}

type Of = Omit<EventJson, 'id' | 'cursor' | 'data' | 'type'> & { type: EventJson['type']; data: unknown };

function changeOf(
  row: Entry,
  { evidence, details }: { evidence: Map<bigint, unknown>; details: boolean },
): Of {
  const { id, at, from_state: from, to_state: to, detail, batch_id: batch, reference } = row;
  const { account_number, bank_code, account_name, currency, amount } = row;
  const bank = { account_number, bank_code, account_name, currency, amount: formatMinor(amount, currency) };
  const own = evidence.get(id) ?? readDetail(detail).evidence;
  const data = { from, to, evidence: own, ...(details && bank) };
  return { type: 'payout.changed', at, batch, reference, data };
}

async function rowsOf(
  db: Db | Trx,
  { event }: EventPlace,
  { end, limit }: { end: EventPlace | null; limit: number },
) {
  const query = db.selectFrom('events').selectAll().where('id', '>', event);
  const told = end ? query.where('id', '<=', end.event) : query;
  return told.orderBy('id').limit(limit).execute();
}

function toldOf(row: Awaited<ReturnType<typeof rowsOf>>[number]): Of {
  const { type, at, batch_id: batch, reference, data } = row;
  return { type, at, batch, reference, data: JSON.parse(data) };
}
