import { amountText, counted } from '../core/domain/counted.ts';
import { formatMinor } from '../core/domain/money.ts';
import { payDayText } from '../core/domain/pay-day.ts';
import { type Problem, wholeFile } from '../core/domain/problem.ts';
import type { HoldReason } from '../core/ledger/hold-reasons.ts';
import type { PayeeComparison } from '../core/ledger/payee-comparisons.ts';
import type { Clock } from '../core/runtime/clock.ts';
import type { Config } from '../core/settings/settings.ts';
import type { Ledger } from '../core/storage/ledger.ts';
import { approvalAsked, asksSecondPerson } from '../sending/approval.ts';
import { shownInstant } from '../sending/daily-limit.ts';
import { dailyUse } from '../sending/limits.sql.ts';
import { approvalHold, payeesAsked } from '../sending/payee-facts.ts';
import { type HandedIn, othersMayWrite, ownCopy } from './dropper.ts';
import { approvedOriginals, type PaysAgain } from './retries.ts';
import type { Scan } from './scan.ts';

type Taken = {
  totals: ReadonlyMap<string, bigint>;
  retries: readonly PaysAgain[];
  payees: PayeeComparison | null;
  dropper: string;
};

/** All that makes a batch need an approval, each with a hold of its own: not everybody may approve each of them. */
export function approvalHolds(
  { submission }: Config,
  { totals, retries, payees, dropper }: Taken,
): Extract<HoldReason, { kind: 'approval' }>[] {
  const causes = [
    approvalAsked(submission, totals),
    approvedOriginals(retries),
    payeesAsked(submission.payees, payees),
  ];
  return causes.flatMap((why) => (why === null ? [] : [approvalHold(why, dropper, submission.onChanged)]));
}

/** Returns why this file's batch would need an approval. */
export function approvalAhead(scan: Scan, config: Config, payees: PayeeComparison | null): HoldReason[] {
  const { good, retries } = scan;
  return approvalHolds(config, { totals: good.totals, retries, payees, dropper: '' });
}

/**
 * Refuses a file of the inbox that others may write, where a second person is asked for: one of them may have changed it,
 * and would then approve it as the second person.
 */
export function sharedFile(
  { file, retries }: Pick<Scan, 'file' | 'retries'>,
  { origin }: Pick<HandedIn, 'origin'>,
  { submission }: Config,
): Problem[] {
  if (origin !== 'inbox' || file === null || !othersMayWrite(file)) return [];
  if (!asksSecondPerson(submission) && approvedOriginals(retries) === null) return [];
  const mode = (file.mode & 0o777).toString(8).padStart(4, '0');
  const problem = `others than its owner may write it (mode ${mode}), so that nobody knows who prepared it, and a second person must approve it`;
  return [wholeFile(problem, ownCopy)];
}

/** A file with many days names the first of them. */
const mostDays = 12;

/** Returns why a part of this file's batch would wait without being held: its days, a daily limit or a canary. */
export async function waitsAhead(
  scan: Scan,
  { ledger, config, clock }: { ledger: Ledger; config: Config; clock: Clock },
): Promise<string[]> {
  const { submission: brakes } = config;
  const waits: string[] = [];
  const days = [...scan.later].toSorted(([a], [b]) => (a < b ? -1 : 1));
  for (const [day, { count, totals }] of days.slice(0, mostDays)) {
    const sums = [...totals].map(([currency, minor]) => amountText(currency, formatMinor(minor, currency)));
    waits.push(
      `pay_on: ${counted(count, 'payout')} (${sums.join(', ')}) ${count === 1 ? 'waits' : 'wait'} until ${payDayText(day)}`,
    );
  }
  if (days.length > mostDays) waits.push(`pay_on: and ${days.length - mostDays} later days`);
  if (brakes.canary > 0 && scan.good.count > brakes.canary)
    waits.push(
      `submission.canary: the first ${brakes.canary} payouts go first, the other ${scan.good.count - brakes.canary} when those have settled`,
    );
  if (Object.keys(brakes.dailyLimit).length === 0) return waits;
  const use = await dailyUse(ledger.db, { brakes, at: clock.iso() });
  for (const [currency, total] of scan.good.totals) {
    const left = use.left.get(currency);
    if (left === undefined || total <= left) continue;
    const inCurrency = (minor: bigint): string => amountText(currency, formatMinor(minor, currency));
    const until = shownInstant(use.endsAt, brakes.timezone);
    waits.push(
      `submission.daily_limit: of ${inCurrency(total)}, ${inCurrency(left)} is left today; what goes over it waits until ${until}`,
    );
  }
  return waits;
}
