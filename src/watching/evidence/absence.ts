import { rungsIn } from '../../core/domain/ladder.ts';

/** A look-up that the service answered with its own "not found", after the attempt ended. Instants are ISO UTC. */
export type NotFound = {
  askedAt: string;
  /** It was the ladder's own, asked when its rung was due (P19). */
  scheduled: boolean;
  /** The same key found a transfer known to be present before and after it. */
  probed: boolean;
  /** Our clock less the service's Date; null when the answer bore none. */
  clockOffMs: number | null;
};

/** How far this run's listing reached, and what it shows of the payout. */
export type ListedFacts = {
  full: boolean;
  complete: boolean;
  begunAt: string;
  cut: string;
  oldestCreatedAt: string | null;
  otherDomainSeen: boolean;
  /** Rows under the payout's reference or ids, whatever else they show. */
  rows: number;
  /** Rows that belong to no payout, with the same account and amount, created since the attempt began. */
  lookAlikes: number;
  /** The listing is of the account that the payout was sent from (P31). */
  sameAccount: boolean;
};

/** Everything that decides whether an unknown payout counts as never taken. */
export type AbsenceFacts = {
  state: string;
  /** Attempts whose bytes may have left: all but `not_sent`. */
  sends: number;
  /**
   * Entries in its history that sent it again, settled it, or adopted a ledger that went back in time (P16, P20, P25).
   */
  decisions: number;
  unseenSends: number;
  autoResends: number;
  attempt: { beganAt: string; endedAt: string; code: string | null } | null;
  notFound: readonly NotFound[];
  /** Look-ups since the attempt began that got another answer than not found; errors do not count. */
  otherAnswers: number;
  /** Webhooks that named it, whatever became of them, and those of no payout that bear its account and amount. */
  webhooks: number;
  quietPeriodMs: number;
  listing: ListedFacts;
};

/** `not_yet` covers `never` too: then a person decides. `why` names the evidence, or what is missing. */
export type Absence = { kind: 'absent'; why: string } | { kind: 'not_yet'; why: string };

const clockLimitMs = 60_000;
/** The service's "duplicate reference": on a first attempt a suspicion that it was taken (P15). */
const duplicateCode = '09';

/**
 * Decides whether a payout counts as never taken (P16). Absence alone proves nothing, so all of these facts are needed.
 * Every missing one is named. A person decides about a payout that was sent more than once, decided upon, adopted, or
 * named by any source.
 */
export function judgeAbsence(facts: AbsenceFacts): Absence {
  const why = personally(facts) ?? unlisted(facts) ?? unanswered(facts);
  if (why !== null) return { kind: 'not_yet', why };
  const good = counting(facts);
  const { begunAt } = facts.listing;
  return {
    kind: 'absent',
    why: `confirmed absent: not found by ${good.length} scheduled look-ups from ${good[0]?.askedAt} to ${good.at(-1)?.askedAt}, and a complete listing begun ${begunAt} lacks it`,
  };
}

/** Why only a person may ever decide; null where nothing says so. */
function personally(facts: AbsenceFacts): string | null {
  if (facts.state !== 'unknown') return `it is ${facts.state}, not unknown`;
  if (facts.autoResends > 0) return 'it was resent automatically before';
  if (facts.unseenSends > 0) return 'a lost copy of the ledger may have sent it';
  if (facts.decisions > 0) return 'a person decided about it, or its ledger was adopted';
  if (facts.attempt === null || facts.sends !== 1)
    return `it was sent ${facts.sends} times, not exactly once`;
  if (facts.attempt.code?.padStart(2, '0') === duplicateCode)
    return 'the service called its reference a duplicate';
  if (facts.webhooks > 0) return 'a webhook named it, or its account and amount';
  return facts.otherAnswers > 0 ? 'a look-up was answered with something other than not found' : null;
}

/** Why this run's listing does not count; null where it does. */
function unlisted({ listing, attempt, quietPeriodMs }: AbsenceFacts): string | null {
  const quietUntil = Date.parse(attempt?.endedAt ?? '') + quietPeriodMs;
  if (!listing.full || !listing.complete) return 'no complete listing of everything (reconcile --full)';
  if (listing.otherDomainSeen) return 'the listing shows another mode';
  if (listing.rows > 0) return 'it is listed';
  if (listing.lookAlikes > 0) return 'a transfer that nobody ordered has its account and amount';
  if (!listing.sameAccount)
    return 'it was sent with another key, or to another service, than those that were asked';
  if (!(Date.parse(listing.begunAt) > quietUntil && Date.parse(listing.cut) > quietUntil))
    return 'the listing began before the quiet period was over';
  const oldest = Date.parse(listing.oldestCreatedAt ?? '');
  return oldest <= Date.parse(attempt?.beganAt ?? '') ? null : 'the list does not reach back to its attempt';
}

/** Why the look-ups do not count: too few answers, no probe around them, or a clock that cannot be trusted. */
function unanswered(facts: AbsenceFacts): string | null {
  const wanted = rungsIn(facts.quietPeriodMs);
  const good = counting(facts);
  if (good.length < wanted)
    return `${good.length} of ${wanted} scheduled look-ups were answered not found, our clock within 60 s of the service's`;
  const probed = good.filter((answer) => answer.probed);
  return probed.length >= 2
    ? null
    : 'fewer than two of them stand between sights of a transfer known present';
}

function counting({ notFound, attempt }: AbsenceFacts): NotFound[] {
  return notFound.filter(
    ({ scheduled, clockOffMs, askedAt }) =>
      scheduled &&
      clockOffMs !== null &&
      Math.abs(clockOffMs) <= clockLimitMs &&
      attempt !== null &&
      askedAt >= attempt.endedAt,
  );
}
