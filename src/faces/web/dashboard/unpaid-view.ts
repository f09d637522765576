import type { UnpaidState, unpaidRows } from '../../../books/unpaid.sql.ts';
import { amountText } from '../../../core/domain/counted.ts';
import {
  type CountedState,
  cameToNothing,
  hasComeToNothing,
  type PayoutState,
} from '../../../core/domain/payout.ts';
import type { Finding } from '../../../findings/finding.ts';
import type { FindingKind } from '../../../findings/kinds.ts';
import { saidOf } from '../../../words/plain-words.ts';
import { newFileText } from '../../../words/state-words.ts';
import { type Html, html } from '../kit/html.ts';
import { separated } from '../kit/parts.ts';
import { wideTable } from '../kit/table.ts';
import { seesBank, type View } from './frame.ts';
import { countText, exactAmount, sentence, stateBadge, stateText, to, wholeAmount } from './parts.ts';
import { addressOf } from './query.ts';

export type UnpaidRows = Awaited<ReturnType<typeof unpaidRows>>;

/** So many of them stand on the page of a month. */
export const mostUnpaid = 50;

/** Who was not paid and why, without those who are paid again. */
export function unpaidPart(rows: UnpaidRows, view: View): Html {
  const sees = seesBank(view);
  const cells = rows.slice(0, mostUnpaid).map((one) => [
    to(['payouts', one.reference], one.reference),
    sees ? one.account_name : 'hidden',
    exactAmount(one.currency, one.amount),
    stateBadge(one.state),
    // What the service says may name an account.
    sees ? sentence(saidOf(one.state, one.message ?? ''), view) : 'hidden',
    to(['batches', one.batch_id], one.batch_id),
  ]);
  const columns = ['Reference', 'Payee', { number: 'Amount' }, 'State', 'What the service says', 'Batch'];
  const more =
    rows.length > mostUnpaid &&
    html`<p>These are the newest. The <a href="/batches">batches</a> say how many of theirs are unpaid.</p>`;
  return html`${wideTable('Not paid', columns, cells)}${more}`;
}

/** The list of payouts that count in a state: of a batch, or all. One that came to nothing may count as paid again. */
export function stateList(state: PayoutState, batch?: string): string {
  const of = batch === undefined ? {} : { batch };
  return addressOf('/payouts', { state, ...(hasComeToNothing(state) && { again: 'no' }), ...of });
}

/** A batch with what came to nothing in it and waits. Its page tells that from what a closed month counted. */
export function unpaidNeed(finding: Finding<'payout_unpaid'>): Html {
  const { subject, totals, facts } = finding;
  const counts = unpaidByState([finding]).map(
    ({ state, count }) => `${countText(count)} ${stateText(state)}`,
  );
  const sums = Object.entries(totals).map(([currency, sum]) => wholeAmount(amountText(currency, sum)));
  return html`${to(['batches', subject], subject)}: ${separated(counts, ', ')}, not paid again: ${separated(sums, ', ')}${facts.newFile && html`. ${newFileText}`}`;
}

export function unpaidTitle(findings: readonly Finding<FindingKind>[]): string {
  const counts = unpaidByState(findings).map(({ state, count }) => `${countText(count)} ${stateText(state)}`);
  return `Not paid, and not paid again: ${counts.join(', ')}`;
}

/** What the ledger counts as unpaid beyond the findings: a person has closed its month, or it is archived. */
export function unpaidElsewhere(
  payouts: readonly { state: CountedState; count: number }[],
  findings: readonly Finding<FindingKind>[],
): Html {
  const waiting = new Map(unpaidByState(findings).map(({ state, count }) => [state, count]));
  const closed = cameToNothing.flatMap((state) => {
    const all = payouts.reduce((sum, one) => (one.state === state ? sum + one.count : sum), 0);
    const more = all - (waiting.get(state) ?? 0);
    return more > 0 ? [`${countText(more)} ${stateText(state)}`] : [];
  });
  return html`${closed.length > 0 && html`<p class="soft">In <a href="/months">closed months</a> or archives, so that they wait for nobody: ${closed.join(', ')}.</p>`}`;
}

function unpaidByState(findings: readonly Finding<FindingKind>[]): { state: UnpaidState; count: number }[] {
  const all = findings.flatMap((one) => (isUnpaid(one) ? one.facts.states : []));
  return cameToNothing.flatMap((state) => {
    const count = all.reduce((sum, one) => (one.state === state ? sum + one.count : sum), 0);
    return count === 0 ? [] : [{ state, count }];
  });
}

export const isUnpaid = (finding: Finding<FindingKind>): finding is Finding<'payout_unpaid'> =>
  finding.kind === 'payout_unpaid';
