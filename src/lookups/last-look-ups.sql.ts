import { readDetail } from '../ledger/history.ts';
import type { Db, Trx } from '../storage/ledger.ts';
import type { Inquiry } from '../storage/tables/tables.ts';

/**
 * The last answered details look-up of a payout. `said`: the status it recorded, null when it was no witness.
 * `askedAt`: the earliest it can have been asked; empty if not recorded.
 */
export type LastLookUp = { askedAt: string; answeredAt: string; outcome: string; said: string | null };

/** The last answered details look-up of each payout, with what its answer added to the history. */
export async function lastLookUps(db: Db | Trx, ids: readonly bigint[]): Promise<Map<bigint, LastLookUp>> {
  const details = db.selectFrom('inquiries').where('kind', '=', 'details').where('payout_id', 'in', ids);
  const newest = details
    .select((eb) => eb.fn.max('id').as('id'))
    .where('asked_at', 'is not', null)
    .where('outcome', 'is not', null)
    .groupBy('payout_id');
  const inquiries = await db.selectFrom('inquiries').selectAll().where('id', 'in', newest).execute();
  const entries = await db
    .selectFrom('history')
    .select(['payout_id', 'seq', 'at', 'event', 'detail'])
    .where('payout_id', 'in', ids)
    .where('source', '=', 'details')
    .where('event', 'like', 'details says %')
    .orderBy('seq')
    .execute();
  const inquiryOf = new Map(inquiries.map((one) => [one.payout_id, one]));
  const entriesOf = Map.groupBy(entries, (entry) => entry.payout_id);
  return new Map(
    ids.flatMap((id) => {
      const last = lastLookUp(inquiryOf.get(id), entriesOf.get(id) ?? []);
      return last ? [[id, last] as const] : [];
    }),
  );
}

type Entry = { seq: bigint; at: string; event: string; detail: string };

function lastLookUp(inquiry: Inquiry | undefined, entries: readonly Entry[]): LastLookUp | null {
  const last = entries.at(-1);
  // Another process may have recorded it after the last answered question. Compare entries, not times: the clock may
  // step.
  if (last && last.seq > (inquiry?.history_seq ?? 0n)) {
    const { conflict } = readDetail(last.detail);
    const outcome = typeof conflict === 'string' ? `conflict: ${conflict}` : 'found';
    return { askedAt: inquiry?.asked_at ?? '', answeredAt: last.at, outcome, said: saidBy(last) };
  }
  if (!inquiry) return null;
  const { asked_at, answered_at, outcome } = inquiry;
  const entry = entries.findLast(({ at }) => at === answered_at);
  return {
    askedAt: asked_at ?? '',
    answeredAt: answered_at ?? asked_at ?? '',
    outcome: outcome ?? '',
    said: entry ? saidBy(entry) : null,
  };
}

function saidBy({ event }: Entry): string {
  return event.slice('details says '.length);
}
