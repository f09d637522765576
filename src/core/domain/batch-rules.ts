import type { Banks } from './banks.ts';
import { hiddenCharacter } from './hidden.ts';
import { isReference } from './ids.ts';
import { exponentOf, parseAmount } from './money.ts';
import { nubanAgrees } from './nuban.ts';
import { payDayFinding } from './pay-day.ts';
import { givenPayeeId } from './payee-name.ts';
import { hasZeroedTail, repairedAccount, repairedBank } from './repairs.ts';
import { saveAsText } from './save-as.ts';
import { isSpreadsheetDate } from './spreadsheet-dates.ts';
import { type AmountProblem, amountFinding } from './written-amount.ts';

/**
 * The columns whose place in the content hash is fixed, in its order. This list never changes: else a file that was taken
 * before would be another one, and a row without a reference of its own would be paid again (P23).
 */
export const hashedColumns = [
  'reference',
  'account_number',
  'account_name',
  'bank_code',
  'amount',
  'currency',
  'narration',
  'sender_name',
  'type',
] as const;

/** The batch columns that we read. */
export const knownColumns = [...hashedColumns, 'pay_on', 'payee_id'] as const;
export type KnownColumn = (typeof knownColumns)[number];

/** `value` is the full text in the file. */
export type CellProblem = { column: string; value: string; problem: string; fix: string };

/** A valid row. `reference` is null where the file has no such column and one will be generated. */
export type BatchRow = {
  reference: string | null;
  accountNumber: string;
  accountName: string;
  bankCode: string;
  /** Minor units of `currency`. */
  amount: bigint;
  currency: string;
  narration: string;
  senderName: string;
  type: 'EFT' | 'RTC' | null;
  /** The day before which it is not sent, `YYYY-MM-DD` (P38), and the employer's key of the payee; empty: none. */
  payOn: string;
  payeeId: string;
};

export type RowRules = {
  senderName: string;
  referencePrefix: string;
  banks?: Banks;
  serviceToday?: string;
  /** Today in `submission.timezone`, above by the service's clock, and the day of rows that name none: `YYYY-MM-DD`. */
  today: string;
  payOn: string;
};

/** Normalises a header: case, spaces and underscores do not count, so `Account Number` is `account_number`. */
export function columnKey(header: string): string {
  return header.toLowerCase().replace(/[\s_]+/g, '');
}

const byKey = new Map<string, KnownColumn>(knownColumns.map((column) => [columnKey(column), column]));

/** The column that a header cell names; null for one that is only kept and returned. */
export function knownColumn(header: string): KnownColumn | null {
  return byKey.get(columnKey(header)) ?? null;
}

/** The columns that a file must have under these rules. */
export function requiredColumns(rules: RowRules): KnownColumn[] {
  return knownColumns.filter((column) => {
    if (column === 'type' || column === 'pay_on' || column === 'payee_id') return false;
    if (column === 'reference') return rules.referencePrefix === '';
    return column !== 'sender_name' || rules.senderName === '';
  });
}

const noSender = { problem: 'is empty', fix: 'write the sender_name, or set intake.sender_name' };

/** Checks one row. `cell` returns a column's trimmed value, or undefined where the file lacks the column. */
export function checkRow(
  cell: (column: KnownColumn) => string | undefined,
  rules: RowRules,
): { kind: 'ok'; row: BatchRow } | { kind: 'bad'; problems: CellProblem[] } {
  const row: Reading = { cell, rules, currency: '', accountNumber: '', problems: [] };
  const { problems } = row;
  const reference = cell('reference') === undefined ? null : read(row, 'reference');
  row.currency = read(row, 'currency');
  row.accountNumber = read(row, 'account_number');
  const { currency, accountNumber } = row;
  const accountName = read(row, 'account_name');
  const bankCode = read(row, 'bank_code');
  const narration = read(row, 'narration');
  const senderName = cell('sender_name') || rules.senderName;
  if (senderName === '' && cell('sender_name') !== undefined) say(row, 'sender_name', '', noSender);
  // Nearly every amount is good and is parsed once.
  const amount = parseAmount(cell('amount') ?? '', currency);
  if (amount.kind !== 'ok') read(row, 'amount');
  const type = cell('type') ?? '';
  say(row, 'type', type, typeFinding(type, currency));
  const payOn = cell('pay_on') || rules.payOn;
  say(row, 'pay_on', payOn, payDayFinding(payOn, rules.today, rules.serviceToday));
  if (problems.length > 0 || amount.kind !== 'ok') return { kind: 'bad', problems };
  return {
    kind: 'ok',
    row: {
      reference,
      accountNumber,
      accountName,
      bankCode,
      amount: amount.minor,
      currency,
      narration,
      senderName,
      type: type === 'EFT' || type === 'RTC' ? type : null,
      payOn,
      payeeId: givenPayeeId(cell('payee_id') ?? ''),
    },
  };
}

