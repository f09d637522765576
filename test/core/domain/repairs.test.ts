import fc from 'fast-check';
import { expect, it } from 'vitest';
import { checkRow } from '../../../src/core/domain/batch-rules.ts';
import { visible } from '../../../src/core/domain/hidden.ts';
import { nubanAgrees } from '../../../src/core/domain/nuban.ts';
import { problemSentence } from '../../../src/core/domain/problem.ts';
import { hasZeroedTail, repairedAccount, repairedBank } from '../../../src/core/domain/repairs.ts';
import { amountFinding } from '../../../src/core/domain/written-amount.ts';
import { fileNameFinding, harmlessName } from '../../../src/intake/file-name.ts';
import { mixedScripts } from '../../../src/intake/row-warnings.ts';

it('proposes an account number only where one reading is left, and what it proposes is valid', () => {
  expect(repairedAccount('123456785', 'NGN', '058')).toBe('0123456785');
  expect(repairedAccount('123456785', 'NGN', '58'), 'the bank code lost its zero too').toBe('0123456785');
  expect(repairedAccount('1.23456785E+08', 'NGN', '058')).toBe('0123456785');
  expect(repairedAccount('3,01284756E+09', 'NGN', '011'), 'rounded in its last digit').toBe('3012847560');
  expect(repairedAccount('62001234567.00', 'ZAR', '250655')).toBe('62001234567');
  const left = ['123456784', '1.23E+09', '1.234567E+09', '1.23456789012345E+15', '1E+99'];
  left.push('5', 'x', '', '1234567890.5', '12345678901.0', '0123456784.0', '0123456785');
  for (const value of left) expect(repairedAccount(value, 'NGN', '058'), value).toBeNull();
  expect(repairedAccount('123456785', 'NGN', '090405'), 'no check digit to go by').toBeNull();
});

it('proposes a number of ten digits without a check digit only as it stands', () => {
  expect(repairedAccount('0123456785.0', 'NGN', '000013')).toBe('0123456785');
  expect(repairedAccount('3,01284756E+09', 'NGN', '000013'), 'one of ten readings').toBeNull();
  expect(repairedAccount('1', 'NGN', '')).toBeNull();
});

it('takes six digits for an account that lost its zeros, and fewer for one that lost more', () => {
  const account = (serial: string): string =>
    Array.from({ length: 10 }, (_, digit) => `${serial}${digit}`).find((one) =>
      nubanAgrees('058', one.padStart(10, '0')),
    ) ?? '';
  expect(repairedAccount(account('12345'), 'NGN', '058')).toBe(account('12345').padStart(10, '0'));
  expect(repairedAccount(account('1234'), 'NGN', '058')).toBeNull();
  const without = Array.from({ length: 10 }, (_, digit) => `12345${digit}`);
  expect(
    without.map((one) => repairedAccount(one, 'NGN', '')),
    'no bank, no check digit',
  ).toEqual(without.map(() => null));
});

it.each([
  ['62001.', '62001'],
  ['1234.0', null],
  [`${'1'.repeat(20)}.0`, '1'.repeat(20)],
  [`${'1'.repeat(21)}.0`, null],
  ['12345678901234500000.0', null],
  ['1.23456785E+8', '123456785'],
  ['1.23456785E+07', null],
  ['12.3400E+3', '12340'],
  ['1.23456785E+9', null],
])('proposes elsewhere for %s what is left of it: %s', (value, account) => {
  expect(repairedAccount(value, 'ZAR', '250655')).toBe(account);
});

it('of a number that lost its last digit it proposes the one that rounds to it and has the right check digit', () => {
  const serials = fc.integer({ min: 100_000_001, max: 999_999_999 });
  const shownAs = (account: number): string => account.toExponential(8).toUpperCase();
  fc.assert(
    fc.property(serials, (serial) => {
      const shown = shownAs(serial * 10);
      const readings = Array.from({ length: 40 }, (_, i) => serial * 10 - 20 + i);
      const fitting = readings.filter(
        (one) => shownAs(one) === shown && nubanAgrees('058', String(one)) === true,
      );
      const [only] = fitting;
      const expected = fitting.length === 1 ? String(only) : null;
      expect(repairedAccount(shown, 'NGN', '058')).toBe(expected);
    }),
    { numRuns: 300 },
  );
});

it('proposes nothing where two digits were rounded away', () => {
  const shown = Array.from({ length: 10 }, (_, digit) => `1.234567${digit}E+09`);
  expect(shown.map((one) => repairedAccount(one, 'NGN', '058'))).toEqual(shown.map(() => null));
});

