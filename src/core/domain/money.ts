import currencyCodes from 'currency-codes';

/** The result of reading an amount: minor units, or a problem with its fix. */
export type ReadAmount = { kind: 'ok'; minor: bigint } | { kind: 'problem'; problem: string; fix: string };

const maxWholeDigits = 15;
/** The ledger keeps minor units in a signed 64-bit integer. */
const maxMinor = 2n ** 63n - 1n;

const exponents: ReadonlyMap<string, number> = new Map(
  currencyCodes.data.map(({ code, digits }) => [code, digits]),
);

/** The currency's digits after the point (ISO 4217); undefined for an unlisted code. */
export function exponentOf(currency: string): number | undefined {
  return exponents.get(currency);
}

/** Formats minor units with the currency's digits: 150000n NGN is `1500.00`. Throws on an unknown currency. */
export function formatMinor(minor: bigint, currency: string): string {
  const digits = exponentOf(currency);
  if (digits === undefined) throw new Error(`no such currency: ${currency}`);
  const text = minor
    .toString()
    .replace('-', '')
    .padStart(digits + 1, '0');
  const sign = minor < 0n ? '-' : '';
  return digits === 0 ? sign + text : `${sign}${text.slice(0, -digits)}.${text.slice(-digits)}`;
}

/**
 * Reads an amount that a person wrote in a batch: a plain decimal above zero with at most the currency's digits. It
 * guesses nothing: separators, signs and exponents are problems with a fix.
 */
export function parseAmount(text: string, currency: string): ReadAmount {
  const digits = exponentOf(currency);
  if (digits === undefined) return problem('its currency is not known', 'correct the currency first');
  const example = digits === 0 ? '1500' : `1500.${'0'.repeat(digits)}`;
  if (!/^\d+(?:\.\d+)?$/.test(text)) return notPlain(text, digits, example);
  const [whole = '', fraction = ''] = text.split('.');
  if (fraction.length > digits) {
    const expectation =
      digits === 0 ? 'a whole number' : `a decimal with at most ${digits} digits after the point`;
    return problem(`expected ${expectation} (${currency})`, `round it yourself, for example ${example}`);
  }
  if (whole.length > 40 || whole.replace(/^0+/, '').length > maxWholeDigits)
    return problem(
      `more than ${maxWholeDigits} digits before the point`,
      'check the amount; split it if it is right',
    );
  const minor = BigInt(whole + fraction.padEnd(digits, '0'));
  if (minor > maxMinor)
    return problem('larger than the ledger can hold', 'check the amount; split it if it is right');
  if (minor === 0n) return problem('not above zero', 'remove the row or write the amount to pay');
  return { kind: 'ok', minor };
}

function notPlain(text: string, digits: number, example: string): ReadAmount {
  if (/^[+-]/.test(text))
    return problem(
      'has a sign; expected a plain decimal above zero',
      `write it without a sign, for example ${example}`,
    );
  if (/^\d+(\.\d+)?e[+-]?\d+$/i.test(text))
    return problem(
      'is in scientific notation, as spreadsheets write it',
      `format the column as text or number and write every digit, for example ${example}`,
    );
  if (/^\d{1,3}(,\d{3})+(\.\d+)?$/.test(text))
    return problem('has thousands separators', `write ${text.replaceAll(',', '')}`);
  const comma = /^(\d+),(\d+)$/.exec(text);
  if (comma) {
    const fix =
      (comma[2] ?? '').length <= digits
        ? `write ${comma[1]}.${comma[2]}`
        : `write it with a point, for example ${example}`;
    return problem('has a decimal comma', fix);
  }
  return problem('is not a plain decimal', `write digits and at most one point, for example ${example}`);
}

function problem(text: string, fix: string): ReadAmount {
  return { kind: 'problem', problem: text, fix };
}

/**
 * Reads an amount of the service (`1500`, `1500.0`, `1500.00`, also negative): minor units, or null where the text is
 * not a plain decimal of the currency. Digits beyond the currency's own must be zeros.
 */
export function decimalToMinor(text: string, currency: string): bigint | null {
  const digits = exponentOf(currency);
  const match = /^(-?)(\d{1,40})(?:\.(\d{1,40}))?$/.exec(text.trim());
  if (digits === undefined || !match) return null;
  const [, sign = '', whole = '', fraction = ''] = match;
  if (!/^0*$/.test(fraction.slice(digits))) return null;
  const minor = BigInt(whole + fraction.slice(0, digits).padEnd(digits, '0'));
  if (minor > maxMinor) return null;
  return sign === '-' ? -minor : minor;
}

/** True for an amount above its currency's limit (`submission.payout_limit`); a currency may have no limit. */
export function isAboveLimit(amount: bigint, currency: string, limits: Record<string, string>): boolean {
  const limit = limits[currency];
  const most = limit === undefined ? null : decimalToMinor(limit, currency);
  return most !== null && amount > most;
}
