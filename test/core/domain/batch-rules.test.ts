import { expect, it } from 'vitest';
import { createBanks } from '../../../src/core/domain/banks.ts';
import {
  checkRow,
  type KnownColumn,
  knownColumn,
  type RowRules,
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

type Cells = Partial<Record<KnownColumn, string | undefined>>;
const check = (change: Cells, rules: Partial<RowRules> = {}) => {
  const row: Cells = { ...good, ...change };
  return checkRow((column) => row[column], { senderName: '', referencePrefix: '', ...days, ...rules });
};
const found = (change: Cells, referencePrefix = '', rules: Partial<RowRules> = {}): string[] => {
  const checked = check(change, { referencePrefix, ...rules });
  return checked.kind === 'ok' ? [] : checked.problems.map((p) => `${p.column}: ${p.problem}; ${p.fix}`);
};

it('takes a good row', () => {
  expect(found({})).toEqual([]);
  expect(found({ currency: 'ZAR', type: 'EFT', account_number: '62001' })).toEqual([]);
});

it('reads the cells of a good row, and what the configuration gives for empty ones', () => {
  const zar = {
    currency: 'ZAR',
    account_number: '62001',
    type: 'RTC',
    pay_on: '2026-12-01',
    payee_id: 'E-7',
  };
  expect(check(zar)).toEqual({
    kind: 'ok',
    row: {
      ...{ reference: 'PAY-1', accountNumber: '62001', accountName: 'Adaeze Okonkwo', bankCode: '058' },
      ...{ amount: 10_000n, currency: 'ZAR', narration: 'Salary', senderName: 'Acme' },
      ...{ type: 'RTC', payOn: '2026-12-01', payeeId: 'E-7' },
    },
  });
  expect(check({ ...zar, type: 'EFT' })).toMatchObject({ row: { type: 'EFT' } });
  expect(check({ sender_name: '' }, { senderName: 'Beta', payOn: '2026-12-02' })).toMatchObject({
    row: { senderName: 'Beta', type: null, payOn: '2026-12-02', payeeId: '' },
  });
});

it('reads a row of a file that lacks the columns which it need not have', () => {
  const lacking = {
    ...{ reference: undefined, sender_name: undefined },
    ...{ type: undefined, pay_on: undefined, payee_id: undefined },
  };
  expect(check(lacking, { senderName: 'Beta' })).toMatchObject({
    kind: 'ok',
    row: { reference: null, senderName: 'Beta', type: null, payOn: '', payeeId: '' },
  });
});

it('a row without an amount that can be read is never good, whoever says why', () => {
  expect(check({ amount: undefined })).toEqual({ kind: 'bad', problems: [] });
  expect(check({ amount: '1\u200b0' })).toEqual({ kind: 'bad', problems: [] });
});

it('leaves a missing column to the check of the header', () => {
  expect([found({ sender_name: undefined }), found({ account_number: undefined })]).toEqual([[], []]);
});

it('leaves a hidden character to the check that names it', () => {
  expect(found({ account_number: '01234\u200b56785' })).toEqual([]);
});

it.each<[string, Cells, string[]]>([
  ['no account number', { account_number: ' ' }, ['account_number: is empty; write the account_number']],
  [
    'no sender',
    { sender_name: '' },
    ['sender_name: is empty; write the sender_name, or set intake.sender_name'],
  ],
  [
    'a long reference',
    { reference: 'x'.repeat(51) },
    ['reference: has 51 characters; at most 50 are allowed; shorten it'],
  ],
  ['the longest reference', { reference: 'x'.repeat(50) }, []],
  [
    'a blank in a reference',
    { reference: 'PAY 1' },
    [expect.stringMatching(/^reference: expected letters, digits/)],
  ],
  [
    'a reference that became a date',
    { reference: '3-Nov' },
    [expect.stringMatching(/^reference: is a date.*; if it is meant so, write 3-NOV$/)],
  ],
  [
    'a reference that became a date with slashes',
    { reference: '03/11/2026' },
    [expect.stringMatching(/^reference: is a date.*paste the reference again from its source$/)],
  ],
  [
    'a reference that became a number',
    { reference: '1.2E+11' },
    [expect.stringMatching(/^reference: is in scientific notation/)],
  ],
  [
    'an unknown currency',
    { currency: 'ABC' },
    ['currency: is not a currency of ISO 4217; write the three letters of ISO 4217, for example NGN'],
  ],
  [
    'an amount in an unknown currency',
    { currency: 'ABC', amount: '1.234' },
    [expect.stringMatching(/^currency: /)],
  ],
  [
    'separators in an unknown currency',
    { currency: 'ABC', amount: '1,000' },
    [expect.stringMatching(/^currency: /), expect.stringMatching(/^amount: has thousands separators/)],
  ],
  ['three digits of a dinar', { currency: 'KWD', amount: '1.234' }, []],
  [
    'a comma in dinars',
    { currency: 'KWD', amount: '1,234' },
    [expect.stringMatching(/^amount: has a comma that may separate thousands or decimals/)],
  ],
  [
    'a type in rand',
    { currency: 'ZAR', type: 'SWIFT' },
    ['type: expected EFT or RTC; write EFT or RTC, or leave it empty'],
  ],
  [
    'a day that is none',
    { pay_on: '2026-02-30' },
    ['pay_on: is no day of the calendar; write a day that there is'],
  ],
])('says what is wrong with %s', (_, change, problems) => {
  expect(found(change)).toEqual(problems);
});

const text = 'format the column as text before typing or importing';
it.each<[string, Cells, string[]]>([
  [
    'eleven digits for NGN',
    { account_number: '01234567851' },
    ['account_number: expected exactly 10 digits for NGN, got 11; write all 10 digits'],
  ],
  [
    'nine digits that no zero completes',
    { account_number: '123456784' },
    [
      'account_number: expected exactly 10 digits for NGN, got 9; a spreadsheet may have dropped leading zeros; write all 10 digits',
    ],
  ],
  [
    'nine digits that a zero completes',
    { account_number: '123456785' },
    [
      `account_number: expected exactly 10 digits for NGN, got 9; a spreadsheet may have dropped leading zeros; write 0123456785, whose check digit is right, if that is what the source says; ${text}`,
    ],
  ],
  [
    'a decimal point, with a bank that has no check digit',
    { account_number: '0123456785.0', bank_code: '000013' },
    [
      `account_number: has a decimal point: a spreadsheet took it for a number; write 0123456785, if that is what the source says; ${text}`,
    ],
  ],
  [
    'a decimal point in rand',
    { account_number: '62001234567.00', currency: 'ZAR' },
    [
      `account_number: has a decimal point: a spreadsheet took it for a number; write 62001234567, if that is what the source says; ${text}`,
    ],
  ],
  [
    'a decimal',
    { account_number: '62001.5', currency: 'ZAR' },
    [
      `account_number: has a decimal point: a spreadsheet took it for a number; ${text}, and type or paste the account number again`,
    ],
  ],
  [
    'letters',
    { account_number: 'NG12E5' },
    ['account_number: expected digits only; remove spaces, signs and letters'],
  ],
  [
    'zeros after the 15th digit',
    { account_number: '12345678901234500000', currency: 'ZAR' },
    [expect.stringMatching(/^account_number: has zeros only after its 15th digit/)],
  ],
  ['twenty digits', { account_number: '1'.repeat(20), currency: 'ZAR' }, []],
])('says what is wrong with an account number: %s', (_, change, problems) => {
  expect(found(change)).toEqual(problems);
});

const short = (currency: string): string =>
  `bank_code: has 5 digits, which no bank code for ${currency} has; a spreadsheet may have dropped a leading zero`;
it.each<[string, Cells, string[]]>([
  [
    'five digits in rand',
    { bank_code: '51001', currency: 'ZAR' },
    [`${short('ZAR')}; write 051001, if that is what the bank's list says; ${text}`],
  ],
  [
    'five digits of a code that began with 09, which the check digit would confirm',
    { bank_code: '90405', account_number: '2000123452' },
    [`${short('NGN')}; write 090405, if that is what the bank's list says; ${text}`],
  ],
  ['five digits elsewhere', { bank_code: '12345', currency: 'KES' }, []],
  [
    'two digits that the check digit completes',
    { bank_code: '58' },
    [
      `bank_code: expected 3 to 11 letters and digits; write 058, if that is what the bank's list says; ${text}`,
    ],
  ],
  [
    'neither letters nor digits',
    { bank_code: '5!' },
    ["bank_code: expected 3 to 11 letters and digits; write the bank's code"],
  ],
])('says what is wrong with a bank code: %s', (_, change, problems) => {
  expect(found(change)).toEqual(problems);
});

it('finds a bank code that is not in the list of the service, and proposes the one that is meant', () => {
  const banks = createBanks([{ code: '000013', name: 'GTBank', aliases: [] }]);
  const unlisted = "bank_code: is not in the service's list of bank codes (intake.banks_file)";
  const withBanks = (bank_code: string): string[] => found({ bank_code }, '', { banks });
  expect(withBanks('000013')).toEqual([]);
  expect(withBanks('058')).toEqual([`${unlisted}; write 000013 (GTBank), if that is the bank; ${text}`]);
  expect(withBanks('999')).toEqual([
    `${unlisted}; write the code that the list has for this bank, or add the bank to the list`,
  ]);
  expect(withBanks('5!')).toEqual(["bank_code: expected 3 to 11 letters and digits; write the bank's code"]);
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
  const always = ['account_number', 'account_name', 'bank_code', 'amount', 'currency', 'narration'];
  expect(requiredColumns({ senderName: 'Acme', referencePrefix: 'A', ...days })).toEqual(always);
  expect(requiredColumns({ senderName: '', referencePrefix: '', ...days })).toEqual([
    ...['reference', ...always, 'sender_name'],
  ]);
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
  expect(nubanAgrees('011', '000001457')).toBeNull();
});

it('notices one wrong digit in a bank code or an account number, whichever it is', () => {
  for (const bank of ['234', '51234']) {
    const last = Array.from({ length: 10 }, (_, digit) => digit).find((digit) =>
      nubanAgrees(bank, `123456789${digit}`),
    );
    const digits = `${bank}123456789${last}`;
    for (const [i, digit] of digits.split('').entries())
      for (let more = 1; more < 10; more++) {
        const wrong = `${digits.slice(0, i)}${(Number(digit) + more) % 10}${digits.slice(i + 1)}`;
        expect(nubanAgrees(wrong.slice(0, bank.length), wrong.slice(bank.length)), wrong).toBe(false);
      }
  }
});
