import { expect, it } from 'vitest';
import { cancelUnsent } from '../../src/sending/decisions/cancel-unsent.sql.ts';
import { claimAt, recordOutcome, replies } from '../support/ledger.ts';
import { csv, head, refusal, row, setting } from './setting.ts';

const refused = async (content: string | Buffer, yaml = ''): Promise<string> => {
  const s = await setting(yaml);
  const taken = await s.intake.takeIn(s.drop('bad.csv', content), { origin: 'inbox' });
  expect(await s.ledger.db.selectFrom('payouts').selectAll().execute()).toEqual([]);
  expect(await s.ledger.db.selectFrom('batches').selectAll().execute()).toEqual([]);
  expect(s.names('inbox')).toEqual([]);
  expect(s.names('rejected')).toEqual(['bad.csv', 'bad.errors.csv']);
  expect(s.read('rejected', 'bad.errors.csv')).toMatch(/^\ufeffrow,column,value,problem,fix\r\n/);
  return refusal(taken);
};

it('refuses an empty file, a header alone and a file without header in a clear sentence', async () => {
  expect(await refused('')).toContain('the file is empty');
  expect(await refused(`${head}\n\n,,,,\n`)).toContain('a header and no rows');
  expect(await refused(`${row('A')}\n`)).toContain('the first line is no header');
});

it('names a missing and a repeated column once, not once a row', async () => {
  const said = await refused(csv(row('A'), row('B')).replace('account_number', 'reference'));
  expect(said.split('\n')).toEqual([
    expect.stringContaining('row 1 reference  named twice, in cells 1 and 2'),
    expect.stringContaining('row 1 account_number  missing; add a column'),
  ]);
});

it('refuses what is not UTF-8 text, and says what it is', async () => {
  expect(await refused(Buffer.from('\ufeffa,b\n', 'utf16le'))).toContain('UTF-16');
  expect(await refused(Buffer.from([0x50, 0x4b, 3, 4, 0, 0]))).toContain('workbook');
  expect(await refused(Buffer.from(`${csv(row('A'))}\0`))).toContain('NUL');
  expect(await refused(Buffer.from(csv(row('A'), row('B').replace('Adaeze', 'José')), 'latin1'))).toContain(
    'row 3   holds the byte 0xE9, which is not UTF-8: the file is Windows-1252',
  );
});

it('reads a character that two reads share', async () => {
  const s = await setting('intake: { max_rows: 5000 }');
  const rows = Array.from({ length: 5000 }, (_, i) =>
    row(`R${i}`, String(i + 1)).replace('Adaeze', 'Adébáyò李'),
  );
  const checked = await s.intake.check(s.drop('wide.csv', csv(...rows)));
  expect(checked.problems).toEqual([]);
  expect(checked.rows).toBe(5000);
});

it('refuses a file above max_bytes or max_rows', async () => {
  expect(await refused(csv(row('A')), 'intake: { max_bytes: 50 }')).toContain('at most 50 are allowed');
  expect(await refused(csv(row('A'), row('B', '2')), 'intake: { max_rows: 1 }')).toContain(
    'more than 1 rows',
  );
});

it('refuses ragged rows, open quotes and endless records even with skip_row', async () => {
  const skip = 'intake: { on_invalid_row: skip_row }';
  expect(await refused(csv(row('A'), 'B,1'), skip)).toContain(
    'row 3   has 2 cells; the header has 8 columns',
  );
  expect(await refused(csv(row('A'), '', row('B', '2')), skip)).toContain(
    'row 3   an empty row between rows',
  );
  expect(await refused(csv(row('A'), `"${row('B')}`), skip)).toContain('never closed');
  expect(await refused(csv(row('A').replace('Salary', 'x'.repeat(140_000))), skip)).toContain('131072 bytes');
});

it('reports every problem of every row at once and lists them in the errors file with formulas disarmed', async () => {
  const s = await setting();
  const taken = await s.intake.takeIn(
    s.drop('bad.csv', csv(row('A', '=1+1'), row('a', '2'), row('C', '3', '12'))),
    { origin: 'inbox' },
  );
  expect(refusal(taken).split('\n')).toHaveLength(3);
  expect(refusal(taken)).toContain('row 3 reference a is already the reference of row 2');
  expect(s.read('rejected', 'bad.errors.csv')).toContain(`2,amount,'=1+1,`);
});

it('refuses invisible characters but keeps a line feed in a quoted narration', async () => {
  expect(await refused(csv(row('A').replace('Okonkwo', 'Okon\u200bkwo')))).toContain('U+200B');
  const s = await setting();
  const checked = await s.intake.check(s.drop('ok.csv', csv(row('A').replace('Salary', '"two\r\nlines"'))));
  expect(checked.problems).toEqual([]);
});

it('refuses a file whose control figures differ, from beside it or given with it', async () => {
  const s = await setting();
  const file = s.drop('n.csv', csv(row('A'), row('B', '2.50')));
  s.drop('n.csv.control.json', '{"rows": 3, "totals": {"NGN": "102.50"}}');
  const told = { origin: 'named' as const, rows: 2, totals: { NGN: '102.5', ZAR: '1.00' } };
  const said = refusal(await s.intake.takeIn(file, told));
  expect(said).toContain('the control file says 3 rows, the file has 2');
  expect(said).toContain('the figures given say ZAR 1.00, the file holds 0.00');
  expect(said).not.toContain('NGN');
});

it('refuses a path without a file', async () => {
  const s = await setting();
  expect(refusal(await s.intake.takeIn('/nowhere/x.csv', { origin: 'named' }))).toContain('no such file');
});

it('never overwrites an earlier rejected file', async () => {
  const s = await setting();
  for (const n of [1, 2])
    await s.intake.takeIn(s.drop('bad.csv', csv(row('A', `-${n}`))), { origin: 'inbox' });
  expect(s.names('rejected')).toEqual(['bad-2.csv', 'bad-2.errors.csv', 'bad.csv', 'bad.errors.csv']);
});

it.each([
  ['was turned away once may have been taken', true, 'new ones would pay again'],
  ['was never sent may be paid', false, 'drop it again with new references'],
])('P8: of a file that was cancelled, what %s', async (_, isTried, fix) => {
  const s = await setting();
  const takeIn = (name: string, reference: string) =>
    s.intake.takeIn(s.drop(name, csv(row(reference))), { origin: 'named' });
  const taken = await takeIn('pay.csv', 'A');
  const batch = taken.kind === 'taken' ? taken.batch : '';
  const [claimed] = isTried ? await claimAt(s.ledger, s.clock.iso()) : [];
  if (claimed) await recordOutcome(s.ledger, s.clock.iso(), claimed, replies.turnedAway());
  const order = { batch, at: s.clock.iso(), source: 'person:ada', why: 'cancelled by ada' };
  expect(await cancelUnsent(s.ledger, order)).toMatchObject({ cancelled: 1 });
  expect(refusal(await takeIn('pay.csv', 'A'))).toContain(fix);
  const other = csv(row('a'), row('B'));
  expect(refusal(await s.intake.takeIn(s.drop('other.csv', other), { origin: 'named' }))).toContain(
    isTried ? 'a new reference would pay it again' : 'it was never sent',
  );
});
