import { hash } from 'node:crypto';
import { sql } from 'kysely';
import type { HistoryEvent } from '../domain/history-event.ts';
import type { PayoutState } from '../domain/payout.ts';
import { overRows } from '../storage/bound-rows.ts';
import { storable } from '../storage/bulk.ts';
import type { Db, Trx } from '../storage/ledger.ts';

export type HistoryEntry = {
  payoutId: bigint;
  seq: bigint;
  at: string;
  event: HistoryEvent;
  source: string;
  from: PayoutState | null;
  to: PayoutState;
  detail: Record<string, unknown>;
};

const columns = [
  'payout_id',
  'seq',
  'at',
  'event',
  'source',
  'from_state',
  'to_state',
  'detail',
  'hash',
] as const;

type Fields = Omit<HistoryEntry, 'detail' | 'payoutId'> & { detail: string };

/**
 * Returns the hash that links an entry to the one before it: SHA-256 over the JSON of the previous hash and every field
 * (P27).
 */
export function historyHash(previous: string, entry: Fields & { payoutId: bigint }): string {
  return historyHashes(entry)(previous, entry.payoutId);
}

/** The same for many entries that differ only in payout and previous hash. */
export function historyHashes(fields: Fields): (previous: string, payoutId: bigint) => string {
  const { seq, at, event, source, from, to, detail } = fields;
  const rest = JSON.stringify([seq.toString(), at, event, source, from, to, detail]).slice(1);
  return (previous, payoutId) => hash('sha256', `[${JSON.stringify(previous)},"${payoutId}",${rest}`, 'hex');
}

/** Builds the next entry of a payout's chain, whose hash the caller keeps as its head. */
export function chainEntry(
  previous: string,
  entry: HistoryEntry,
): Record<(typeof columns)[number], string | bigint | null> & { hash: string } {
  const detail = detailText(entry.detail);
  return {
    payout_id: entry.payoutId,
    seq: entry.seq,
    at: entry.at,
    event: entry.event,
    source: entry.source,
    from_state: entry.from,
    to_state: entry.to,
    detail,
    hash: historyHash(previous, { ...entry, detail }),
  };
}

/** Formats the detail with {@link storable} texts, so that history and payout hold the same text. */
function detailText(detail: Record<string, unknown>): string {
  const text = JSON.stringify(detail);
  if (!text.includes('\\u')) return text;
  return JSON.stringify(detail, (_key, value) => (typeof value === 'string' ? storable(value) : value));
}

/** Parses the detail of an entry. Returns {} where the text is no JSON object; its hash then reveals that. */
export function readDetail(text: string): Record<string, unknown> {
  try {
    const parsed: unknown = JSON.parse(text);
    return isObject(parsed) ? parsed : {};
  } catch {
    return {};
  }
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null;
}

const insertEntries = overRows(columns, 0, ({ rows, text, integer }) => {
  const values = columns.map((column) =>
    column === 'payout_id' || column === 'seq' ? integer(column) : text(column),
  );
  return sql`insert into history (${sql.join(columns.map((column) => sql.ref(column)))})
    select ${sql.join(values)} from ${rows} where ${text('hash')} is not null`;
});

export async function insertHistory(trx: Trx, entries: ReturnType<typeof chainEntry>[]): Promise<void> {
  await insertEntries(trx, [], entries);
}

/** Returns the id of the newest row, 0 before the first. It orders events by ids, since clocks may jump (P33). */
export async function newestId(
  db: Db | Trx,
  table: 'history' | 'payouts' | 'attempts' | 'webhooks' | 'events',
): Promise<bigint> {
  const row = await db
    .selectFrom(table)
    .select((eb) => eb.fn.max<bigint | null>('id').as('id'))
    .executeTakeFirst();
  return row?.id ?? 0n;
}

/** Returns the id of the newest entry, 0 before the first. */
export function newestHistory(db: Db | Trx): Promise<bigint> {
  return newestId(db, 'history');
}
