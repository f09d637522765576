import { expect, it } from 'vitest';
import { rootsNamedBy } from '../../src/core/domain/successor-name.ts';
import { claimAt } from '../support/ledger.ts';
import { again, file, refused, take } from './retry-setting.ts';
import { csv, row } from './setting.ts';

it.each([
  ['', 'A-R2'],
  ['', 'a-abd803-r12'],
  ['ACME-', 'ACME-A-R2'],
])(
  'P20: with the prefix "%s" a plain row %s waits for a person: its retry_of may have been lost',
  async (prefix, reference) => {
    const s = await refused('', 'A');
    const intake = s.again(`intake: { settle_seconds: 0, reference_prefix: "${prefix}" }`);
    const path = s.drop('failed.csv', csv(row(reference, '102', '0123456796')));
    const checked = await intake.check(path);
    const taken = await intake.takeIn(path, { origin: 'inbox' });
    const reason = { kind: 'named_again', row: 2, reference, batch: expect.stringMatching(/^first-/) };
    const holdReasons = [{ ...reason, earlier: expect.stringMatching(/^a$/i), others: 0 }];
    expect(taken).toMatchObject({ kind: 'taken', holdReasons });
    expect(checked.holdReasons, 'and a check foretells it').toEqual(holdReasons);
    expect(await claimAt(s.ledger, s.clock.iso(), 9)).toEqual([]);
  },
);

it('P20: a file says how many of its rows are named so, one that kept its columns waits for nobody', async () => {
  const s = await refused('', 'A', 'B', 'C');
  const lost = csv(row('A-R2', '7'), row('B-R2', '8'), row('NEW', '9'), row('NOBODY-R2', '10'));
  expect(await take(s, lost)).toMatchObject({
    holdReasons: [{ kind: 'named_again', others: 1 }],
  });
  expect(await take(s, file(await again(s, 'C', { amount: '102' })))).toMatchObject({
    kind: 'taken',
    holdReasons: [],
  });
});

it('only the form of a successor names another payment', () => {
  expect(rootsNamedBy('A-R1', '')).toEqual([]);
  expect(rootsNamedBy('A-R02', '')).toEqual([]);
  expect(rootsNamedBy('AR2', '')).toEqual([]);
  expect(rootsNamedBy('-R2', '')).toEqual([]);
  expect(rootsNamedBy('P-A-abcdef-R3', 'P-')).toEqual(['P-A-abcdef', 'P-A', 'A-abcdef', 'A']);
});