/** A row while it is checked: its cells, those that the rules of other cells need, and its problems so far. */
type Reading = {
  cell: (column: KnownColumn) => string | undefined;
  rules: RowRules;
  currency: string;
  accountNumber: string;
  problems: CellProblem[];
};

function read(row: Reading, column: KnownColumn): string {
  const value = row.cell(column);
  // A missing column is a problem of the header, reported once.
  if (value === undefined) return '';
  if (value.trim() === '') say(row, column, value, { problem: 'is empty', fix: `write the ${column}` });
  else {
    const finding = findingOf(column, value, row);
    // A hidden character is reported by itself, as the cause of this finding.
    if (finding && !hiddenCharacter(value, column)) say(row, column, value, finding);
  }
  return value;
}

function say({ problems }: Reading, column: KnownColumn, value: string, finding: AmountProblem): void {
  if (finding) problems.push({ column, value, ...finding });
}

function findingOf(
  column: KnownColumn,
  value: string,
  { cell, currency, accountNumber, rules }: Reading,
): AmountProblem {
  switch (column) {
    case 'reference':
      return referenceFinding(value, rules);
    case 'currency':
      return currencyFinding(value);
    case 'account_number':
      return accountFinding(value, currency, cell('bank_code') ?? '');
    case 'bank_code':
      return otherBankFinding(value, rules.banks) ?? bankFinding(value, currency, accountNumber);
    case 'amount':
      if (exponentOf(currency) !== undefined) return amountFinding(value, currency);
      return /^\d+(\.\d+)?$/.test(value) ? null : amountFinding(value, 'NGN');
    default:
      return null;
  }
}

export function referenceFinding(value: string, rules: Pick<RowRules, 'referencePrefix'>): AmountProblem {
  if (value.length > 50)
    return { problem: `has ${value.length} characters; at most 50 are allowed`, fix: 'shorten it' };
  const damaged = damagedReference(value);
  if (damaged) return damaged;
  if (!isReference(value))
    return {
      problem: 'expected letters, digits, _ and -, beginning with a letter or digit',
      fix: 'replace or remove the other characters',
    };
  if (!value.startsWith(rules.referencePrefix))
    return {
      problem: `does not begin with ${rules.referencePrefix}`,
      fix: `write ${rules.referencePrefix}${value}`,
    };
  return null;
}

/** A reference that a spreadsheet took for a date or a number: the source has another one. */
function damagedReference(value: string): AmountProblem {
  const fix = `${saveAsText}, and paste the reference again from its source`;
  if (isSpreadsheetDate(value))
    return {
      problem: 'is a date: a spreadsheet most likely made one of the reference',
      fix: isReference(value) ? `${fix}; if it is meant so, write ${value.toUpperCase()}` : fix,
    };
  if (/^\d+([.,]\d+)?E\+\d+$/.test(value))
    return { problem: 'is in scientific notation: a spreadsheet has dropped digits of it', fix };
  return null;
}

function accountFinding(value: string, currency: string, bankCode: string): AmountProblem {
  const problem = accountProblem(value, currency);
  if (problem === null) return null;
  const repaired = repairedAccount(value, currency, bankCode);
  if (repaired === null) return problem;
  const proved = currency === 'NGN' && /^\d{1,3}$/.test(bankCode) ? ', whose check digit is right' : '';
  const fix = `write ${repaired}${proved}, if that is what the source says; ${saveAsText}`;
  return { problem: problem.problem, fix };
}

