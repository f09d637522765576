import { amountText, counted } from '../core/domain/counted.ts';
import type {
  ApprovalCause,
  HoldReason,
  LargePayout,
  OtherName,
  Shortfall,
} from '../core/ledger/hold-reasons.ts';
import { payeesText } from './payee-facts.ts';

/** Says why a batch is held. `words/hold-words.ts` adds the way out. */
export function holdFact(reason: HoldReason): string {
  switch (reason.kind) {
    case 'person':
      return 'held by a person';
    case 'cancelled':
      if (reason.scope !== undefined)
        return `its ${reason.scope === 'rows' ? 'changed rows' : 'second payments'} were rejected, and not all of them are cancelled yet`;
      return 'cancelled by a person while some were on their way: what comes back unsent waits here';
    case 'approval': {
      const why = approvalText(reason.why);
      const other = reason.dropper === '' ? 'somebody else' : `somebody other than ${reason.dropper}`;
      if (reason.scope === 'rows') return `${why}: only these wait for an approval by ${other}`;
      return reason.dropper === ''
        ? `needs an approval by ${other} (${why})`
        : `needs an approval (${why}) by ${other}`;
    }
    case 'releasing':
      return reason.by === '' ? 'its release is in progress' : `its release by ${reason.by} is in progress`;
    case 'file_grown':
      return `its file was not whole: ${reason.bytes} bytes came after it was read, from line ${reason.line} on, and are in no batch (${reason.path})`;
    case 'file_changed':
      return `its file is not what was read: somebody changed ${reason.path}`;
    case 'file_not_archived':
      return `its file was changed after it was read, so that it is not in the archive but at ${reason.path}`;
    case 'file_missing':
      return `its file is not in the archive any more (${reason.path})`;
    case 'repeated_row':
      return `possible duplicate: row ${reason.row} has the account, currency and amount of row ${reason.earlier}${more(reason)}`;
    case 'alike':
      return alikeText(reason);
    case 'named_again': {
      const { row, earlier, reference } = reason;
      return `row ${row} has the reference of a second payment of ${earlier} in batch ${reason.batch} (${reference})${more(reason)}, but no retry_of: released, it may pay ${earlier} twice. A failed.csv that kept its columns retry_of and retry_evidence pays it once`;
    }
    case 'value_again':
      return valueText(reason, ` "${reason.value}"`);
    case 'original_held':
      return `row ${reason.row} pays ${reason.reference} again, whose batch ${reason.batch} is held`;
    case 'payout_limit':
      return `${reason.count} above submission.payout_limit: ${rowsText(reason.first)}`;
    case 'daily_limit':
      return `${reason.count} above what submission.daily_limit lets go in a whole day: ${rowsText(reason.first)}`;
    case 'balance':
      return reason.short.map(shortText).join('; ');
    case 'account_names':
      return `${counted(reason.count, 'account')} with another name at the service: ${reason.first.map(nameText).join('; ')}${more({ others: reason.count - reason.first.length })}`;
    case 'check_unreadable':
      return `the answer of service.extras.${reason.what} cannot be used (${reason.why}), so that it is not known whether ${reason.what === 'balance' ? 'the wallet holds enough' : 'the accounts are theirs'}`;
  }
}

/** The same without cells of the file that may name a payee: for a payout's history, and for readers who may not see them. */
export function holdNote(reason: HoldReason): string {
  switch (reason.kind) {
    case 'account_names':
      return `${counted(reason.count, 'account')} of its batch with another name at the service`;
    case 'value_again':
      return valueText(reason);
    default:
      return holdFact(reason);
  }
}

/** `shown`: the value, or nothing. `intake.unique_columns` may name any column, that of the accounts too. */
function valueText(again: Extract<HoldReason, { kind: 'value_again' }>, shown = ''): string {
  const { row, column, before } = again;
  const earlier =
    'row' in before ? `row ${before.row}` : `${before.reference} in batch ${before.batch} of ${before.day}`;
  return `possible duplicate: row ${row} has the ${column}${shown} of ${earlier}${more(again)}`;
}

function shortText({ currency, balance, needed, earlier }: Shortfall): string {
  const before = /[1-9]/.test(earlier) ? `, and earlier batches ${amountText(currency, earlier)}` : '';
  return `the wallet holds ${amountText(currency, balance)}, but this batch needs ${amountText(currency, needed)}${before}`;
}

function nameText({ row, reference, account, ours, theirs, message }: OtherName): string {
  const said =
    theirs === null
      ? `the service names nobody${message && ` (${message})`}`
      : `the service says "${theirs}"`;
  return `row ${row} (${reference}, account ${account}) says "${ours}", ${said}`;
}

/** An earlier payout with the account, currency and amount of a row. */
function alikeText(alike: Omit<Extract<HoldReason, { kind: 'alike' }>, 'kind'>): string {
  const earlier = `${alike.reference} in batch ${alike.batch} of ${alike.day}`;
  return `possible duplicate: row ${alike.row} has the account, currency and amount of ${earlier}${more(alike)}`;
}

function approvalText(why: ApprovalCause): string {
  switch (why.kind) {
    case 'always':
    case 'callback':
      return `submission.approval is ${why.kind}`;
    case 'above':
      return why.totals
        .map(
          ({ currency, total, limit }) =>
            `${amountText(currency, total)} is above submission.approval_above, ${amountText(currency, limit)}`,
        )
        .join(', ');
    case 'unapproved':
      return 'something in it was never approved';
    case 'successor':
      return 'a successor is a new order of money';
    case 'original':
      return `row ${why.row} pays ${why.reference} again, whose batch ${why.batch} needs approvals`;
    case 'payees':
      return payeesText(why);
  }
}

function rowsText(first: readonly LargePayout[]): string {
  return first.map(({ row, currency, amount }) => `row ${row} (${amountText(currency, amount)})`).join(', ');
}

function more({ others }: { others: number }): string {
  return others > 0 ? `, and ${others} more` : '';
}
