import type { Advice, AdvisedReason, SayAdvice } from '../../core/domain/advice.ts';
import type { CellProblem } from '../../core/domain/batch-rules.ts';
import { kindRules } from '../../core/domain/discrepancy-kinds.ts';
import { inquiryReasonText } from '../../core/domain/inquiry-reason.ts';
import { formatMinor } from '../../core/domain/money.ts';
import { hasComeToNothing } from '../../core/domain/payout.ts';
import type { RetryRow } from '../../core/domain/retry-file.ts';
import type { PersonsDecision } from '../../watching/evidence/evidence.sql.ts';
import type { Since } from '../../watching/evidence/sends.ts';
import { isConfirmedSince } from '../../watching/evidence/unconfirmed.ts';
import { evidenceDigest, type WeighedCase } from '../../watching/evidence/weigh.ts';

/** `advice`: how what is in the way may end; `fix`: what to do with the row. */
type Finding = AdvisedReason & { fix: Advice };

/** Returns what keeps a file from paying a payout again (P20); null when nothing does. `since` as for `judge`. */
export function obstacle(one: WeighedCase, since: Since): Finding | null {
  const { payout, batch, judgement, successor } = one;
  const { reference, state } = payout;
  if (successor !== null)
    return finding(`is already paid again as ${successor}`, { kind: 'row_paid_again', successor });
  if (judgement.kind === 'again')
    return finding('is unknown: it may have been paid', { kind: 'row_unknown', reference });
  if (judgement.kind === 'no') {
    const fix: Advice =
      hasComeToNothing(state) && payout.archived_seq === null
        ? { kind: 'row_unconfirmed', batch: batch.id, removable: state !== 'failed' }
        : { kind: 'row_not_payable' };
    return { why: `cannot be paid again now: ${judgement.why}`, advice: judgement.advice, fix };
  }
  // P20: it may have been paid in another way that the service does not know.
  if (one.notPaid !== null)
    return finding(
      `was settled as not paid by ${personOf(one.notPaid)} ("${one.notPaid.note}"): it may have been paid another way`,
      { kind: 'row_settled', reference },
    );
  if (one.asking !== null)
    return finding(
      `waits for a look-up that nobody has answered (${inquiryReasonText(one.asking)}): it may have been paid`,
      { kind: 'row_unanswered', reference },
    );
  // P20: intake looks a failed payout up first, as `retry` does. Where it cannot, an answer since then is enough.
  if (state === 'failed' && !isConfirmedSince(one, since))
    return finding(`failed, but nothing has confirmed that since ${since}`, {
      kind: 'row_unconfirmed',
      batch: batch.id,
      removable: false,
    });
  return null;
}

/** True while a discrepancy says that evidence about it conflicts: nobody is offered to pay it again. */
export function isInConflict({ discrepancies }: WeighedCase): boolean {
  return discrepancies.some(({ kind }) => kindRules[kind].againstEvidence);
}

function finding(why: string, fix: Advice): Finding {
  return { why, advice: null, fix };
}

function personOf({ source }: PersonsDecision): string {
  return source.replace(/^person:/, '');
}

/** Returns how a row differs from an order to pay this payout again: evidence, reference, currency, amount, account. */
export function differences(
  row: RetryRow,
  one: WeighedCase,
  { expected, advise }: { expected: string; advise: SayAdvice },
): CellProblem[] {
  const { payout, batch } = one;
  const { reference: of } = payout;
  const problems: CellProblem[] = [];
  const say = (column: string, value: string, problem: string, fix: string): void => {
    problems.push({ column, value, problem, fix });
  };
  if (row.evidence !== evidenceDigest([one])) {
    const problem =
      row.evidence === ''
        ? 'is empty: it says on what evidence the row pays again'
        : `is not the evidence about ${of} as it is now`;
    say('retry_evidence', row.evidence, problem, advise({ kind: 'row_outdated', batch: batch.id }));
  }
  if (row.reference !== expected)
    say(
      'reference',
      row.reference,
      `is not the reference under which ${of} is paid again`,
      `write ${expected}`,
    );
  const linkless = `remove retry_of and retry_evidence if it is a new payment (nothing then links it to ${of})`;
  if (row.currency !== payout.currency)
    say(
      'currency',
      row.currency,
      `is another currency than that of ${of}`,
      `write ${payout.currency}, or ${linkless}`,
    );
  else if (row.amount !== payout.amount) {
    const was = formatMinor(payout.amount, payout.currency);
    const is = formatMinor(row.amount, row.currency);
    say('amount', is, `is another amount than that of ${of}`, `write ${was}, or ${linkless}`);
  }
  for (const [column, is, was] of [
    ['account_number', row.accountNumber, payout.account_number],
    ['bank_code', row.bankCode, payout.bank_code],
  ] as const) {
    if (is !== was && is === was.replace(/^0+/, ''))
      say(
        column,
        is,
        'lacks the leading zeros that it had: a spreadsheet has dropped them',
        'format the column as text and write them again',
      );
  }
  return problems;
}
