import { expect, it } from 'vitest';
import { warningLines } from '../../../../src/faces/terminal/submit/warning-lines.ts';

const digit = "the account's check digit does not match its bank";
const warnings = {
  rowWarnings: [
    ...Array.from({ length: 38 }, (_, index) => {
      const row = index + 2;
      return { row, shared: digit, text: `the check digit does not agree with bank code ${row}` };
    }),
    { row: 99, shared: 'account_name mixes letters', text: 'account_name mixes letters' },
  ],
  fileWarnings: ['no line end at its end'],
};

it('38 equal warnings are one line with their number and the first rows', () => {
  const more = 'counterfoil check november.csv --verbose';
  expect(warningLines(warnings, { verbose: false, more })).toEqual([
    `  38 warnings: ${digit}`,
    '     rows 2, 3, 4 and 35 more   see: counterfoil check november.csv --verbose',
    '  warning: row 99: account_name mixes letters',
    '  warning: no line end at its end',
  ]);
});

it('--verbose names every row with its own values', () => {
  const lines = warningLines(warnings, { verbose: true });
  expect(lines).toHaveLength(40);
  expect(lines[0]).toBe('  warning: row 2: the check digit does not agree with bank code 2');
});
