import { inquiryReasonText } from '../core/domain/inquiry-reason.ts';
import type { RowFault } from '../sending/decisions/retry-findings.ts';
import { reasonText } from './advice-text.ts';

/** Says why a row does not pay a payout again, and what to do with the row. */
export function rowFaultText(fault: RowFault): { problem: string; fix: string } {
  switch (fault.kind) {
    case 'barrier':
      return { problem: reasonText(fault.reason), fix: 'drop the file after that' };
    case 'no_payout':
      return {
        problem: `is no payout of this ledger (mode ${fault.mode})`,
        fix: 'copy retry_of from the failed.csv that Counterfoil wrote; it is empty for a new payment',
      };
    case 'paid_again':
      return {
        problem: `is already ordered again as ${fault.successor}`,
        fix: `remove the row; counterfoil show ${fault.successor} shows its state`,
      };
    case 'unknown':
      return {
        problem: 'is unknown: it may have been paid',
        fix: `remove the row; counterfoil retry ${fault.of} shows what is known and sends it again under its own reference`,
      };
    case 'not_now': {
      const { why, advice } = fault.reason;
      const problem = reasonText({ why: `cannot be paid again now: ${why}`, advice });
      const removal = 'remove the row';
      if (fault.confirm === null) return { problem, fix: removal };
      const { batch, removable } = fault.confirm;
      return { problem, fix: removable ? `${removal}, or ${renewal(batch)}` : renewal(batch) };
    }
    case 'settled':
      return {
        problem: `was settled as not paid by ${fault.by} ("${fault.note}"): it may have been paid another way`,
        fix: `remove the row; if it was not, counterfoil retry ${fault.of} shows what is known and pays it again`,
      };
    case 'unanswered':
      return {
        problem: `waits for a look-up that nobody has answered (${inquiryReasonText(fault.asking)}): it may have been paid`,
        fix: `counterfoil retry ${fault.of} asks the service; then drop the file again. If it never answers, remove the row`,
      };
    case 'unconfirmed':
      return {
        problem: `failed, but nothing has confirmed that since ${fault.since}`,
        fix: renewal(fault.batch),
      };
    case 'no_evidence':
      return {
        problem: 'is empty: it says on what evidence the row pays again',
        fix: newFile(fault.batch),
      };
    case 'outdated':
      return {
        problem: `is not the evidence about ${fault.of} as it is now`,
        fix: newFile(fault.batch),
      };
    case 'reference':
      return {
        problem: `is not the reference under which ${fault.of} is paid again`,
        fix: `write ${fault.expected}`,
      };
    case 'currency':
      return {
        problem: `is another currency than that of ${fault.of}`,
        fix: `write ${fault.currency}, or ${linkless(fault.of)}`,
      };
    case 'amount':
      return {
        problem: `is another amount than that of ${fault.of}`,
        fix: `write ${fault.amount}, or ${linkless(fault.of)}`,
      };
    case 'zeros_dropped':
      return {
        problem: 'lacks the leading zeros that it had: a spreadsheet has dropped them',
        fix: 'format the column as text and write them again',
      };
  }
}

const renewal = (batch: string): string =>
  `run counterfoil reconcile --full, then drop the file again, or the new failed.csv where the evidence changed (counterfoil report ${batch} writes it)`;

const newFile = (batch: string): string =>
  `counterfoil report ${batch} writes a new failed.csv: look at the row there and drop that file`;

const linkless = (of: string): string =>
  `remove retry_of and retry_evidence if it is a new payment (nothing then links it to ${of})`;
