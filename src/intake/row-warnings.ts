import type { BatchRow } from '../domain/batch-rules.ts';
import { nubanAgrees } from '../domain/nuban.ts';
import { mixedScripts } from './scripts.ts';

/** Returns what is unusual about a row that may be paid. People should look; nothing is held. */
export function rowWarnings({ bankCode, accountNumber, currency, ...row }: BatchRow): string[] {
  const warnings: string[] = [];
  if (currency === 'NGN' && nubanAgrees(bankCode, accountNumber) === false)
    warnings.push(`the account number's check digit does not agree with bank code ${bankCode}`);
  warnings.push(
    ...nameWarnings('account_name', row.accountName),
    ...nameWarnings('sender_name', row.senderName),
  );
  return warnings;
}

function nameWarnings(column: string, name: string): string[] {
  const warnings: string[] = [];
  const mixed = mixedScripts(name);
  if (mixed)
    warnings.push(
      `${column} mixes ${mixed.join(' and ')} letters: some look alike and are another name to a bank`,
    );
  if (name.includes('\ufffd'))
    warnings.push(`${column} holds U+FFFD, which stands where a letter was lost before: type it again`);
  return warnings;
}
