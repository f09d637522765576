import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { addPayout, columns, makeWorld, type World } from '../../books/support.ts';

const batch = 'b-20261121-000001';
let world: World;
beforeEach(async () => {
  world = await makeWorld();
});
afterEach(() => world.close());

const path = (): string => join(world.reports, batch, 'failed.csv');
const rows = (): string[][] => parse(readFileSync(path(), 'utf8'), { bom: true });
const refused = (n: number): Promise<bigint> =>
  addPayout(world.ledger, `R${n}`, ['ready', 'sending', 'refused'], { message: 'Invalid account' });

it('holds what came to nothing with the columns of the batch, and goes when none is left', async () => {
  await addPayout(world.ledger, 'R1', ['ready', 'sending', 'pending', 'success']);
  const id = await refused(2);
  const cells = JSON.stringify(['R3', '0123456789', '=SUM(A1)', '058', '100', 'NGN', "'-x"]);
  await addPayout(world.ledger, 'R3', ['ready', 'sending', 'refused'], { cells });
  const written = await world.reporting.writeBatchResults(batch);
  expect(written).toMatchObject({ files: [expect.any(String), expect.any(String), path()], skipped: [] });
  expect(rows()[0]).toEqual([...columns, 'retry_of', 'retry_evidence', 'reason']);
  expect(
    rows()
      .slice(1)
      .map((row) => [row[0], row[1], row[2], row[6], row[7], row.at(-1)]),
  ).toEqual([
    ['R2-R2', '0123456789', 'Ada Obi', 'ok', 'R2', 'refused: the service did not take it: Invalid account'],
    ['R3-R2', '0123456789', "'=SUM(A1)", "''-x", 'R3', 'refused: the service did not take it'],
  ]);
  await world.ledger.db
    .updateTable('payouts')
    .set({ state: 'success' })
    .where('reference', '=', 'R3')
    .execute();
  await addPayout(world.ledger, 'R2-R2', ['ready'], { successor_of: id });
  await world.reporting.writeBatchResults(batch, { force: true });
  expect(existsSync(path())).toBe(false);
});

it('leaves out what cannot be paid again now, and says how many and how to learn why', async () => {
  await addPayout(world.ledger, 'R1', ['ready', 'sending', 'failed'], { evidence: 'person' });
  const { files, skipped } = await world.reporting.writeBatchResults(batch);
  expect([files.length, existsSync(path())]).toEqual([2, false]);
  expect(skipped).toEqual([
    expect.stringContaining(`lacks 1 that cannot be paid again now; counterfoil retry --batch ${batch}`),
  ]);
});

it('holds as many rows as one file may pay again, and says that more follow', async () => {
  const [first] = [await refused(0)];
  const one = await world.ledger.db
    .selectFrom('payouts')
    .selectAll()
    .where('id', '=', first ?? 0n)
    .executeTakeFirstOrThrow();
  const { id: _, ...rest } = one;
  const copies = Array.from({ length: 1004 }, (__, i) => {
    const reference = `S${i}`;
    return { ...rest, reference, reference_key: reference.toLowerCase(), row_number: BigInt(10_000 + i) };
  });
  for (let from = 0; from < copies.length; from += 200)
    await world.ledger.db
      .insertInto('payouts')
      .values(copies.slice(from, from + 200))
      .execute();
  const { skipped } = await world.reporting.writeBatchResults(batch);
  expect(rows()).toHaveLength(1001);
  expect(skipped).toEqual([expect.stringContaining('it holds the first 1000; 5 more follow')]);
});

it('is not written while account numbers are hidden, since a hidden one pays nobody', async () => {
  await refused(1);
  await world.reporting.writeBatchResults(batch);
  expect(existsSync(path())).toBe(true);
  const { skipped } = await world.with('{ mask_accounts: true }').writeBatchResults(batch, { force: true });
  expect([existsSync(path()), skipped.length]).toEqual([false, 1]);
});
