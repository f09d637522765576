import { type Expression, type ExpressionBuilder, type RawBuilder, type SqlBool, sql } from 'kysely';
import { kindRules, kindsShownBy, kindsWhere, type ShownBy } from '../../core/domain/discrepancy-kinds.ts';
import { field, idList, rowsOf, textsOf } from '../../core/storage/bulk.ts';
import type { Ledger, Trx } from '../../core/storage/ledger.ts';
import type { Discrepancy, Tables } from '../../core/storage/tables/tables.ts';
import type { SeenBy } from './discrepancies.sql.ts';
import { addEvents } from './discrepancy-events.sql.ts';

/**
 * What a run could have seen: only that can close a discrepancy by its absence. `complete`: the listing is proven
 * complete and of our account. `oldest`: its oldest row, ISO UTC; what is older may have been pruned from the list (P28),
 * and null reaches nothing. `answered`: payouts that a look-up of this run found. `judgedSince`: payouts first sent before
 * it were not judged, though some of their transfers are listed (P29); empty: all were judged. `receives`: webhooks are
 * expected. `foreign`: the origins of other accounts; absence from this list says nothing of what their lists showed (P31).
 */
export type Sight = {
  complete: boolean;
  oldest: string | null;
  answered: readonly bigint[];
  judgedSince: string;
  receives: boolean;
  foreign: readonly bigint[];
};

/** How many are closed in one transaction, so that other writers get their turn. */
const step = 2_000;

/**
 * Closes what this run could have seen and did not, each with what it saw instead. Returns how many were not resolved
 * before. It also closes what a person had resolved, so that it opens again if it comes back. If it is interrupted, the
 * next run closes the rest.
 */
export async function closeHealed(ledger: Ledger, by: SeenBy, sight: Sight): Promise<number> {
  for (let closed = 0; ; ) {
    const { n, ended } = await ledger.write((trx) => closeSome(trx, by, sight));
    closed += ended;
    if (n < step) return closed;
  }
}

/** The state of a collection and what the verify endpoint last said; null for discrepancies about payouts. */
const collectionNow = sql<string | null>`case when discrepancies.kind in (${sql.join(
  kindsShownBy('collections'),
)}) then (select c.state || ', verify asked ' || coalesce(c.answered_at, 'never') || ': ' || coalesce(c.answer, 'no answer')
    from collections c where c.reference_key = lower(discrepancies.reference)) end`;

async function closeSome(trx: Trx, by: SeenBy, sight: Sight): Promise<{ n: number; ended: number }> {
  const rows = await trx
    .selectFrom('discrepancies')
    .leftJoin('payouts', 'payouts.id', 'discrepancies.payout_id')
    .select([
      'discrepancies.id',
      'discrepancies.kind',
      'discrepancies.payout_id',
      'discrepancies.transfer_id',
      'discrepancies.state',
      'discrepancies.note',
      'payouts.state as standing',
      'payouts.evidence as standing_by',
      collectionNow.as('collection'),
    ])
    .where((eb) => standing(eb, sight))
    .where('discrepancies.last_run_id', '<>', by.run)
    .where((eb) => healed(eb, by, sight))
    .limit(step)
    .execute();
  if (rows.length === 0) return { n: 0, ended: 0 };
  const shown = await shownOf(trx, by.run, rows);
  const answered = new Set(sight.answered);
  const closed = rows.map((row) => {
    const word = row.payout_id !== null && answered.has(row.payout_id) ? ['its look-up found it'] : [];
    const stands =
      row.standing === null ? [] : [`ledger: ${row.standing} by ${row.standing_by || 'nothing'}`];
    const arrived = row.collection === null ? [] : [`collection: ${row.collection}`];
    const unexpected = kindRules[row.kind].shownBy === 'no_webhook' && !sight.receives;
    const note = unexpected
      ? `closed by run ${by.run}: no webhook is expected any more (receiver.enabled: false)`
      : [`closed by evidence of run ${by.run}`, ...shown(row), ...word, ...stands, ...arrived].join('; ');
    // A person's note stays beside what closed it.
    const kept = row.state !== 'open' && row.note !== '' ? `${row.note}; ${note}` : note;
    return { id: row.id, at: by.at, event: 'closed' as const, source: `run ${by.run}`, note, kept };
  });
  await sql`update discrepancies set state = 'resolved', resolved_by = 'evidence', resolved_at = ${by.at},
    note = ${field('kept')} from ${rowsOf(closed)} as row where discrepancies.id = ${field('id')}`.execute(
    trx,
  );
  await addEvents(trx, closed);
  return { n: rows.length, ended: rows.filter(({ state }) => state !== 'resolved').length };
}

/**
 * Not resolved yet, or resolved only by a person. A person's decision stays where the reason to close is only that no
 * webhook is expected any more.
 */
function standing(eb: ExpressionBuilder<Tables, 'discrepancies'>, { receives }: Sight): Expression<SqlBool> {
  const byPerson = eb('discrepancies.resolved_by', '=', 'person');
  return eb.or([
    eb('discrepancies.state', '<>', 'resolved'),
    receives ? byPerson : eb.and([byPerson, eb('discrepancies.kind', 'not in', kindsShownBy('no_webhook'))]),
  ]);
}

