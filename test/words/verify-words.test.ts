import { expect, it } from 'vitest';
import type { LedgerProblem } from '../../src/custody/ledger-problem.ts';
import { checkedText, wordedChecks } from '../../src/words/verify-words.ts';

const row: LedgerProblem = {
  check: 'payees',
  of: 'b-1',
  fact: { kind: 'comparison_row', reference: 'R-1', row: 3 },
};
const begins = { kind: 'period_begins', before: '2026-09' } as const;
const opening = { kind: 'period_opening', before: '2026-09', currency: 'NGN' } as const;
const strays = { kind: 'stray_rows', table: 'attempts', n: 1n, parent: 'payouts' } as const;

it.each<[string, LedgerProblem]>([
  ['payees: b-1: its comparison names R-1 in row 3, which is not there', row],
  [
    'archives: l-2026-11.db: payees: b-1: its comparison names R-1 in row 3, which is not there',
    { check: 'archives', of: 'l-2026-11.db', fact: { kind: 'in_archive', problem: row } },
  ],
  [
    'integrity: not everything could be read: a page is gone',
    { check: 'integrity', of: null, fact: { kind: 'unreadable', said: 'a page is gone' } },
  ],
  [
    'foreign_keys: 1 rows of attempts refer to a row of payouts that does not exist',
    { check: 'foreign_keys', of: null, fact: strays },
  ],
  [
    'periods: 2026-10: it does not begin where 2026-09 ended',
    { check: 'periods', of: '2026-10', fact: begins },
  ],
  [
    'periods: 2026-10: its opening in NGN is not the closing of 2026-09',
    { check: 'periods', of: '2026-10', fact: opening },
  ],
])('says: %s', (text, problem) => {
  expect(checkedText(problem)).toBe(text);
});

it('words what each check found, and keeps its count', () => {
  expect(wordedChecks([{ name: 'payees', ok: false, problems: [row], more: 2 }])).toEqual([
    {
      name: 'payees',
      ok: false,
      problems: ['b-1: its comparison names R-1 in row 3, which is not there'],
      more: 2,
    },
  ]);
});
