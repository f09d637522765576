import { sql } from 'kysely';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { overRows } from '../../../src/core/storage/bound-rows.ts';
import { makeLedger, type TestLedger } from '../../support/ledger.ts';

let ledger: TestLedger;
beforeEach(async () => {
  ledger = await makeLedger();
  await sql.raw('create table told (place integer primary key, note text, word text)').execute(ledger.db);
});
afterEach(() => ledger.remove());

const insert = overRows(
  ['note', 'place'],
  1,
  ({ rows, text, integer, shared }) => sql`insert into told (place, note, word)
    select ${integer('place')}, ${text('note')}, cast(${shared(0)} as text) from ${rows} where ${text('place')} is not null`,
);

const told = async () =>
  (
    await sql<{
      place: bigint;
      note: string | null;
      word: string;
    }>`select * from told order by place`.execute(ledger.db)
  ).rows;

it.each([0, 1, 2, 8, 9, 16, 17, 32, 33, 64, 65, 128, 129, 256, 257, 600])(
  'writes %i rows, each once',
  async (count) => {
    const rows = Array.from({ length: count }, (_, i) => ({
      place: 2n ** 60n + BigInt(i),
      note: i % 3 === 0 ? null : `n${i}`,
    }));
    await ledger.write((trx) => insert(trx, ['w'], rows));
    expect(await told()).toEqual(rows.map((row) => ({ ...row, word: 'w' })));
  },
);

const insertAndTell = overRows(
  ['place'],
  1,
  ({ rows, integer, shared }) => sql<{ place: bigint }>`insert into told (place, word)
    select ${integer('place')}, cast(${shared(0)} as text) from ${rows} where ${integer('place')} is not null returning place`,
);

it('tells what the statement returns, of all its rows and of none that are left over', async () => {
  const rows = Array.from({ length: 300 }, (_, i) => ({ place: BigInt(i) }));
  const returned = await ledger.write((trx) => insertAndTell(trx, ['w'], rows));
  expect(new Set(returned.map(({ place }) => place))).toEqual(new Set(rows.map(({ place }) => place)));
  expect(returned).toHaveLength(300);
});

it('writes a text with NUL or half a character as every database can hold it', async () => {
  await ledger.write((trx) => insert(trx, ['w'], [{ place: 1n, note: 'a\0b\ud800' }]));
  expect(await told()).toEqual([{ place: 1n, note: 'a\uFFFDb\uFFFD', word: 'w' }]);
});
