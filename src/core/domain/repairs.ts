import { nubanAgrees } from './nuban.ts';

/** A number that a damaged cell may have held; `needsProof`: only a check digit can confirm it. */
type Candidate = { digits: string; needsProof: boolean };

/** Above this number of readings nothing is proposed. */
const mostReadings = 1000n;
/** A shorter number has lost more than its leading zeros. */
const fewestLeft = 6;

/**
 * The account number that a spreadsheet most likely damaged into `value`; null unless exactly one reading is valid. It
 * is only a proposal: the person with the source decides.
 */
export function repairedAccount(value: string, currency: string, bankCode: string): string | null {
  const bank = paddedBank(bankCode);
  const valid = candidates(value).flatMap((candidate): string[] => {
    if (currency !== 'NGN')
      return candidate.needsProof || !isWhole(candidate.digits) ? [] : [candidate.digits];
    const digits = candidate.digits.padStart(10, '0');
    if (digits.length !== 10 || candidate.digits.length < fewestLeft) return [];
    const agrees = nubanAgrees(bank, digits);
    const isProofNeeded = candidate.needsProof || digits !== candidate.digits;
    return agrees === true || (agrees === null && !isProofNeeded) ? [digits] : [];
  });
  const [only, ...others] = new Set(valid);
  return only !== undefined && others.length === 0 && only !== value ? only : null;
}

/** Spreadsheets keep 15 digits of a number and write zeros for the rest. */
export function hasZeroedTail(digits: string): boolean {
  return digits.length > 15 && /^0+$/.test(digits.slice(15));
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

function candidates(value: string): Candidate[] {
  const plain = value.replace(/[\s'’‐‑–-]/g, '');
  if (/^\d+$/.test(plain)) return [{ digits: plain, needsProof: false }];
  const decimal = /^(\d+)[.,]0*$/.exec(plain);
  if (decimal?.[1]) return [{ digits: decimal[1], needsProof: false }];
  return scientific(value);
}

/** Every whole number that scientific notation shows as this value: its last digits were rounded away. */
function scientific(value: string): Candidate[] {
  const match = /^(\d{1,3})(?:[.,](\d{1,20}))?e\+?(\d{1,2})$/i.exec(value);
  if (!match) return [];
  const [, whole = '', fraction = '', exponent = ''] = match;
  const lost = Number(exponent) - fraction.length;
  if (lost <= 0) {
    const kept = fraction.slice(0, Number(exponent));
    return /^0*$/.test(fraction.slice(kept.length)) ? [{ digits: whole + kept, needsProof: false }] : [];
  }
  const step = lost > 4 ? mostReadings * 10n : 10n ** BigInt(lost);
  if (step > mostReadings) return [];
  const middle = BigInt(whole + fraction) * step;
  const readings: Candidate[] = [];
  for (let at = middle - step / 2n; at < middle + step / 2n; at++)
    readings.push({ digits: String(at), needsProof: true });
  return readings;
}
