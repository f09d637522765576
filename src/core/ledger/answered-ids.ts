import { sql } from 'kysely';
import { restsOn } from '../domain/payout.ts';
import type { Witness } from '../domain/witness.ts';
import { idsIn, idsText } from '../storage/bulk.ts';
import type { Trx } from '../storage/ledger.ts';
import { prepared } from '../storage/prepared.ts';
import type { RecordEvent, Row } from './projection.ts';

/** How many payouts of one group are compared: a few teach as much as a nightly list of a million. */
const mostCompared = 20;
/** Counts stop growing here. */
const enough = 1000n;

type Sighting = { event: RecordEvent; witness: Witness; over: boolean };
type Acceptance = { payout_id: bigint; transfer_id: string };

const acceptances = prepared<Acceptance>(
  (_, slot) => sql`select a.payout_id, a.transfer_id from attempts a
    where a.payout_id in ${idsIn(slot(0))} and a.outcome = 'accepted' and a.transfer_id is not null`,
);

/**
 * Finds payouts that a witness calls failed or returned while it shows only other transfer ids. Returns, by
 * event, the id of the accepted transfer that it does not show, since that transfer may still settle (P17).
 * Answers and lists may name the same transfers by different ids. So an event counts only where its source
 * has mostly shown payouts under their answered ids.
 */
export async function unshownIds(
  trx: Trx,
  events: readonly RecordEvent[],
  rows: ReadonlyMap<bigint, Row>,
): Promise<Map<RecordEvent, string>> {
  const sightings = events.flatMap((event) => sightingOf(event, rows.get(event.payoutId)));
  const compared = [
    ...sightings.filter(({ over }) => over),
    ...sightings.filter(({ over }) => !over).slice(0, mostCompared),
  ];
  if (compared.length === 0) return new Map();
  const accepted = await acceptances(trx, [idsText(compared.map(({ event }) => event.payoutId))]);
  const acceptancesOf = Map.groupBy(accepted, ({ payout_id }) => payout_id);
  const counts = new Map<string, bigint>();
  const unshown = new Map<RecordEvent, string>();
  for (const { event, witness, over } of compared) {
    const own = acceptancesOf.get(event.payoutId) ?? [];
    const ids = witness.shown ?? [witness.transferId];
    const missing = own.find(({ transfer_id }) => !ids.includes(transfer_id));
    const [first] = own;
    if (first && !(over && missing)) {
      const name = tallyOf(witness, missing === undefined);
      counts.set(name, (counts.get(name) ?? 0n) + 1n);
    }
    if (over && missing) unshown.set(event, missing.transfer_id);
  }
  await learn(trx, counts);
  const held = new Map<RecordEvent, string>();
  for (const { event, witness } of compared) {
    const one = unshown.get(event);
    if (one && (await areSame(trx, witness))) held.set(event, one);
  }
  return held;
}

/** Returns details and lists with a transfer id that end a payout, or show how the source names transfers. */
function sightingOf(event: RecordEvent, row: Row | undefined): Sighting[] {
  if ((event.event.kind !== 'witness' && event.event.kind !== 'turned') || !row || row.attempt_count === 0n)
    return [];
  const { witness } = event.event;
  if (witness.source === 'webhook' || witness.transferId === null) return [];
  const over = witness.status === 'failed' || witness.status === 'returned';
  // After several sends a witness may show the id of another attempt.
  const teaches = row.attempt_count === 1n && restsOn(row.evidence, 'response');
  return over || teaches ? [{ event, witness, over }] : [];
}

function tallyOf({ source }: Witness, same: boolean): string {
  return `${source} ${same ? 'shows the answered id' : 'shows another id'}`;
}

async function learn(trx: Trx, counts: ReadonlyMap<string, bigint>): Promise<void> {
  for (const [name, n] of counts)
    await trx
      .insertInto('tallies')
      .values({ name, n })
      .onConflict((conflict) =>
        conflict
          .column('name')
          .doUpdateSet({ n: sql`tallies.n + excluded.n` })
          .where('tallies.n', '<', enough),
      )
      .execute();
}

async function areSame(trx: Trx, witness: Witness): Promise<boolean> {
  const names = [tallyOf(witness, true), tallyOf(witness, false)];
  const rows = await trx.selectFrom('tallies').select(['name', 'n']).where('name', 'in', names).execute();
  const [same = 0n, other = 0n] = names.map((name) => rows.find((row) => row.name === name)?.n);
  return same > other;
}