it('finds again every account number that a spreadsheet damaged in a way that can be undone', () => {
  const digits = fc.stringMatching(/^\d{9}$/);
  const damaged = fc.constantFrom<(account: string) => string>(
    (account) => String(Number(account)),
    (account) => `${account}.0`,
    (account) => `${Number(account)}.00`,
    (account) => `'${account}`,
    (account) => Number(account).toExponential(9).toUpperCase(),
  );
  fc.assert(
    fc.property(digits, damaged, (serial, damage) => {
      const account = Array.from({ length: 10 }, (_, digit) => `${serial}${digit}`).find((one) =>
        nubanAgrees('058', one),
      );
      fc.pre(account !== undefined && account !== damage(account) && Number(account) > 99_999);
      expect(repairedAccount(damage(account ?? ''), 'NGN', '058')).toBe(account);
    }),
  );
});

it('proposes zeros in front of a bank code where the check digit or the length allows one reading', () => {
  expect(repairedBank('58', 'NGN', '0123456785')).toBe('058');
  expect(repairedBank('58', 'NGN', '123456785'), 'with an account that lost its zero too').toBe('058');
  expect(repairedBank('58', 'NGN', '0123456784')).toBeNull();
  expect(repairedBank('51001.0', 'ZAR', '1')).toBe('051001');
  expect(repairedBank('5.1E+04', 'ZAR', '1')).toBeNull();
  expect(repairedBank('58', 'ZAR', '0123456785'), 'no check digit elsewhere').toBeNull();
  expect([repairedBank('058.0', 'ZAR', '1'), repairedBank('123456.0', 'NGN', '1')]).toEqual([
    '058',
    '123456',
  ]);
  expect([repairedBank('123456', 'NGN', '1'), repairedBank('1234567', 'NGN', '1')]).toEqual([null, null]);
});

it('sees that a spreadsheet kept 15 digits', () => {
  expect(['1234567890123450', '12345678901234500000'].map(hasZeroedTail)).toEqual([true, true]);
  expect(['123456789012345', '1234567890123450001', '0000000000'].map(hasZeroedTail)).toEqual(
    Array(3).fill(false),
  );
});

it('never applies what it proposes', () => {
  const cells: Record<string, string> = {
    reference: 'PAY-1',
    account_number: '123456785',
    account_name: 'Adaeze Okonkwo',
    bank_code: '058',
    amount: '1,000',
    currency: 'NGN',
    narration: 'Salary',
    sender_name: 'Acme',
  };
  const days = { today: '2026-11-27', payOn: '' };
  const checked = checkRow((column) => cells[column], { senderName: '', referencePrefix: '', ...days });
  expect(checked).toMatchObject({ kind: 'bad', problems: [{ value: '123456785' }, { value: '1,000' }] });
});

it('finds fault with every amount that is no plain decimal above zero, whatever is in it', () => {
  const plain = {
    NGN: /^0{0,20}\d{1,15}(\.\d{1,2})?$/,
    JPY: /^0{0,20}\d{1,15}$/,
    KWD: /^0{0,20}\d{1,15}(\.\d{1,3})?$/,
  };
  const written = fc.oneof(fc.string({ unit: 'binary' }), fc.stringMatching(/^[\d.,+e -]{1,20}$/));
  fc.assert(
    fc.property(written, fc.constantFrom('NGN', 'JPY', 'KWD'), (text, currency) => {
      const isFine = plain[currency].test(text) && /[1-9]/.test(text);
      expect(amountFinding(text, currency) === null).toBe(isFine);
    }),
    { numRuns: 1000 },
  );
});

it('warns of a name in two scripts and of no name in one', () => {
  expect(mixedScripts('Ad\u0430eze')).toEqual(['Latin', 'Cyrillic']);
  for (const name of ['Oluwaseun Adébáyò', 'Иван', '高橋ひろしサクラ', '김 金', "O'Brien-Smith 2"])
    expect(mixedScripts(name), name).toBeNull();
});

it('makes any file name harmless, and leaves a good one as it is', () => {
  expect(harmlessName('Novembre 2026 é.csv')).toBe('Novembre 2026 é.csv');
  expect(harmlessName('../a\nb\u202e.csv')).toBe('.._a_b_.csv');
  fc.assert(
    fc.property(fc.string({ unit: 'binary', maxLength: 400 }), (name) => {
      const made = harmlessName(name);
      expect(made).not.toMatch(/[\p{Cc}\p{Cf}/]/u);
      expect(made === '' || fileNameFinding(made) !== null).toBe(false);
    }),
  );
});

it('prints a problem so that nothing in a file can hide or turn around what is said', () => {
  const problem = { row: 2, column: 'a\u001b[2Jb', value: 'x\u202ey\n', problem: 'p', fix: 'f' };
  expect(problemSentence(problem)).toBe('row 2, column a<U+001B>[2Jb: "x<U+202E>y\\n" p; f');
  expect(visible('plain é')).toBe('plain é');
});
