import { expect, it } from 'vitest';
import {
  givenPayeeId,
  payeeKeysOf,
  payeeNameKey,
  payeeNameLetters,
} from '../../../src/core/domain/payee-name.ts';

it.each([
  ['ADEYEMI, Dr. Bọla', 'adeyemi bola', 'case, order, a title, a mark below'],
  ["O'Neil `Ada", 'ada oneil', 'apostrophes'],
  ['Ọlá O’Neil', 'ola oneil', 'a curved apostrophe'],
  ['Søren Straße', 'soren strasse', 'letters that do not fall apart'],
  ['Dr Okonkwo', 'dr okonkwo', 'a title stays beside a single word'],
  ['Dr', 'dr', 'a title alone'],
  ['Ａｄａ Obi 2', '2 ada obi', 'full width, and a number'],
  ['...', '', 'no letters'],
  ['’', '', 'no letters beyond ASCII'],
])('keys the name %j as "%s": %s', (name, key) => {
  expect(payeeNameKey(name)).toBe(key);
});

it.each([
  ['Ada Obi II', 'aabdlo', 'an ordinal does not count'],
  ['ADA OBl', 'aabdlo', 'a small l is a capital I'],
  ['A. B. Obi Ada', 'aabdlo', 'initials do not count'],
  ['Ada 0bi', 'aabdlo', 'a nought is an o'],
  ['Аda Obi', 'aabdlo', 'a Cyrillic letter that looks the same'],
  ['Ada Obi 12 3', 'aabdlo 12 3', 'numbers stand behind, also of one digit'],
  ['3 Ada Obi 12', 'aabdlo 12 3', 'in order'],
  ['Ada Obi 2nd', '2aabddlno', 'a number with letters is a word'],
  ['A B', 'ab', 'initials count where nothing else is left'],
  ['x', 'x', 'one letter'],
  ['Ng Ada Obi', 'aabdglno', 'a name of two letters is no initial'],
  ['李 明', '明李', 'letters of another script'],
])('spells the name %j as "%s": %s', (name, letters) => {
  expect(payeeNameLetters(name)).toBe(letters);
});

it('spells a long text in the same order, by another way', () => {
  const long = `${'zyxwvutsrqponmlkjihgfedcba'.repeat(4)}Ada`;
  expect(payeeNameLetters(long)).toBe(long.toLowerCase().replaceAll('i', 'l').split('').toSorted().join(''));
  const fitting = long.slice(0, 100);
  expect(payeeNameLetters(fitting)).toBe(fitting.replaceAll('i', 'l').split('').toSorted().join(''));
});

it('takes no placeholder for the key of a payee', () => {
  const placeholders = ['N/A', 'n.a.', '000', '-', '??', ' x ', 'none', 'TBC', 'Ｎ/Ａ', '', 'not known'];
  expect(placeholders.map(givenPayeeId)).toEqual(placeholders.map(() => ''));
  expect(['E-7', 'E 0', '10', ' Ann '].map(givenPayeeId)).toEqual(['E-7', 'E 0', '10', ' Ann ']);
});

it('finds a payee again by the letters of the name and by the key, however the file writes it', () => {
  expect(payeeKeysOf({ account_name: 'Ada Obi', payee_id: ' Ｅ-7 ' })).toEqual({
    ...{ name_letters: 'aabdlo', payee_key: 'e-7' },
  });
  expect(payeeKeysOf({ account_name: 'Obi Ada', payee_id: '' })).toEqual({
    ...{ name_letters: 'aabdlo', payee_key: '' },
  });
});
