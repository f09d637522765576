import { detailsSay } from '../domain/history-event.ts';
import type { WitnessStatus } from '../domain/payout.ts';
import { readDetail } from '../ledger/history.ts';
import type { Db, Trx } from '../storage/ledger.ts';
import type { Inquiry } from '../storage/tables/tables.ts';

/**
 * The last answered details look-up of a payout; `said` is the status it recorded, null when it was no witness. It was
 * asked no earlier than `askedAt`, which is empty when nobody wrote that down.
 */
export type LastLookUp = { askedAt: string; answeredAt: string; outcome: string; said: string | null };

/** The last answered details look-up of each payout, with what its answer made the history say. */
export async function lastLookUps(db: Db | Trx, ids: readonly bigint[]): Promise<Map<bigint, LastLookUp>> {
  const details = db.selectFrom('inquiries').where('kind', '=', 'details').where('payout_id', 'in', ids);
  const newest = details
    .select((eb) => eb.fn.max('id').as('id'))
    .where('asked_at', 'is not', null)
    .where('outcome', 'is not', null)
    .groupBy('payout_id');
  const asked = await db.selectFrom('inquiries').selectAll().where('id', 'in', newest).execute();
  const told = await db
    .selectFrom('history')
    .select(['payout_id', 'seq', 'at', 'event', 'detail'])
    .where('payout_id', 'in', ids)
    .where('source', '=', 'details')
    .where(
      'event',
      'in',
      detailsSay.map(([event]) => event),
    )
    .orderBy('seq')
    .execute();
  const askedOf = new Map(asked.map((one) => [one.payout_id, one]));
  const toldOf = Map.groupBy(told, (entry) => entry.payout_id);
  return new Map(
    ids.flatMap((id) => {
      const last = lastLookUp(askedOf.get(id), toldOf.get(id) ?? []);
      return last ? [[id, last] as const] : [];
    }),
  );
}

type Told = { seq: bigint; at: string; event: string; detail: string };

function lastLookUp(asked: Inquiry | undefined, told: readonly Told[]): LastLookUp | null {
  const last = told.at(-1);
  // Told by another process perhaps, after the last question was answered. Entries, not times: the clock may step.
  if (last && last.seq > (asked?.history_seq ?? 0n)) {
    const { conflict } = readDetail(last.detail);
    const outcome = typeof conflict === 'string' ? `conflict: ${conflict}` : 'found';
    return { askedAt: asked?.asked_at ?? '', answeredAt: last.at, outcome, said: saidBy(last) };
  }
  if (!asked) return null;
  const { asked_at, answered_at, outcome } = asked;
  const entry = told.findLast(({ at }) => at === answered_at);
  return {
    askedAt: asked_at ?? '',
    answeredAt: answered_at ?? asked_at ?? '',
    outcome: outcome ?? '',
    said: entry ? saidBy(entry) : null,
  };
}

function saidBy({ event }: Told): WitnessStatus | null {
  return detailsSay.find(([said]) => said === event)?.[1] ?? null;
}
