import { sql } from 'kysely';
import type { Advice, AdvisedReason } from '../../core/domain/advice.ts';
import { foldReference } from '../../core/domain/ids.ts';
import { readStatus } from '../../core/domain/witness.ts';
import { idsIn, idsText } from '../../core/storage/bulk.ts';
import type { Db, Trx } from '../../core/storage/ledger.ts';
import { prepared } from '../../core/storage/prepared.ts';
import { latestRunFirst, newestCompleteRun, unreplacedRuns } from '../listing/listings.sql.ts';
import { shownUnder } from '../listing/shown-under.sql.ts';
import { contradictedByDetails, contradictedByWebhook, isNamedByEarlierWebhook } from './doubts.sql.ts';

type Candidate = { id: bigint; reference: string; submitted_at: string | null };

type Shower = 'list' | 'details' | 'webhook';
/** Why a payout must not go out under its reference: which source shows a transfer there. */
type ShownAlready = { by: Shower } & AdvisedReason;

/**
 * Finds, of these payouts, those under whose reference the service shows a transfer that this ledger does not know (P15).
 * Such a payout that was never sent from here is neither sent nor cancelled. One that was sent before is not sent again
 * while that stands (P20).
 */
export async function shownAlready(
  trx: Db | Trx,
  payouts: readonly Candidate[],
  originId?: bigint,
): Promise<Map<bigint, ShownAlready>> {
  if (payouts.length === 0) return new Map();
  const shown = new Map<bigint, ShownAlready>();
  const doubts = await doubtful(trx, [idsText(payouts.map(({ id }) => id))]);
  const doubtOf = new Map(doubts.map(({ id, doubt }) => [id, doubt]));
  const listed = await listedAlready(trx, payouts, await heededRuns(trx, originId));
  for (const payout of payouts) {
    const run = listed.get(payout.id);
    const by = run === undefined ? doubtOf.get(payout.id) : 'list';
    if (by === undefined) continue;
    const why = run === undefined ? whyDoubtful(payout, by) : whyListed(payout, run);
    shown.set(payout.id, { by, why, advice: adviceOnShown(by, payout) });
  }
  return shown;
}

function whyListed({ reference, submitted_at }: Candidate, run: string): string {
  return submitted_at === null
    ? `the service already shows a transfer under ${reference} (run ${run}): sending it could pay twice`
    : `the service's list shows a transfer under ${reference} that has not failed (run ${run}): sending it again could pay twice`;
}

function whyDoubtful({ reference }: Candidate, by: Shower): string {
  const said = by === 'details' ? "the service's details say" : 'a webhook that no look-up has settled says';
  return `${said} that there is a transfer under ${reference} already: sending it could pay twice`;
}

/** The way out for a payout that this source shows. One that may have been taken is unknown again (P19, P20). */
export function adviceOnShown(
  by: Shower,
  { reference, submitted_at }: Pick<Candidate, 'reference' | 'submitted_at'>,
): Advice {
  if (submitted_at !== null) return { kind: 'decide_again', reference, relist: by === 'list' };
  return { kind: by === 'webhook' ? 'ask_then_release' : 'find_orderer', reference };
}

const doubtful = prepared<{ id: bigint; doubt: Shower }>(
  (_, slot) => sql`select p.id, case when ${contradictedByDetails} then 'details' else 'webhook' end as doubt
    from payouts p where p.id in ${idsIn(slot(0))}
      and (${contradictedByDetails} or ${contradictedByWebhook} or ${isNamedByEarlierWebhook})`,
);

const latestRuns = prepared<{ id: string }>((db) =>
  db.selectFrom('runs').select('id').orderBy(latestRunFirst).limit(sql.lit(4)),
);

/**
 * The runs whose listings count, the latest first; `since`: those no older than the newest complete one of this origin.
 * What a list showed counts until a complete one replaces it. The list of another account replaces none (P31). Without an
 * origin any complete one counts.
 */
export async function heededRuns(
  trx: Db | Trx,
  originId?: bigint,
): Promise<{ all: string[]; since: string[] }> {
  const latest = (await latestRuns(trx, [])).map(({ id }) => id);
  if (latest.length === 0) return { all: [], since: [] };
  // A complete run may be older than these: later runs may have got no list, or another account's.
  const own = await newestCompleteRun(trx, [], originId);
  const complete = own ?? (await newestCompleteRun(trx, []));
  const unreplaced = await unreplacedRuns(trx, complete?.id);
  const all = [...new Set([...latest, ...unreplaced, ...(complete ? [complete.id] : [])])];
  return { all, since: own ? all.slice(0, all.indexOf(own.id) + 1) : all };
}

/**
 * The payouts that the kept listings show under their references, each with the run. For a payout that was never sent, any
 * transfer counts. For others, one that has not failed counts, in a listing that no newer complete one has replaced.
 */
async function listedAlready(
  trx: Db | Trx,
  payouts: readonly Candidate[],
  runs: { all: string[]; since: string[] },
): Promise<Map<bigint, string>> {
  if (runs.all.length === 0) return new Map();
  const named = payouts.map(({ id, reference }) => ({ id, reference_key: foldReference(reference) }));
  const payoutOf = new Map(payouts.map((payout) => [foldReference(payout.reference), payout]));
  const rows = await shownUnder(trx, sql.join(runs.all), named);
  return new Map(
    rows.flatMap(({ run_id, reference_key, status }) => {
      const payout = payoutOf.get(reference_key);
      if (!payout) return [];
      const isHeeded =
        payout.submitted_at === null || (runs.since.includes(run_id) && readStatus(status) !== 'failed');
      return isHeeded ? [[payout.id, run_id] as const] : [];
    }),
  );
}
