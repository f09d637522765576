import { sql } from 'kysely';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { overRows } from '../../src/ledger/bound-rows.ts';
import { makeLedger, type TestLedger } from '../support/ledger.ts';

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

it.each([0, 1, 2, 8, 9, 64, 65, 256, 257, 600])('writes %i rows, each once', async (count) => {
  const rows = Array.from({ length: count }, (_, i) => ({
    place: 2n ** 60n + BigInt(i),
    note: i % 3 === 0 ? null : `n${i}`,
  }));
  await ledger.write((trx) => insert(trx, ['w'], rows));
  expect(await told()).toEqual(rows.map((row) => ({ ...row, word: 'w' })));
});

it('writes a text with NUL or half a character as every database can hold it', async () => {
  await ledger.write((trx) => insert(trx, ['w'], [{ place: 1n, note: 'a\0b\ud800' }]));
  expect(await told()).toEqual([{ place: 1n, note: 'a\uFFFDb\uFFFD', word: 'w' }]);
});
