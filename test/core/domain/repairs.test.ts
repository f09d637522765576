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
  const left = ['123456784', '1.23E+09', '1.23456789012345E+15', '1E+99', '5', 'x', '', '1234567890.5'];
  for (const value of left) expect(repairedAccount(value, 'NGN', '058'), value).toBeNull();
  expect(repairedAccount('123456785', 'NGN', '090405'), 'no check digit to go by').toBeNull();
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
