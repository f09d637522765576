import type { Contradiction } from '../domain/contradiction.ts';
import { type WitnessStatus, witnessStatuses } from '../domain/payout.ts';
import { contradictionIn } from '../ledger/contradiction-columns.ts';
import { readDetail } from '../ledger/history.ts';
import type { Db, Trx } from '../storage/ledger.ts';
import type { HistoryRow, Inquiry, LookUpOutcome } from '../storage/tables/tables.ts';

/**
 * The last answered details look-up of a payout; `said` is the status it recorded, null when it was no witness. It was
 * asked no earlier than `askedAt`, which is empty when nobody wrote that down.
 */
export type LastLookUp = {
  askedAt: string;
  answeredAt: string;
  outcome: LookUpOutcome;
  said: WitnessStatus | null;
  contradiction: Contradiction | null;
};

/** The last answered details look-up of each payout, with what its answer made the history say. */
export async function lastLookUps(db: Db | Trx, ids: readonly bigint[]): Promise<Map<bigint, LastLookUp>> {
  const details = db.selectFrom('inquiries').where('kind', '=', 'details').where('payout_id', 'in', ids);
  const newest = details
    .select((eb) => eb.fn.max('id').as('id'))
    .where('asked_at', 'is not', null)
    .where('outcome', 'is not', null)
    .groupBy('payout_id');
  const asked = await db.selectFrom('inquiries').selectAll().where('id', 'in', newest).execute();
  const superseded = await details.selectAll().where('outcome', '=', 'superseded').execute();
  const told = await db
    .selectFrom('history')
    .select(['payout_id', 'seq', 'at', 'event', 'from_state', 'detail'])
    .where('payout_id', 'in', ids)
    .where('event', 'in', [...saysOf.keys()])
    .orderBy('seq')
    .execute();
  const askedOf = new Map(asked.map((one) => [one.payout_id, one]));
  const supersededOf = Map.groupBy(superseded, (one) => one.payout_id);
  const toldOf = Map.groupBy(told, (entry) => entry.payout_id);
  return new Map(
    ids.flatMap((id) => {
      const own = supersededOf.get(id) ?? [];
      const last = lastLookUp(askedOf.get(id), toldOf.get(id) ?? [], own);
      return last ? [[id, last] as const] : [];
    }),
  );
}

/** The names of the history's entries in which the details gave a status. */
const saysOf = new Map(witnessStatuses.map((status) => [`details says ${status}`, status]));

type Told = Pick<HistoryRow, 'seq' | 'at' | 'event' | 'from_state' | 'detail'>;

function lastLookUp(
  asked: Inquiry | undefined,
  told: readonly Told[],
  superseded: readonly Inquiry[],
): LastLookUp | null {
  const last = told.at(-1);
  // Earlier versions closed every open question of what became final, that of the answer itself too, as superseded.
  const own =
    last && superseded.find(({ answered_at, due_at }) => answered_at === last.at && due_at <= last.at);
  if (last && isLater(last, asked, own !== undefined)) {
    const askedAt = own?.due_at ?? asked?.asked_at ?? '';
    return { askedAt, answeredAt: last.at, ...wordOf(last) };
  }
  if (!asked?.outcome) return null;
  const { asked_at, answered_at, outcome } = asked;
  const entry = told.findLast(({ at }) => at === answered_at);
  return {
    askedAt: asked_at ?? '',
    answeredAt: answered_at ?? asked_at ?? '',
    outcome,
    said: asked.said ?? (entry ? saidBy(entry) : null),
    contradiction: contradictionIn('details', outcome, asked),
  };
}

/** What an entry of the history says that the details said. */
function wordOf(entry: Told): Pick<LastLookUp, 'outcome' | 'said' | 'contradiction'> {
  const said = saidBy(entry);
  const { from_state: state } = entry;
  if (said === null || state === null || readDetail(entry.detail).conflict === undefined)
    return { outcome: 'found', said, contradiction: null };
  const kind = 'against_ledger';
  return { outcome: kind, said, contradiction: { kind, source: 'details', said, state } };
}

/**
 * Whether it was told after the last question was answered, by another process perhaps. The clock may have been set back:
 * a time tells only where an earlier version left nothing else (`superseded`: it did).
 */
function isLater(told: Told, asked: Inquiry | undefined, superseded: boolean): boolean {
  if (!asked?.answered_at) return true;
  if (asked.history_seq !== null) return told.seq > asked.history_seq;
  return superseded && told.at > asked.answered_at;
}

function saidBy({ event }: Told): WitnessStatus | null {
  return saysOf.get(event) ?? null;
}
