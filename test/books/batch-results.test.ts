import { mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';
import { parse } from 'csv-parse/sync';
import readSheets from 'read-excel-file/node';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { writeAtomically, writeWhole } from '../../src/core/storage/atomic-file.ts';
import { addBatch, addPayout, columns, makeWorld, type World } from './support.ts';

const batch = 'b-20261121-000001';
let world: World;
beforeEach(async () => {
  world = await makeWorld();
});
afterEach(() => world.close());
const read = (): string => readFileSync(join(world.reports, batch, 'results.csv'), 'utf8');

describe('results of a batch', () => {
  it('gives the input columns as they came, then ours, byte for byte', async () => {
    await addPayout(world.ledger, 'R1', ['ready', 'sending', 'pending', 'success'], {
      cells: JSON.stringify(['R1', '0123456789', 'Ada, "A"', '058', '100', 'NGN', 'two\nlines']),
      transfer_id: '77',
      trx: 'X1',
      fee: '10.755',
      message: '=bad',
      evidence: 'response+listing',
      submitted_at: '2026-11-21T13:03:05.123Z',
      settled_at: '2026-11-21T13:04:00.000Z',
    });
    const result = await world.reporting.writeBatchResults(batch);
    expect(result).toMatchObject({ batch, changed: true, skipped: [] });
    expect(read()).toBe(
      '\ufeffreference,Account Number,account_name,bank_code,amount,currency,note,payout_state,transfer_id,trx,fee,message,submitted_at,settled_at,evidence,open_discrepancy,paid_again_as\r\n' +
        'R1,0123456789,"Ada, ""A""",058,100,NGN,"two\nlines",success,77,X1,10.755,\'=bad,2026-11-21T14:03:05.123+01:00,2026-11-21T14:04:00.000+01:00,response+listing,,\r\n',
    );
    expect(
      readFileSync(result.files[1] ?? '')
        .subarray(0, 2)
        .toString(),
    ).toBe('PK');
  });

  it('says in plain words that no answer came, with the cause in brackets', async () => {
    await addPayout(world.ledger, 'R1', ['ready', 'sending', 'unknown'], {
      message: 'no answer: UND_ERR_SOCKET other side closed',
    });
    await world.reporting.writeBatchResults(batch);
    expect(read()).toContain(
      ',the connection broke before an answer came (UND_ERR_SOCKET other side closed),',
    );
  });

  it('reads back as the rows of the file in their order, over several pages, formulas neutralised', async () => {
    for (let n = 0; n < 1_203; n++) {
      const cells = [`R${n}`, '0123456789', '=cmd()', '058', '-12.50', 'NGN', '-5'];
      await addPayout(world.ledger, `R${n}`, ['ready'], {
        row_number: BigInt(5_000 - n),
        cells: JSON.stringify(cells),
      });
    }
    await world.with('{ delimiter: ";", bom: false }').writeBatchResults(batch);
    const rows: string[][] = parse(read(), { delimiter: ';' });
    expect(rows).toHaveLength(1_204);
    expect(rows[0]?.slice(0, 7)).toEqual(columns);
    expect(rows.slice(1).map((row) => row[0])).toEqual(
      Array.from({ length: 1_203 }, (_, n) => `R${1_202 - n}`),
    );
    expect(rows[1]?.slice(1, 8)).toEqual(['0123456789', "'=cmd()", '058', '-12.50', 'NGN', '-5', 'ready']);
  });

  it('keeps a sheet within 16,384 columns, ours among them, and says where the rest is', async () => {
    const wide = Array.from({ length: 16_400 }, (_, n) => `c${n}`);
    await world.ledger.db
      .updateTable('batches')
      .set({ columns: JSON.stringify(wide) })
      .execute();
    await addPayout(world.ledger, 'R1', ['ready'], {
      cells: JSON.stringify(wide.map((name) => `${name} of R1`)),
    });
    const { files, skipped } = await world.reporting.writeBatchResults(batch);
    const [header = [], first = []] = (await readSheets(files[1] ?? ''))[1]?.data ?? [];
    expect(header).toHaveLength(16_384);
    expect(header.slice(16_372, 16_376)).toEqual([
      'c16372',
      '27 more columns: see results.csv',
      'payout_state',
      'transfer_id',
    ]);
    expect(first.slice(16_372, 16_375)).toEqual(['c16372 of R1', null, 'ready']);
    expect(skipped).toEqual([expect.stringContaining('27 of 16400 columns of the file')]);
    expect(read().split(',')).toHaveLength(2 * 16_400 + 19);
  });

  it('writes no workbook of more cells than an archive can hold', async () => {
    const wide = Array.from({ length: 1_000 }, (_, n) => `c${n}`);
    await world.ledger.db
      .updateTable('batches')
      .set({ columns: JSON.stringify(wide), row_count: 20_001n })
      .execute();
    const { files, skipped } = await world.reporting.writeBatchResults(batch);
    expect(files.map((file) => basename(file))).toEqual(['results.csv']);
    expect(skipped).toEqual([
      expect.stringMatching(/20001 rows of 1000 columns .* they are in .*results\.csv$/),
    ]);
  });

  it('is written again only when the version changed since, or when forced', async () => {
    await addPayout(world.ledger, 'R1', ['ready']);
    expect(await world.reporting.writeDueBatchResults()).toHaveLength(2);
    expect(await world.reporting.writeDueBatchResults()).toEqual([]);
    expect(await world.reporting.writeBatchResults(batch)).toMatchObject({ files: [], changed: false });
    const before = read();
    expect((await world.reporting.writeBatchResults(batch, { force: true })).files).toHaveLength(2);
    expect(read()).toBe(before);
    await world.ledger.db.updateTable('batches').set({ version: 9n }).execute();
    expect(await world.reporting.writeDueBatchResults()).toHaveLength(2);
  });

  it('stays due when another process wrote results meanwhile', async () => {
    await addPayout(world.ledger, 'R1', ['ready']);
    await Promise.all([world.reporting.writeBatchResults(batch), world.reporting.writeBatchResults(batch)]);
    expect(await world.reporting.writeDueBatchResults()).toHaveLength(2);
    expect(await world.reporting.writeDueBatchResults()).toEqual([]);
  });

  it('masks the account number column whatever its spelling, when asked to', async () => {
    await addPayout(world.ledger, 'R1', ['ready']);
    await world.with('{ mask_accounts: true }').writeBatchResults(batch);
    expect(read()).toContain('R1,******6789,Ada Obi');
    expect(read()).not.toContain('0123456789');
  });

  it('writes no workbook above 100,000 rows and says so', async () => {
    await addBatch(world.ledger, 'big', { rowCount: 100_001n });
    const result = await world.reporting.writeBatchResults('big');
    expect(result.files).toEqual([join(world.reports, 'big', 'results.csv')]);
    expect(result.skipped.join()).toContain('100001 rows');
  });
});

describe('a report file', () => {
  it('stays as it was, with nothing left beside it, when writing breaks off half-way', async () => {
    const path = join(world.reports, 'a.csv');
    await writeAtomically(path, 'old');
    const broken = writeWhole(path, async (write) => {
      await write('half of the new');
      throw new Error('disk full');
    });
    await expect(broken).rejects.toThrow('disk full');
    expect(readFileSync(path, 'utf8')).toBe('old');
    expect(readdirSync(world.reports)).toEqual(['a.csv']);
  });

  it('takes away what a killed process left half written a day ago, and nothing younger', async () => {
    for (const name of ['.writing-old', '.writing-young', 'kept'])
      mkdirSync(join(world.reports, name), { recursive: true });
    writeFileSync(join(world.reports, '.writing-old', 'a.csv'), 'half');
    for (const name of ['.writing-old', 'kept']) utimesSync(join(world.reports, name), 0, 0);
    await writeAtomically(join(world.reports, 'a.csv'), 'new');
    expect(readdirSync(world.reports).toSorted()).toEqual(['.writing-young', 'a.csv', 'kept']);
  });

  it('is replaced in one step, never written in place', async () => {
    const path = join(world.reports, 'a.csv');
    await writeAtomically(path, 'old');
    let seen = '';
    await writeWhole(path, async (write) => {
      await write('new');
      seen = readFileSync(path, 'utf8');
    });
    expect([seen, readFileSync(path, 'utf8')]).toEqual(['old', 'new']);
  });
});
