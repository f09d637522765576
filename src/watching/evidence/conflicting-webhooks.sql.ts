import { type RawBuilder, sql } from 'kysely';
import { provingSources } from '../../core/domain/payout.ts';
import { contradicting } from '../../core/ledger/contradiction-columns.ts';
import { isSettledAs, restsOnAny } from '../../core/ledger/stored-sets.ts';
import { idList } from '../../core/storage/bulk.ts';
import type { Db } from '../../core/storage/ledger.ts';

/**
 * True for a webhook that came before what it contradicts (P18). It said that the one transfer of its payout failed, and
 * the details or the list show it as paid; or the other way round. Where more than one send may have been taken, the
 * webhook may be about another one.
 */
const contradictedLater = sql<boolean>`(webhooks.verdict = 'says'
  and ((webhooks.said = 'failed' and payouts.state = 'success')
    or (webhooks.said = 'success' and payouts.state = 'failed'))
  and (select count(*) from attempts a where a.payout_id = payouts.id and coalesce(a.outcome, '') <> 'not_sent')
    + payouts.unseen_sends <= 1
  and ${restsOnAny('payouts.evidence', provingSources)})`;

/** P32: a person closed the payout in its present state after the webhook was applied, so it is no later evidence. */
const knownWhenClosed = sql<boolean>`exists (select 1 from history h where h.payout_id = payouts.id
  and ${isSettledAs('payouts.state')} and h.at >= webhooks.applied_at)`;

/** True for a webhook that contradicted the ledger (P18), unless it was only the first to say what is known since. */
const contradicts = sql<boolean>`(webhooks.verdict in ${contradicting}
  and not (webhooks.verdict = 'against_ledger' and webhooks.said = coalesce(payouts.state, '')
    and webhooks.against in ('success', 'failed', 'returned'))
  and not (webhooks.said = 'failed' and coalesce(payouts.state, '') = 'returned'))`;

/** What a webhook says was said by the run's list or details too: one fact is one discrepancy. */
const alsoShown = (run: string): RawBuilder<boolean> => sql`exists (select 1 from discrepancies d
  where d.payout_id = payouts.id and d.kind = 'status_conflict' and d.last_run_id = ${run} and d.actual = webhooks.said)`;

/** Webhooks that contradict what is known, each with its payout where that is known, in the order of receipt. */
function conflicting(db: Db, run: string) {
  return db
    .selectFrom('webhooks')
    .leftJoin('payouts', 'payouts.id', 'webhooks.payout_id')
    .select([
      'webhooks.id',
      'webhooks.digest',
      'webhooks.verdict',
      'webhooks.said',
      'webhooks.against',
      'webhooks.differences',
      'webhooks.received_at',
      'webhooks.reference as told_reference',
      'webhooks.trx as told_trx',
      'payouts.id as payout_id',
      'payouts.batch_id',
      'payouts.reference',
      'payouts.transfer_id',
      'payouts.currency',
      'payouts.state',
    ])
    .where('webhooks.kind', '=', 'payout')
    .where((eb) =>
      eb.and([eb.or([contradicts, contradictedLater]), eb.not(knownWhenClosed), eb.not(alsoShown(run))]),
    )
    .orderBy('webhooks.id');
}

export type ConflictingWebhook = Awaited<ReturnType<ReturnType<typeof conflicting>['execute']>>[number];

/**
 * Yields all conflicting webhooks, `limit` at a time. Those of one payout come together and once: they are one
 * discrepancy. Each webhook of no payout comes by itself.
 */
export async function* conflictingWebhooks(
  db: Db,
  run: string,
  limit: number,
): AsyncGenerator<ConflictingWebhook[][]> {
  for (let after = 0n; ; ) {
    const some = await conflicting(db, run).where('webhooks.id', '>', after).limit(limit).execute();
    const last = some.at(-1);
    if (!last) return;
    after = last.id;
    const ids = some.flatMap(({ payout_id }) => payout_id ?? []);
    const all = await conflicting(db, run).where('webhooks.payout_id', 'in', idList(ids)).execute();
    const ofPayouts = [...Map.groupBy(all, ({ payout_id }) => payout_id).values()];
    const nobodys = some.filter(({ payout_id }) => payout_id === null);
    // A payout whose last webhook is on a later page comes with that page.
    const whole = ofPayouts.filter((own) => (own.at(-1)?.id ?? after) <= after);
    yield [...whole, ...nobodys.map((one) => [one])];
  }
}
