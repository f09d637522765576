import { stateAfter } from '../../books/discrepancies/discrepancy-decisions.sql.ts';
import { amountText, counted } from '../../core/domain/counted.ts';
import { dayOf } from '../../core/domain/pay-day.ts';
import type { HoldReason } from '../../core/ledger/hold-reasons.ts';
import type { Released } from '../../sending/released.ts';
import type { ApprovalOutcome, ApprovalWarnings } from '../../verbs/approve.ts';
import type { DecisionOutcome } from '../../verbs/decide-discrepancies.ts';
import type { HoldOutcome } from '../../verbs/hold.ts';
import type { HoldAllOutcome } from '../../verbs/hold-all.ts';
import type { ReleaseOutcome } from '../../verbs/release.ts';
import type { ReleaseAllOutcome } from '../../verbs/release-all.ts';
import { reasonText } from '../advice-text.ts';
import { haltCauseText } from '../halt-words.ts';
import { holdTexts, type ReaderSight, sightOfAll, stayTexts } from '../hold-words.ts';
import { upperFirst } from './obstacle-words.ts';

/** What was done, for the person who ordered it on a page. `undone`: it does not hold any more. */
export type ResultWords = { title: string; lines: string[]; undone?: true };

type BrakeOutcome = ApprovalOutcome | HoldOutcome | HoldAllOutcome | ReleaseOutcome | ReleaseAllOutcome;

/** What a brake no longer reaches. */
const goesOn = (sending: number): string =>
  sending === 0
    ? 'Nothing was being sent.'
    : `${counted(sending, 'payout')} ${sending === 1 ? 'was' : 'were'} being sent already, and ${sending === 1 ? 'goes' : 'go'} on.`;

/** What an approval, a hold or a release did. */
export function brakeWords(done: BrakeOutcome, sight = sightOfAll): ResultWords {
  switch (done.kind) {
    case 'approved':
    case 'already': {
      const { kind, batch, approval, released, others } = done;
      const title = `${batch} is ${kind === 'already' ? 'already approved' : 'approved'} by ${approval.by}`;
      if (released) return { title, lines: releasedLines(batch, { released, seen: [] }, sight) };
      const held = kind === 'already' ? [] : holdTexts(others, batch, sight);
      return { title, lines: held.map((text) => `Still held: ${text}.`) };
    }
    case 'held': {
      const { batch, moved, underWay, ended } = done;
      const lines = [goesOn(underWay.sending ?? 0)];
      if (!ended) return { title: `${batch}: ${counted(moved, 'payout')} held`, lines };
      lines.push('A release has ended this hold meanwhile. Hold the batch again if that is not right.');
      return { title: `${batch} is not held`, lines, undone: true };
    }
    case 'held_all':
      return { title: 'All sending is halted', lines: [goesOn(done.sending)] };
    case 'released': {
      const { batch, released, seen, unanswered, canary, halt } = done;
      const lines = releasedLines(batch, { released, seen }, sight);
      if (unanswered !== null)
        lines.push(`It goes on without the answer of the service to service.extras (${unanswered}).`);
      if (canary) lines.push(`Payouts that waited for their canary go on (${haltCauseText(canary.causes)}).`);
      if (halt) lines.push(stillHalted(halt));
      return { title: `${batch}: ${counted(released.moved, 'payout')} released`, lines };
    }
    case 'released_all': {
      const { lifted, halt } = done;
      return {
        title: lifted ? 'The halt is lifted' : halt ? 'Nothing was lifted' : 'Sending was not halted',
        lines: [
          ...(lifted ? [`It was: ${haltCauseText(lifted.causes)}.`] : []),
          ...(halt ? [stillHalted(halt)] : []),
        ],
      };
    }
  }
}

function stillHalted({ causes }: NonNullable<ReleaseOutcome['halt']>): string {
  return `Sending is still halted: ${haltCauseText(causes)}.`;
}

function releasedLines(
  id: string,
  { released, seen }: { released: Released; seen: readonly HoldReason[] },
  sight: ReaderSight,
): string[] {
  const { moved, kept, first, doubted, firstDoubted, stays } = released;
  return [
    ...(moved > 0
      ? [`${counted(moved, 'payout')} may go, with the next submit or on a later day of payment.`]
      : []),
    ...(kept > 0 ? [`${counted(kept, 'payout')} still held:`] : []),
    ...first.map((one) => `${one.reference}: ${reasonText(one)}`),
    ...(doubted > 0 ? [`${counted(doubted, 'payout')} unknown again, and not sent:`] : []),
    ...firstDoubted.map((one) => `${one.reference}: ${reasonText(one)}`),
    ...stayTexts(stays, { seen, batch: id }, sight).map((text) => `${upperFirst(text)}.`),
  ];
}

/** What an acknowledgement or a resolution of one discrepancy did. */
export function decisionWords({ verdict, ids, changed, already, outdated }: DecisionOutcome): ResultWords {
  const [only = ''] = ids;
  const what = ids.length === 1 ? `${only} is` : `${counted(ids.length, 'discrepancy', 'discrepancies')} are`;
  const lines = [
    ...(changed === ids.length && changed > 0 ? [] : [`${counted(changed, 'decision')} changed anything.`]),
    ...(outdated.length > 0
      ? [`Left as they are, since they changed after the page was shown: ${outdated.join(', ')}.`]
      : []),
    ...(already.length > 0 ? [`Closed before: ${already.map(({ id }) => id).join(', ')}.`] : []),
  ];
  return { title: `${what} ${stateAfter[verdict]}`, lines, ...(ids.length === 0 && { undone: true }) };
}

/** What a person should know before approving, as a command says it, and as a page does. */
export function approvalWarningTexts(
  { batch, others, alike, oddAccounts, waiting }: ApprovalWarnings,
  { zone, sight = sightOfAll }: { zone: string; sight?: ReaderSight },
): { command: string[]; page: string[] } {
  const held = holdTexts(others, batch, sight).map(
    (reason) => `it is held for another reason too: ${reason}`,
  );
  const like = alike.first.slice(0, 1).map((first) => {
    const rest = `the account, currency and amount of an earlier one, the first: row ${first.row} like ${first.earlierReference} in batch ${first.earlierBatch}`;
    return {
      command: `${counted(alike.count, 'payout')} of it with ${rest} of ${dayOf(first.earlierAt, zone)}`,
      page: `${counted(alike.count, 'payout')} with ${rest}`,
    };
  });
  const sums = Object.entries(waiting?.totals ?? {}).map(([currency, sum]) => amountText(currency, sum));
  const only = waiting
    ? [
        `only ${counted(waiting.rows, 'payout')}, ${sums.join(', ')}, waits for it: the others of the batch go without it`,
      ]
    : [];
  const { count, firstRow } = oddAccounts;
  const odd =
    count > 0
      ? [
          `${counted(count, 'account number')} with a check digit that does not agree with the bank code, the first in row ${firstRow}`,
        ]
      : [];
  return {
    command: [...only, ...held, ...like.map(({ command }) => command), ...odd],
    page: [...only, ...held.map(upperFirst), ...like.map(({ page }) => page), ...odd],
  };
}
