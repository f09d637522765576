import { expect, it } from 'vitest';
import {
  checkRow,
  type KnownColumn,
  knownColumn,
  requiredColumns,
} from '../../../src/core/domain/batch-rules.ts';
import { hiddenCharacter } from '../../../src/core/domain/hidden.ts';
import { nubanAgrees } from '../../../src/core/domain/nuban.ts';

const good: Record<KnownColumn, string> = {
  reference: 'PAY-1',
  account_number: '0123456785',
  account_name: 'Adaeze Okonkwo',
  bank_code: '058',
  amount: '100',
  currency: 'NGN',
  narration: 'Salary',
  sender_name: 'Acme',
  type: '',
  pay_on: '',
  payee_id: '',
};
const days = { today: '2026-11-27', payOn: '' };

const found = (change: Partial<Record<KnownColumn, string>>, referencePrefix = ''): string[] => {
  const row = { ...good, ...change };
  const checked = checkRow((column) => row[column], { senderName: '', referencePrefix, ...days });
  return checked.kind === 'ok' ? [] : checked.problems.map((p) => `${p.column}: ${p.problem}; ${p.fix}`);
};

it('takes a good row', () => {
  expect(found({})).toEqual([]);
  expect(found({ currency: 'ZAR', type: 'EFT', account_number: '62001' })).toEqual([]);
});

it('finds every problem of a row at once, each with its fix', () => {
  const all = found({
    reference: '',
    account_number: '1.23E+09',
    bank_code: '58',
    amount: '1,000.50',
    type: 'EFT',
  });
  expect(all).toEqual([
    'reference: is empty; write the reference',
    expect.stringMatching(/^account_number: is in scientific notation/),
    'bank_code: expected 3 to 11 letters and digits; write the leading zeros again, for example 058',
    expect.stringMatching(
      /^amount: has thousands separators; write 1000.50; .*Excel: .*LibreOffice: .*Google/,
    ),
    'type: type is for ZAR only, not NGN; leave it empty',
  ]);
});

it('wants exactly ten digits for NGN and five to twenty elsewhere', () => {
  expect(found({ account_number: '123456789' })[0]).toContain('leading zeros');
  expect(found({ account_number: '1234', currency: 'ZAR' })[0]).toContain('5 to 20');
  expect(found({ account_number: '1'.repeat(21), currency: 'ZAR' })).toHaveLength(1);
});

it('refuses a currency that ISO 4217 does not know, and says how to write one in lower case', () => {
  expect(found({ currency: 'ABC' })[0]).toContain('ISO 4217');
  expect(found({ currency: 'ngn' })[0]).toContain('write NGN');
});

it('refuses a reference without the configured prefix', () => {
  expect(found({}, 'ACME-')).toEqual(['reference: does not begin with ACME-; write ACME-PAY-1']);
});

it('sees what nobody can see, and keeps a line feed where it is allowed', () => {
  expect(hiddenCharacter('a\u200bb', 'narration')).toBe('U+200B');
  expect(hiddenCharacter('a\u202eb', 'narration')).toBe('U+202E');
  expect(hiddenCharacter('a\u2029b', 'narration')).toBe('U+2029');
  expect(hiddenCharacter('a\nb')).toBe('U+000A');
  expect(hiddenCharacter('a\u2028b')).toBe('U+2028');
  expect(hiddenCharacter('a\nb\u2028c', 'narration')).toBeNull();
  expect(hiddenCharacter('a\u2028b', 'header')).toBe('U+2028');
  expect(hiddenCharacter('Adébáyò 李')).toBeNull();
});

it('knows headers whatever their case, spaces and underscores', () => {
  expect([' Account Number', 'ACCOUNT_NUMBER', 'accountnumber'].map(knownColumn)).toEqual(
    Array(3).fill('account_number'),
  );
  expect(knownColumn('department')).toBeNull();
});

it('does not require what the configuration gives', () => {
  expect(requiredColumns({ senderName: 'Acme', referencePrefix: 'A', ...days })).not.toContain('sender_name');
  expect(requiredColumns({ senderName: '', referencePrefix: '', ...days })).toEqual(
    expect.arrayContaining(['sender_name', 'reference']),
  );
});

it('takes the five digits of a Nigerian institution that the check digit confirms, and no others', () => {
  expect(found({ bank_code: '50211', account_number: '2000123451' })).toEqual([]);
  expect(found({ bank_code: '50211', account_number: '2000123452' })).toEqual([
    expect.stringContaining('write 050211'),
  ]);
  expect(found({ bank_code: '50211', account_number: '2000123451', currency: 'ZAR' })).toHaveLength(1);
});

it('checks the last digit of a Nigerian account number and nothing else', () => {
  expect(nubanAgrees('011', '0000014579')).toBe(true);
  expect(nubanAgrees('011', '0000014578')).toBe(false);
  expect(nubanAgrees('50211', '2000123451')).toBe(true);
  expect(nubanAgrees('50211', '2000123452')).toBe(false);
  expect(nubanAgrees('999992', '0000014579')).toBeNull();
});
