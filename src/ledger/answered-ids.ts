import { sql } from 'kysely';
import type { Witness } from '../domain/transition.ts';
import { idsIn, idsText } from '../storage/bulk.ts';
import type { Trx } from '../storage/ledger.ts';
import { prepared } from '../storage/prepared.ts';
import type { RecordEvent, Row } from './projection.ts';

/** How many payouts of one group are looked at to learn from: a nightly list of a million tells no more than a few. */
const mostLearnt = 20;
/** Beyond so many nothing new is learnt. */
const enough = 1000n;

type Told = { event: RecordEvent; witness: Witness; over: boolean };
type Answered = { payout_id: bigint; transfer_id: string };

const acceptances = prepared<Answered>(
  (_, slot) => sql`select a.payout_id, a.transfer_id from attempts a
    where a.payout_id in ${idsIn(slot(0))} and a.outcome = 'accepted' and a.transfer_id is not null`,
);

/**
 * The id that a payout was accepted under, by the event that says it is over and shows only other transfers of it: that one
 * may still settle (P17). Ids of answers and of lists may be different names of the same transfers; so this is said only
 * where the same source has shown more payouts under the ids of their answers than under others.
 */
export async function unshownIds(
  trx: Trx,
  events: readonly RecordEvent[],
  rows: ReadonlyMap<bigint, Row>,
): Promise<Map<RecordEvent, string>> {
  const told = events.flatMap((event) => toldBy(event, rows.get(event.payoutId)));
  const asked = [
    ...told.filter(({ over }) => over),
    ...told.filter(({ over }) => !over).slice(0, mostLearnt),
  ];
  if (asked.length === 0) return new Map();
  const answered = await acceptances(trx, [idsText(asked.map(({ event }) => event.payoutId))]);
  const answersOf = Map.groupBy(answered, ({ payout_id }) => payout_id);
  const counts = new Map<string, bigint>();
  const unshown = new Map<RecordEvent, string>();
  for (const { event, witness, over } of asked) {
    const own = answersOf.get(event.payoutId) ?? [];
    const shown = witness.shown ?? [witness.transferId];
    const missing = own.find(({ transfer_id }) => !shown.includes(transfer_id));
    const [first] = own;
    if (first && !(over && missing)) {
      const name = tallyOf(witness, missing === undefined);
      counts.set(name, (counts.get(name) ?? 0n) + 1n);
    }
    if (over && missing) unshown.set(event, missing.transfer_id);
  }
  await learn(trx, counts);
  const held = new Map<RecordEvent, string>();
  for (const { event, witness } of asked) {
    const one = unshown.get(event);
    if (one && (await areSame(trx, witness))) held.set(event, one);
  }
  return held;
}

/** What may teach something, or end a payout: a word that names a transfer of what was sent. */
function toldBy(event: RecordEvent, row: Row | undefined): Told[] {
  if (event.event.kind !== 'witness' || !row || row.attempt_count === 0n) return [];
  const { witness } = event.event;
  if (witness.source === 'webhook' || witness.transferId === null) return [];
  const over = witness.status === 'failed' || witness.status === 'returned';
  // Of several sends each shows what another answer named.
  const teaches = row.attempt_count === 1n && row.evidence.includes('response');
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