const typeAgain = `${saveAsText}, and type or paste the account number again`;

function accountProblem(value: string, currency: string): AmountProblem {
  if (!/^\d+$/.test(value)) return notDigits(value);
  if (currency === 'NGN' && value.length !== 10) {
    const lost = value.length > 10 ? '' : '; a spreadsheet may have dropped leading zeros';
    return {
      problem: `expected exactly 10 digits for NGN, got ${value.length}${lost}`,
      fix: 'write all 10 digits',
    };
  }
  if (value.length < 5 || value.length > 20)
    return { problem: `expected 5 to 20 digits, got ${value.length}`, fix: 'write the whole account number' };
  if (hasZeroedTail(value))
    return {
      problem: 'has zeros only after its 15th digit: a spreadsheet keeps 15 and writes zeros for the rest',
      fix: `${saveAsText}, and paste the account number again from its source`,
    };
  return null;
}

function notDigits(value: string): AmountProblem {
  if (/^\d+([.,]\d+)?e[+-]?\d+$/i.test(value))
    return { problem: 'is in scientific notation: a spreadsheet has dropped digits of it', fix: typeAgain };
  if (/^\d+[.,]\d*$/.test(value))
    return { problem: 'has a decimal point: a spreadsheet took it for a number', fix: typeAgain };
  return { problem: 'expected digits only', fix: 'remove spaces, signs and letters' };
}

function bankFinding(value: string, currency: string, accountNumber: string): AmountProblem {
  // South African branch codes have 6 digits, Nigerian ones 3 or 6: five digits are six without their leading zero. An
  // institution may also have a code of five digits, which the check digit confirms; with a zero in front it begins
  // with 09.
  const isShort =
    /^\d{5}$/.test(value) &&
    (currency === 'ZAR' ||
      (currency === 'NGN' && (value.startsWith('9') || nubanAgrees(value, accountNumber) !== true)));
  if (/^[A-Za-z0-9]{3,11}$/.test(value) && !isShort) return null;
  const repaired = repairedBank(value, currency, accountNumber);
  const problem = isShort
    ? `has 5 digits, which no bank code for ${currency} has; a spreadsheet may have dropped a leading zero`
    : 'expected 3 to 11 letters and digits';
  if (repaired !== null)
    return { problem, fix: `write ${repaired}, if that is what the bank's list says; ${saveAsText}` };
  const lost = /^\d{1,2}$/.test(value);
  return {
    problem,
    fix: lost
      ? `write the leading zeros again, for example ${value.padStart(3, '0')}`
      : "write the bank's code",
  };
}

/** A code that is not in the service's list: often one of another family, such as `058` for `000013`. */
function otherBankFinding(value: string, banks: Banks | undefined): AmountProblem {
  if (!banks || banks.has(value)) return null;
  const bank = banks.meant(value);
  if (bank)
    return {
      problem: `is not in the service's list of bank codes (intake.banks_file)`,
      fix: `write ${bank.code} (${bank.name}), if that is the bank; ${saveAsText}`,
    };
  if (!/^[A-Za-z0-9]{3,11}$/.test(value)) return null;
  return {
    problem: `is not in the service's list of bank codes (intake.banks_file)`,
    fix: 'write the code that the list has for this bank, or add the bank to the list',
  };
}

export function currencyFinding(value: string): AmountProblem {
  if (exponentOf(value) !== undefined) return null;
  const upper = value.toUpperCase();
  const fix =
    exponentOf(upper) === undefined
      ? 'write the three letters of ISO 4217, for example NGN'
      : `write ${upper}`;
  return { problem: 'is not a currency of ISO 4217', fix };
}

function typeFinding(value: string, currency: string): AmountProblem {
  if (value === '' || (currency === 'ZAR' && (value === 'EFT' || value === 'RTC'))) return null;
  if (currency !== 'ZAR') return { problem: `type is for ZAR only, not ${currency}`, fix: 'leave it empty' };
  return { problem: 'expected EFT or RTC', fix: 'write EFT or RTC, or leave it empty' };
}