function healed(
  eb: ExpressionBuilder<Tables, 'discrepancies'>,
  by: SeenBy,
  sight: Sight,
): Expression<SqlBool> {
  const judged = (payout: RawBuilder<unknown>): RawBuilder<boolean> =>
    sql`not exists (select 1 from payouts p where p.id = ${payout} and p.submitted_at < ${sight.judgedSince})`;
  // The very transfer that was wrong is paired again: another of the payout's rows says nothing of it. A stranger's is
  // about no payout, and judged with the one it was paired with.
  const seenAgain = sql<boolean>`((
      exists (select 1 from listed l where l.run_id = ${by.run} and l.transfer_id = discrepancies.transfer_id
        and l.payout_id is not null and ${judged(sql`l.payout_id`)})
      or (discrepancies.transfer_id is null and exists (
        select 1 from listed l where l.run_id = ${by.run} and l.payout_id = discrepancies.payout_id)))
    and ${judged(sql`discrepancies.payout_id`)})`;
  const pairedNow = sql<boolean>`(
    exists (select 1 from listed l where l.run_id = ${by.run} and l.payout_id = discrepancies.payout_id)
    or exists (select 1 from listed l where l.run_id = ${by.run} and l.transfer_id = discrepancies.transfer_id
      and l.payout_id is not null))`;
  // Silence closes nothing: only a look-up of this run that found the transfer does.
  const answered = sql<boolean>`discrepancies.payout_id in ${idList(sight.answered)}`;
  const inReach = sql<boolean>`coalesce(discrepancies.shown_at,
    (select p.submitted_at from payouts p where p.id = discrepancies.payout_id), discrepancies.first_seen_at)
    >= ${sight.oldest ?? '9'}`;
  const ofThisAccount = sql<boolean>`not exists (select 1 from runs r where r.id = discrepancies.last_run_id
    and r.origin_id in ${idList(sight.foreign)})`;
  const wholly = eb.and([eb.lit(sight.complete), inReach, ofThisAccount]);
  const always = eb.lit(true);
  // What shows a kind also shows that it is gone. Each way is here, so that no kind stays open for ever.
  const closes: Record<ShownBy, Expression<SqlBool>> = {
    ledger: always,
    collections: always,
    no_webhook: always,
    no_transfer: eb.or([answered, pairedNow]),
    transfer: eb.or([wholly, seenAgain]),
    foreign_transfer: eb.or([wholly, seenAgain]),
    transfer_count: wholly,
  };
  return eb.or(
    Object.entries(closes).map(([way, hasSeen]) => {
      const kinds = kindsWhere(({ shownBy }) => shownBy === way);
      return eb.and([eb('discrepancies.kind', 'in', kinds), hasSeen]);
    }),
  );
}

type Healed = Pick<Discrepancy, 'kind' | 'payout_id' | 'transfer_id'>;

/** What the run saw of each, in words. */
async function shownOf(trx: Trx, run: string, rows: readonly Healed[]): Promise<(row: Healed) => string[]> {
  const payoutIds = rows.flatMap(({ payout_id }) => payout_id ?? []);
  const transferIds = rows.flatMap(({ payout_id, transfer_id }) => (payout_id === null && transfer_id) || []);
  const paired = await shownRows(trx, run, ofPayouts(run, payoutIds));
  const others = await shownRows(trx, run, textsOf(transferIds));
  const heard = await trx
    .selectFrom('webhooks')
    .select((eb) => ['payout_id', eb.fn.min('received_at').as('at')])
    .where('payout_id', 'in', idList(payoutIds))
    .groupBy('payout_id')
    .execute();
  const byPayout = new Map(paired.map((row) => [row.payout_id, row]));
  const byTransfer = new Map(others.map((row) => [row.transfer_id, row]));
  const heardAt = new Map(heard.map((row) => [row.payout_id, row.at]));
  return ({ kind, payout_id, transfer_id }) => {
    const row = payout_id === null ? byTransfer.get(transfer_id ?? '') : byPayout.get(payout_id);
    const { shownBy } = kindRules[kind];
    const webhook = shownBy === 'no_webhook' && payout_id !== null ? heardAt.get(payout_id) : undefined;
    if (webhook !== undefined) return [`a webhook was heard at ${webhook}`];
    if (row)
      return [`listed as transfer ${row.transfer_id}, ${row.status} ${row.amount_text} ${row.currency}`];
    return shownBy === 'foreign_transfer' ? ['its list, proven whole, no longer shows it'] : [];
  };
}

/** By what an index holds of them, since SQLite would read the whole run otherwise. */
function ofPayouts(run: string, ids: readonly bigint[]): RawBuilder<string> {
  return sql`(select transfer_id from listed where run_id = ${run} and payout_id in ${idList(ids)})`;
}

/** The last of a payout's rows is the first by its transfer's id. */
function shownRows(trx: Trx, run: string, transferIds: RawBuilder<string>) {
  return trx
    .selectFrom('listed')
    .select(['payout_id', 'transfer_id', 'status', 'amount_text', 'currency'])
    .where('run_id', '=', run)
    .where('transfer_id', 'in', transferIds)
    .orderBy('transfer_id', 'desc')
    .execute();
}
