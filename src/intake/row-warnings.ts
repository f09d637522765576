import type { BatchRow } from '../domain/batch-rules.ts';
import { nubanAgrees } from '../domain/nuban.ts';
import { mixedScripts } from './scripts.ts';

/** What is unusual about one row. `shared` is the same for every row of its kind; `text` names the row's values too. */
export type RowWarning = { row: number; text: string; shared: string };

/** The warning of each row as one sentence. */
export function rowWarningText({ row, text }: RowWarning): string {
  return `row ${row}: ${text}`;
}

/** Returns what is unusual about a row that may be paid. People should look; nothing is held. */
export function rowWarnings({
  bankCode,
  accountNumber,
  currency,
  ...row
}: BatchRow): Omit<RowWarning, 'row'>[] {
  const warnings: Omit<RowWarning, 'row'>[] = [];
  if (currency === 'NGN' && nubanAgrees(bankCode, accountNumber) === false)
    warnings.push({
      text: `the account number's check digit does not agree with bank code ${bankCode}`,
      shared: "the account's check digit does not match its bank",
    });
  warnings.push(
    ...nameWarnings('account_name', row.accountName),
    ...nameWarnings('sender_name', row.senderName),
  );
  return warnings;
}

function nameWarnings(column: string, name: string): Omit<RowWarning, 'row'>[] {
  const warnings: Omit<RowWarning, 'row'>[] = [];
  const mixed = mixedScripts(name);
  if (mixed)
    warnings.push(
      same(`${column} mixes ${mixed.join(' and ')} letters: some look alike and are another name to a bank`),
    );
  if (name.includes('\ufffd'))
    warnings.push(same(`${column} holds U+FFFD, which stands where a letter was lost before: type it again`));
  return warnings;
}

function same(text: string): Omit<RowWarning, 'row'> {
  return { text, shared: text };
}
