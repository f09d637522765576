import { expect, it } from 'vitest';
import { columnWarnings, meantColumn, misnamedColumn } from '../../../src/core/domain/column-names.ts';

it.each([
  ['Account No', 'account_number', 'another name for it'],
  ['Bank', 'bank_code', 'a short name for it'],
  ['Sort-Code', 'bank_code', 'another name with signs'],
  ['account-number', 'account_number', 'our own name with a sign'],
  ['Type:', 'type', 'a short name of ours with a sign'],
  ['acount numbr', 'account_number', 'two slips'],
  ['currenzi', 'currency', 'two slips in eight letters'],
  ['amoumt', 'amount', 'one slip in six letters'],
])('takes the header "%s" for %s: %s', (header, column) => {
  expect(meantColumn(header)).toBe(column);
});

it.each([
  ['amount', 'it is known'],
  ['Account Number', 'it is known in this writing too'],
  ['a"mount', 'a quote has a problem of its own'],
  ['account\u200bno', 'so has a hidden character'],
  ['amoun', 'too short for a slip'],
  ['currencies', 'three letters away'],
  ['department', 'nothing like it'],
  ['...', 'no letters'],
  ['x'.repeat(31), 'longer than any name'],
])('takes the header "%s" for none of ours: %s', (header) => {
  expect(meantColumn(header)).toBeNull();
});

it.each([
  ['pay-on', 'pay_on', 'a sign in it'],
  ['paym_on', 'pay_on', 'one letter more'],
  ['pay on date', 'pay_on', 'its longer name'],
  ['pay on dat', 'pay_on', 'a slip in its longer name'],
  ['pay_0n', 'pay_on', 'a nought for the o'],
  ['pаy_on', 'pay_on', 'a Cyrillic letter'],
  ['páy_on', 'pay_on', 'an accent'],
  ['раyее_id', 'payee_id', 'several Cyrillic letters'],
  ['payee-ld', 'payee_id', 'a small l for the capital I'],
  ['payeeid1', 'payee_id', 'one digit more'],
])('sees in "%s" a misspelt %s: %s', (header, column) => {
  expect(misnamedColumn(header)).toBe(column);
});

it.each([
  ['pay_on', 'it is the name itself'],
  ['payee_id', 'so is this'],
  ['payor', 'another word'],
  ['Payer ID', 'another word with a blank'],
  ['pay_no', 'two letters away'],
  ['department', 'nothing like it'],
  ['x'.repeat(31), 'longer than any name'],
])('sees in "%s" no misspelt name of ours: %s', (header) => {
  expect(misnamedColumn(header)).toBeNull();
});

const plain = 'columns kept for the results, and not acted on:';

it('warns of each column that orders what is not done, and of all others together', () => {
  const columns = ['reference', 'Due date', ' notify ', 'E-mail', 'hold', 'frequency', 'team', ' ', 'floor'];
  expect(columnWarnings(columns)).toEqual([
    'column Due date: no date is acted on but pay_on: its rows will be paid at once',
    'column notify: nobody is notified: Counterfoil writes to no payee',
    'column E-mail: nobody is notified: Counterfoil writes to no payee',
    'column hold: it stops nothing: its rows will be paid, whatever the column says',
    'column frequency: each row is paid once',
    `${plain} team, floor`,
  ]);
});

it('says nothing of columns that are known, and takes an address for an order only beside one to notify', () => {
  expect(columnWarnings(['reference', 'Amount', ' '])).toEqual([]);
  expect(columnWarnings(['email', 'team'])).toEqual([`${plain} email, team`]);
  expect(columnWarnings(['email', 'notify'])).toHaveLength(2);
  expect(columnWarnings(['notify', 'team'])).toHaveLength(2);
  expect(columnWarnings(['due date'])).toHaveLength(1);
});

it('knows the columns of a failed.csv only where it is one', () => {
  expect(columnWarnings(['reference', 'retry_of', 'retry_evidence', 'reason'])).toEqual([]);
  expect(columnWarnings(['retry_of', 'team'])).toEqual([`${plain} team`]);
  expect(columnWarnings(['reference', 'reason'])).toEqual([`${plain} reason`]);
});

it('names twelve columns, and how many more there are', () => {
  const named = Array.from({ length: 12 }, (_, i) => `c${i}`);
  expect(columnWarnings(named)).toEqual([`${plain} ${named.join(', ')}`]);
  expect(columnWarnings([...named, 'x'])).toEqual([`${plain} ${named.join(', ')}, and 1 more`]);
});
