import { isReference } from './ids.ts';
import { exponentOf, parseAmount } from './money.ts';

/** The columns of a batch that mean something to us, in the order in which the content hash takes them. */
export const knownColumns = [
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
export type KnownColumn = (typeof knownColumns)[number];

/** What is wrong with one cell. `value` is what the file holds, unshortened. */
export type CellProblem = { column: string; value: string; problem: string; fix: string };

/** A row that may be paid. `reference` is null where the file has no such column and one is to be made. */
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
};

/** What the configuration adds to the rules of a row. */
export type RowRules = { senderName: string; referencePrefix: string };

/** Header names match whatever their case, spaces and underscores: `Account Number` is `account_number`. */
export function columnKey(header: string): string {
  return header.toLowerCase().replace(/[\s_]+/g, '');
}

const byKey = new Map<string, KnownColumn>(knownColumns.map((column) => [columnKey(column), column]));

/** The column that a header cell names, or null for one that is only kept and handed back. */
export function knownColumn(header: string): KnownColumn | null {
  return byKey.get(columnKey(header)) ?? null;
}

/** Columns a file must have under these rules. */
export function requiredColumns(rules: RowRules): KnownColumn[] {
  return knownColumns.filter((column) => {
    if (column === 'type') return false;
    if (column === 'reference') return rules.referencePrefix === '';
    return column !== 'sender_name' || rules.senderName === '';
  });
}

/**
 * Names the first character that nobody can see (control, bidi, zero-width) as `U+200B`, or null. A line feed is
 * allowed where `lineFeeds` says so.
 */
export function hiddenCharacter(text: string, lineFeeds: boolean): string | null {
  for (const match of text.matchAll(/[\p{Cc}\p{Cf}\u2028\u2029]/gu)) {
    if (lineFeeds && match[0] === '\n') continue;
    return `U+${(match[0].codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0')}`;
  }
  return null;
}

/**
 * Checks one row against every rule at once (contract.md, "Payout batches in"). `cell` gives a column's value without
 * spaces around it, or undefined where the file lacks the column.
 */
export function checkRow(
  cell: (column: KnownColumn) => string | undefined,
  rules: RowRules,
): { kind: 'ok'; row: BatchRow } | { kind: 'bad'; problems: CellProblem[] } {
  const problems: CellProblem[] = [];
  const say = (column: KnownColumn, value: string, found: Finding): void => {
    if (found) problems.push({ column, value, ...found });
  };
  const read = (column: KnownColumn, rule: (value: string) => Finding): string => {
    const value = cell(column);
    // A column that the file lacks is the header's problem, said once.
    if (value === undefined) return '';
    if (value === '') say(column, value, { problem: 'is empty', fix: `write the ${column}` });
    else if (!hiddenCharacter(value, column === 'narration')) say(column, value, rule(value));
    return value;
  };
  const reference =
    cell('reference') === undefined ? null : read('reference', (value) => referenceFinding(value, rules));
  const currency = read('currency', currencyFinding);
  const accountNumber = read('account_number', (value) => accountFinding(value, currency));
  const accountName = read('account_name', () => null);
  const bankCode = read('bank_code', bankFinding);
  const narration = read('narration', () => null);
  const senderName = cell('sender_name') || rules.senderName;
  if (senderName === '' && cell('sender_name') !== undefined) {
    say('sender_name', '', { problem: 'is empty', fix: 'write the sender_name, or set intake.sender_name' });
  }
  let amount = 0n;
  read('amount', (value) => {
    if (exponentOf(currency) === undefined)
      return /^\d+(\.\d+)?$/.test(value) ? null : amountFinding(value, 'NGN');
    const parsed = parseAmount(value, currency);
    if (parsed.kind === 'problem') return parsed;
    amount = parsed.minor;
    return null;
  });
  const type = cell('type') ?? '';
  say('type', type, typeFinding(type, currency));
  if (problems.length > 0) return { kind: 'bad', problems };
  return {
    kind: 'ok',
    row: {
      reference,
      accountNumber,
      accountName,
      bankCode,
      amount,
      currency,
      narration,
      senderName,
      type: type === 'EFT' || type === 'RTC' ? type : null,
    },
  };
}

type Finding = { problem: string; fix: string } | null;

function amountFinding(value: string, currency: string): Finding {
  const parsed = parseAmount(value, currency);
  return parsed.kind === 'problem' ? parsed : null;
}

function referenceFinding(value: string, rules: RowRules): Finding {
  if (value.length > 50)
    return { problem: `has ${value.length} characters; at most 50 are allowed`, fix: 'shorten it' };
  if (!isReference(value)) {
    return {
      problem: 'expected letters, digits, _ and -, beginning with a letter or digit',
      fix: 'replace or remove the other characters',
    };
  }
  if (!value.startsWith(rules.referencePrefix)) {
    return {
      problem: `does not begin with ${rules.referencePrefix}`,
      fix: `write ${rules.referencePrefix}${value}`,
    };
  }
  return null;
}

function accountFinding(value: string, currency: string): Finding {
  if (/^\d+([.,]\d+)?e[+-]?\d+$/i.test(value)) {
    return {
      problem: 'is in scientific notation: a spreadsheet has dropped digits of it',
      fix: 'format the column as text and type or paste the account number again',
    };
  }
  if (!/^\d+$/.test(value))
    return { problem: 'expected digits only', fix: 'remove spaces, signs and letters' };
  if (currency === 'NGN' && value.length !== 10) {
    const lost = value.length < 10 ? '; a spreadsheet may have dropped leading zeros' : '';
    return {
      problem: `expected exactly 10 digits for NGN, got ${value.length}${lost}`,
      fix: 'write all 10 digits',
    };
  }
  if (value.length < 5 || value.length > 20) {
    return { problem: `expected 5 to 20 digits, got ${value.length}`, fix: 'write the whole account number' };
  }
  return null;
}

function bankFinding(value: string): Finding {
  if (/^[A-Za-z0-9]{3,11}$/.test(value)) return null;
  const lost = /^\d{1,2}$/.test(value);
  return {
    problem: 'expected 3 to 11 letters and digits',
    fix: lost
      ? `write the leading zeros again, for example ${value.padStart(3, '0')}`
      : "write the bank's code",
  };
}

function currencyFinding(value: string): Finding {
  if (exponentOf(value) !== undefined) return null;
  const upper = value.toUpperCase();
  const fix =
    exponentOf(upper) === undefined
      ? 'write the three letters of ISO 4217, for example NGN'
      : `write ${upper}`;
  return { problem: 'is no currency of ISO 4217', fix };
}

function typeFinding(value: string, currency: string): Finding {
  if (value === '' || (currency === 'ZAR' && (value === 'EFT' || value === 'RTC'))) return null;
  if (currency !== 'ZAR') return { problem: `type is for ZAR only, not ${currency}`, fix: 'leave it empty' };
  return { problem: 'expected EFT or RTC', fix: 'write EFT or RTC, or leave it empty' };
}
