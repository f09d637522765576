import { writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { shareOf } from '../support/repeats.ts';
import { batchOf, csv, head, refusal, row, type Setting, setting } from './setting.ts';

const skip = 'intake: { on_invalid_row: skip_row, settle_seconds: 0 }';
const references = async (s: Setting): Promise<string[]> => {
  const payouts = await s.ledger.db.selectFrom('payouts').select('reference').orderBy('id').execute();
  return payouts.map(({ reference }) => reference);
};

it('cut off at any byte, a batch with control figures is taken whole or refused', async () => {
  const rows = [row('A', '10.25'), row('B', '20').replace('Salary', '"Rent, ""May"",\nlate"'), row('C', '3')];
  const whole = Buffer.from(csv(...rows).replaceAll('Okonkwo', 'Adébáyò'));
  const control = '{"rows": 3, "totals": {"NGN": "33.25"}}';
  for (const yaml of ['', skip]) {
    const s = await setting(yaml);
    let ok = 0;
    const ends = Array.from({ length: whole.length + 1 }, (_, bytes) => bytes);
    // The last bytes all: there a cut is hard to see.
    for (const bytes of new Set([...shareOf(ends, 9), ...ends.slice(-9)])) {
      const file = s.drop('cut.csv', whole.subarray(0, bytes));
      s.drop('cut.csv.control.json', control);
      const checked = await s.intake.check(file);
      expect(checked.ok || checked.problems.length > 0, `cut at ${bytes}`).toBe(true);
      if (checked.ok)
        expect([checked.rows, checked.totals], `cut at ${bytes}`).toEqual([3, { NGN: '33.25' }]);
      ok += checked.ok ? 1 : 0;
    }
    // The last value may lose letters and the line its end: neither is in the figures.
    expect(ok).toBeLessThanOrEqual('Acme'.length + 1);
    const half = whole.indexOf('C,01');
    const said = refusal(
      await s.intake.takeIn(s.drop('cut.csv', whole.subarray(0, half)), { origin: 'inbox' }),
    );
    expect(said).toContain('the control file says 3 rows, the file has 2 that can be paid');
    expect(await references(s)).toEqual([]);
  }
});

it('waits for control figures that are still being written', async () => {
  const s = await setting();
  s.drop('one.csv', csv(row('A')));
  const control = s.drop('one.csv.control.json', '{"ro');
  s.clock.sleep = async (ms) => {
    s.clock.advance(ms);
    writeFileSync(control, '{"rows": 1}');
  };
  expect(await s.intake.takeInbox()).toMatchObject({ taken: [{ kind: 'taken' }], waiting: [] });
});

it('skip_row: what was left out comes back as NAME.invalid.csv, passes mended, and is refused again as it is', async () => {
  const s = await setting(skip);
  const semicolons = (line: string): string => line.replaceAll(',', ';');
  const bad = [
    semicolons(row('B', '2')).replace(';2;', ';1.000,50;'),
    `${semicolons(row('C', '3')).replace('0123456785', '123456785').replace('Okonkwo', 'Adébáyò')}`,
    semicolons(row('D', '4')).replace('Salary', '"a; ""b""\nc"').replace('NGN', 'XXZ'),
  ];
  const content = `${[semicolons(head), semicolons(row('A')), ...bad].join('\n')}\n`;
  const first = await s.intake.takeIn(s.drop('pay.csv', content), { origin: 'inbox' });
  expect(first).toMatchObject({
    kind: 'taken',
    rows: 1,
    delimiter: 'semicolon',
    skipped: { problemCount: 3 },
  });
  const left = s.read('rejected', 'pay.invalid.csv');
  expect(left).toBe(`\ufeff${[semicolons(head), ...bad].join('\r\n').replace('\nc', '\nc')}\r\n`);
  s.drop('pay.invalid.csv', left);
  const again = (await s.intake.takeInbox()).taken;
  expect(again).toMatchObject([{ kind: 'refused', problemCount: 3 }]);
  s.drop('pay.invalid.csv', left.replace('1.000,50', '1000.50').replace(';123456785', ';0123456785'));
  expect((await s.intake.takeInbox()).taken).toMatchObject([
    { kind: 'taken', rows: 2, totals: { NGN: '1003.50' }, skipped: { problemCount: 1 } },
  ]);
  s.drop('whole-again.csv', content);
  expect((await s.intake.takeInbox()).taken).toMatchObject([{ kind: 'refused', batch: batchOf(first) }]);
  expect(await references(s)).toEqual(['A', 'B', 'C']);
});

it('refuses amounts whose sum the ledger could not add up, in one file and over batches', async () => {
  const s = await setting();
  const most = (from: number, count: number): string =>
    csv(
      ...Array.from({ length: count }, (_, i) =>
        row(`R${from + i}`, '999999999999999.99', String(1e9 + from + i)),
      ),
    );
  const far = await s.intake.takeIn(s.drop('one.csv', most(0, 100)), { origin: 'inbox' });
  expect(refusal(far)).toContain(
    'with 0.00 taken before that is more than a ledger adds up (46116860184273879.04)',
  );
  batchOf(await s.intake.takeIn(s.drop('two.csv', most(0, 40)), { origin: 'inbox' }));
  expect(refusal(await s.intake.takeIn(s.drop('three.csv', most(40, 40)), { origin: 'inbox' }))).toContain(
    'with 39999999999999999.60 taken before',
  );
  batchOf(await s.intake.takeIn(s.drop('four.csv', most(80, 6)), { origin: 'inbox' }));
});
