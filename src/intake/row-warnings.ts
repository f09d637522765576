import type { BatchRow, RowRules } from '../core/domain/batch-rules.ts';
import { nubanAgrees } from '../core/domain/nuban.ts';

/** What is unusual about one row. `shared` is the same for every row of its kind; `text` names the row's values too. */
export type RowWarning = { row: number; text: string; shared: string };

/** The warning of each row as one sentence. */
export function rowWarningText({ row, text }: RowWarning): string {
  return `row ${row}: ${text}`;
}

/** Returns what is unusual about a row that may be paid. People should look; nothing is held. */
export function rowWarnings(
  { bankCode, accountNumber, currency, accountName, senderName, narration, payOn }: BatchRow,
  { narrationMax }: { narrationMax: number },
  { today }: Pick<RowRules, 'today'>,
): Omit<RowWarning, 'row'>[] {
  const warnings: Omit<RowWarning, 'row'>[] = [];
  if (currency === 'NGN' && nubanAgrees(bankCode, accountNumber) === false)
    warnings.push({
      text: `the account number's check digit does not agree with bank code ${bankCode}`,
      shared: "the account's check digit does not match its bank",
    });
  if (payOn !== '' && payOn < today)
    warnings.push({
      text: `pay_on ${payOn} is past: it is paid today`,
      shared: 'pay_on is past: it is paid today',
    });
  addNameWarnings(warnings, 'account_name', accountName);
  addNameWarnings(warnings, 'sender_name', senderName);
  // Code points, as people count them; nearly every narration is shorter by any count.
  const letters = narration.length > narrationMax ? Array.from(narration).length : 0;
  if (narrationMax > 0 && letters > narrationMax)
    warnings.push({
      text: `the narration has ${letters} characters, more than ${narrationMax} (intake.narration_max): a bank may cut it`,
      shared: `the narration is longer than ${narrationMax} characters (intake.narration_max): a bank may cut it`,
    });
  return warnings;
}

function addNameWarnings(warnings: Omit<RowWarning, 'row'>[], column: string, name: string): void {
  const mixed = mixedScripts(name);
  if (mixed)
    warnings.push(
      same(`${column} mixes ${mixed.join(' and ')} letters: some look alike and are another name to a bank`),
    );
  if (name.includes('\ufffd'))
    warnings.push(same(`${column} holds U+FFFD, which stands where a letter was lost before: type it again`));
}

function same(text: string): Omit<RowWarning, 'row'> {
  return { text, shared: text };
}

/**
 * Writing systems of which a name uses one; Japanese and Korean count as one, since their names use several
 * scripts.
 */
const systems = [
  ['Latin', /\p{Script=Latin}/u],
  ['Cyrillic', /\p{Script=Cyrillic}/u],
  ['Greek', /\p{Script=Greek}/u],
  ['Coptic', /\p{Script=Coptic}/u],
  ['Cherokee', /\p{Script=Cherokee}/u],
  ['Armenian', /\p{Script=Armenian}/u],
  ['Georgian', /\p{Script=Georgian}/u],
  ['Hebrew', /\p{Script=Hebrew}/u],
  ['Arabic', /\p{Script=Arabic}/u],
  ['Ethiopic', /\p{Script=Ethiopic}/u],
  ['Devanagari', /\p{Script=Devanagari}/u],
  ['Thai', /\p{Script=Thai}/u],
  [
    'East Asian',
    /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Hangul}\p{Script=Bopomofo}]/u,
  ],
] as const;

/**
 * Returns the writing systems that a name mixes; null for one alone. A Cyrillic `а` in `Adаeze` looks like
 * the Latin letter, but is another name to a bank.
 */
export function mixedScripts(name: string): string[] | null {
  // A shortcut for plain names, which nearly all are.
  if (/^[\u0020-\u007e]*$/.test(name)) return null;
  const used = systems.flatMap(([system, letters]) => (letters.test(name) ? [system] : []));
  return used.length > 1 ? used : null;
}
