import { nubanAgrees } from './nuban.ts';

/** A shorter number has lost more than its leading zeros. */
const fewestLeft = 6;

/**
 * The account number that a spreadsheet most likely damaged into `value`; null unless exactly one reading is valid. It
 * is only a proposal: the person with the source decides.
 */
export function repairedAccount(value: string, currency: string, bankCode: string): string | null {
  const bank = paddedBank(bankCode);
  const valid = candidates(value).flatMap((candidate): string[] => {
    if (currency !== 'NGN') return isWhole(candidate) ? [candidate] : [];
    const digits = candidate.padStart(10, '0');
    if (digits.length !== 10 || candidate.length < fewestLeft) return [];
    // Only the check digit can confirm zeros in front.
    return (nubanAgrees(bank, digits) ?? digits === candidate) ? [digits] : [];
  });
  const [only, ...others] = new Set(valid);
  return only !== undefined && others.length === 0 && only !== value ? only : null;
}

/** Spreadsheets keep 15 digits of a number and write zeros for the rest. */
export function hasZeroedTail(digits: string): boolean {
  return /^0+$/.test(digits.slice(15));
}

/** The code of 3 or 6 digits that lost its leading zeros in a spreadsheet, most likely; null if there is none. */
export function repairedBank(value: string, currency: string, account: string): string | null {
  const digits = /^(\d{1,6})(?:[.,]0+)?$/.exec(value)?.[1];
  if (digits === undefined) return null;
  if (digits.length === 5) return `0${digits}`;
  if (digits.length >= 3) return digits === value ? null : digits;
  // Banks have codes of 3 digits, institutions of the instant payment scheme 6; the check digit decides.
  const padded = digits.padStart(3, '0');
  if (currency !== 'NGN') return null;
  return nubanAgrees(padded, account) === true || repairedAccount(account, currency, padded) !== null
    ? padded
    : null;
}

/** Pads a code of one or two digits to three, as the check digit needs it. */
function paddedBank(code: string): string {
  return /^\d{1,2}$/.test(code) ? code.padStart(3, '0') : code;
}

function isWhole(digits: string): boolean {
  return digits.length >= 5 && digits.length <= 20 && !hasZeroedTail(digits);
}

/** The numbers that a damaged cell may have held. */
function candidates(value: string): string[] {
  const plain = value.replace(/[\s'’‐‑–-]/g, '');
  if (/^\d+$/.test(plain)) return [plain];
  const decimal = /^(\d+)[.,]0*$/.exec(plain)?.[1];
  return decimal === undefined ? scientific(value) : [decimal];
}

/** Every whole number that scientific notation shows as this value, where at most its last digit was rounded away. */
function scientific(value: string): string[] {
  const match = /^(\d{1,3})(?:[.,](\d{1,20}))?e\+?(\d{1,2})$/i.exec(value);
  if (!match) return [];
  const [, whole = '', fraction = '', exponent = ''] = match;
  const lost = Number(exponent) - fraction.length;
  if (lost <= 0) {
    const kept = fraction.slice(0, Number(exponent));
    return /^0*$/.test(fraction.slice(kept.length)) ? [whole + kept] : [];
  }
  // Of a hundred readings several have the right check digit.
  if (lost > 1) return [];
  const middle = BigInt(whole + fraction) * 10n;
  return Array.from({ length: 10 }, (_, i) => String(middle - 5n + BigInt(i)));
}
