import { expect, it } from 'vitest';
import { isSameName } from '../../../src/core/domain/same-name.ts';

it.each([
  ['Adaeze Okonkwo', 'ADAEZE OKONKWO', 'case'],
  ['Adaeze Okonkwo', 'OKONKWO, ADAEZE', 'the order of words, and punctuation'],
  ['Adaeze Okonkwo', 'OKONKWO ADAEZE CHIOMA', 'a middle name that only the bank has'],
  ['Adaeze Chioma Grace Okonkwo', 'Okonkwo Adaeze', 'two middle names that only the payroll has'],
  ['Dr. Adaeze Okonkwo', 'MRS ADAEZE OKONKWO', 'titles'],
  ['Alhaji Musa Bello', 'CHIEF MUSA BELLO', 'titles of another kind'],
  ['Prince Okonkwo', 'OKONKWO PRINCE', 'a title that is a name'],
  ['Prince Okonkwo', 'PRINCE CHIDI OKONKWO', 'a title that is a name, beside a middle name'],
  ['A. Okonkwo', 'ADAEZE OKONKWO', 'an initial in the file'],
  ['Adaeze C. Okonkwo', 'OKONKWO A CHIOMA', 'initials on both sides'],
  ['José Núñez', 'JOSE NUNEZ', 'accents'],
  ['Ọlá Ṣadé', 'OLA SADE', 'marks below letters'],
  ['Søren Møller', 'SOREN MOLLER', 'letters without a decomposition'],
  ["Chidi O'Neil", 'CHIDI ONEIL', 'an apostrophe'],
  ["Chidi O'Neil", 'O NEIL CHIDI', 'an apostrophe written as a space'],
  ['Jean-Pierre Bola', 'JEANPIERRE BOLA', 'a hyphen'],
  ['Acme Ltd.', 'ACME LIMITED', 'a company'],
  ['Smith & Sons', 'SMITH AND SONS', 'an ampersand'],
  ['ACME', 'Acme', 'a single word that is the whole name'],
  ['"ACME"', 'Acme', 'quotes around it'],
  ['Adaeze Okonkwo', 'GRACE ADAEZE OKONKWO CHIOMA', 'a name in front and one behind'],
  ['A O', 'O A', 'the same initials in another order'],
  ['Ng A.', 'NG ADAEZE', 'a family name of two letters'],
  ['Chidi Jean Pierre', 'CHIDI JEANPIERRE', 'two neighbours as one, behind another name'],
  ['Jean Pierre Bola Ada Obi', 'JEANPIERRE BOLA', 'two neighbours as one, before names that only one has'],
  ['a b c d e f g h i j k lo', 'LO A B C D E F G H I J K', 'twelve words in another order'],
  ['Ａｄａ Ｏｂｉ', 'ADA OBI', 'full-width letters'],
])('takes "%s" and "%s" for one name: %s', (ours, theirs) => {
  expect(isSameName(ours, theirs)).toBe(true);
  expect(isSameName(theirs, ours)).toBe(true);
});

it.each([
  ['Adaeze Okonkwo', 'CHIDI OKONKWO', 'another first name'],
  ['Adaeze Okonkwo', 'ADAEZE OKAFOR', 'another family name'],
  ['Adaeze', 'ADAEZE OKONKWO', 'one word is too little'],
  ['Okonkwo', 'CHIEF OKONKWO', 'one word and a title'],
  ['Chief Okonkwo', 'DR OKONKWO', 'one word and two titles'],
  ['A O', 'ADAEZE OKONKWO', 'initials alone'],
  ['A. Okonkwo', 'CHIDI OKONKWO', 'another initial'],
  ['Acme Ltd', 'ACME PLC', 'another company'],
  ['Acme Ltd', 'ACME FOUNDATION LTD ABUJA STAFF ACCOUNT', 'too many other words'],
  ['Adaeze Okonkwo', 'ADAEZE O****O', 'a masked name'],
  ['Adaeze Adaeze', 'ADAEZE OKONKWO', 'a word counts once'],
  ['Mr', '', 'no name'],
  ['...', '***', 'no letters'],
  ['...', '', 'nothing at all'],
  ['Adaeze Okonkwo', 'GRACE ADAEZE CHIOMA OKONKWO NGOZI', 'three other names'],
  ['A. O.', 'A OBI', 'one initial that agrees'],
  ['Ada Okonkwo', 'ADAEZE OKONKWO', 'a name that begins like the other'],
  ['a b c d e f g h i j k lo', 'A B C D E F G H I J K LO M', 'more words than a name has'],
  ['Ада Оби', 'ADA OBI', 'letters of another script that look alike'],
])('takes "%s" and "%s" for two names: %s', (ours, theirs) => {
  expect(isSameName(ours, theirs)).toBe(false);
  expect(isSameName(theirs, ours)).toBe(false);
});

it('refuses a text that is longer than any name, at once', () => {
  const long = Array.from({ length: 20_000 }, (_, i) => `w${i}`).join(' ');
  const began = performance.now();
  expect(isSameName(long, `${long} x`)).toBe(false);
  expect(performance.now() - began).toBeLessThan(500);
});
