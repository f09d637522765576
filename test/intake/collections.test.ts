import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import type { NewCollection } from '../../src/core/storage/tables/collection-tables.ts';
import type { TakenCollections } from '../../src/intake/collection-files.ts';
import { dueCollections } from '../../src/watching/collections/collection-watch.sql.ts';
import { expectSome, openFile } from '../../src/watching/collections/expectations.sql.ts';
import { type Setting, setting } from './setting.ts';

const head = 'reference,amount,currency';

/** Drops a file of expected collections and takes in what lies there. */
async function take(at: Setting, content: string | Buffer, name = 'invoices.csv'): Promise<TakenCollections> {
  const path = place(at, name);
  writeFileSync(path, content);
  const { taken } = await at.intake.takeCollections();
  const [one] = taken;
  if (!one) throw new Error('nothing was taken or refused');
  return one;
}

function place(at: Setting, name: string): string {
  const path = join(at.path('inbox', 'collections'), name);
  mkdirSync(dirname(path), { recursive: true });
  return path;
}

const refusal = (one: TakenCollections): string =>
  one.kind === 'refused'
    ? one.problems.map((p) => `row ${p.row} ${p.column} ${p.value} ${p.problem}; ${p.fix}`).join('\n')
    : `taken as ${one.id}`;
const promises = (at: Setting) =>
  at.ledger.db
    .selectFrom('collections')
    .select(['reference', 'expected_amount', 'expected_currency', 'state', 'row_number'])
    .orderBy('id')
    .execute();

it('a file of expected collections is taken once, moved to the archive, and asked about', async () => {
  const at = await setting('intake: { settle_seconds: 0 }');
  const bom = '\ufeffReference;AMOUNT;currency;customer\r\nINV-1;1500.5;NGN;Ada\r\nINV-2;20;ZAR;Chidi\r\n';
  const one = await take(at, bom);
  expect(one).toMatchObject({
    kind: 'taken',
    id: expect.stringMatching(/^collections-invoices-20261121-[0-9a-f]{6}$/),
    rows: 2,
    totals: { NGN: '1500.50', ZAR: '20.00' },
    skipped: null,
  });
  if (one.kind !== 'taken') return;
  expect(await promises(at)).toEqual([
    {
      reference: 'INV-1',
      expected_amount: 150_050n,
      expected_currency: 'NGN',
      state: 'expected',
      row_number: 2n,
    },
    {
      reference: 'INV-2',
      expected_amount: 2_000n,
      expected_currency: 'ZAR',
      state: 'expected',
      row_number: 3n,
    },
  ]);
  expect(at.names('archive')).toEqual([`${one.id}--invoices.csv`]);
  const due = { at: at.clock.iso(), limit: 10 };
  expect(await dueCollections(at.ledger.db, due)).toHaveLength(2);
  const again = await take(
    at,
    'amount,reference,customer,currency\n1500.5,INV-1,Ada,NGN\n20,INV-2,Chidi,ZAR\n',
  );
  expect(refusal(again)).toBe(
    `row 0   this content was already taken as ${one.id} on 2026-11-21; nothing to do with this file: what it expects is watched`,
  );
  expect(await promises(at)).toHaveLength(2);
});

it('every problem of every row is told at once beside the refused file, and nothing of it is expected', async () => {
  const at = await setting('intake: { settle_seconds: 0 }');
  const rows = [
    'IN V,10,NGN',
    'INV-2,"1,000",NGN',
    'INV-3,10,NGX',
    'inv-4,0,NGN',
    'INV-4,10,NGN',
    ',1.005,NGN',
  ];
  const one = await take(at, `${head}\n${rows.join('\n')}\n`);
  expect(refusal(one).split('\n')).toEqual([
    'row 2 reference IN V expected letters, digits, _ and -, beginning with a letter or digit; replace or remove the other characters',
    expect.stringContaining('row 3 amount 1,000 has thousands separators; write 1000; '),
    expect.stringContaining('row 4 currency NGX'),
    expect.stringContaining('row 5 amount 0 not above zero'),
    'row 6 reference INV-4 is already the reference of row 5; give each row a reference of its own',
    'row 7 reference  is empty; write the reference',
    expect.stringContaining('row 7 amount 1.005 expected a decimal with at most 2 digits'),
  ]);
  expect(at.names('rejected')).toEqual(['invoices.csv', 'invoices.errors.csv']);
  expect(at.read('rejected', 'invoices.errors.csv')).toContain('row,column,value,problem,fix');
  expect(await promises(at)).toEqual([]);
  expect(refusal(await take(at, 'reference,sum\nA,1\n'))).toContain(
    'row 1 amount  missing; add a column with the header amount',
  );
  expect(refusal(await take(at, `${head}\n`))).toContain('the file has a header and no rows');
  expect(refusal(await take(at, Buffer.from([0xff, 0xfe, 0x41, 0])))).toContain('UTF-16');
});

it('P22: a reference is expected once for ever, whatever its case; skip_row takes the rest', async () => {
  const at = await setting(
    'intake: { settle_seconds: 0, on_invalid_row: skip_row, reference_prefix: ACME- }',
  );
  await take(at, `${head}\nINV-1,10,NGN\n`);
  const one = await take(at, `${head}\ninv-1,12,NGN\nINV-2,5,NGN\n`, 'more.csv');
  expect(one).toMatchObject({ kind: 'taken', rows: 1, skipped: { problemCount: 1 } });
  expect(at.read('rejected', 'more.errors.csv')).toContain('is expected already, by collections-invoices-');
  expect(at.read('rejected', 'more.invalid.csv')).toContain('inv-1,12,NGN');
  expect((await promises(at)).map((row) => row.expected_amount)).toEqual([1_000n, 500n]);
});

it('P23: what a crash left half promised is taken back, and its file taken whole', async () => {
  const at = await setting('intake: { settle_seconds: 0 }');
  const file = { id: 'collections-half' };
  const row = { row: 2, reference: 'INV-1', referenceKey: 'inv-1', amount: 999n, currency: 'NGN' };
  await at.ledger.write(async (trx) => {
    await openFile(trx, {
      ...file,
      file_name: 'invoices.csv',
      content_hash: 'half',
      row_count: 2n,
      created_at: at.clock.iso(),
    });
    await expectSome(trx, file.id, at.clock.iso(), [row]);
  });
  const due = { at: at.clock.iso(), limit: 10 };
  expect(await dueCollections(at.ledger.db, due), 'not asked about before it counts').toEqual([]);
  expect(await take(at, `${head}\nINV-1,10,NGN\nINV-2,5,NGN\n`)).toMatchObject({ kind: 'taken', rows: 2 });
  expect((await promises(at)).map((one) => one.expected_amount)).toEqual([1_000n, 500n]);
  expect(await at.ledger.db.selectFrom('collection_files').select('id').execute()).toHaveLength(1);
});

it('P23: a crash before the move never refuses a taken file, nor touches another one in its place', async () => {
  const at = await setting('intake: { settle_seconds: 0 }');
  const content = `${head}\nINV-1,10,NGN\n`;
  const one = await take(at, content);
  if (one.kind !== 'taken') throw new Error(refusal(one));
  // As if the process had died after the commit: the file lies where it lay, and the move is open.
  writeFileSync(place(at, 'invoices.csv'), content);
  const target = at.path('archive', `${one.id}--moved.csv`);
  await at.ledger.db.updateTable('file_moves').set({ done_at: null, target }).execute();
  expect((await at.intake.takeCollections()).taken).toEqual([]);
  expect(readFileSync(target, 'utf8')).toBe(content);
});

it('what was heard or verified before it was expected is judged by the expectation at once', async () => {
  const at = await setting('intake: { settle_seconds: 0 }');
  const known = (reference: string, other: Partial<NewCollection>) =>
    at.ledger.db
      .insertInto('collections')
      .values({
        reference,
        reference_key: reference.toLowerCase(),
        state: 'received',
        verified_at: at.clock.iso(),
        verified_status: 'success',
        verified_amount: '10.00',
        verified_currency: 'NGN',
        updated_at: at.clock.iso(),
        ...other,
      })
      .execute();
  await known('INV-1', {});
  await known('INV-2', { verified_amount: '9.00' });
  await known('INV-3', { state: 'heard', heard_at: at.clock.iso(), verified_status: null });
  await known('INV-4', { verified_amount: null });
  await take(at, `${head}\nINV-1,10,NGN\nINV-2,10,NGN\ninv-3,10,NGN\nINV-4,10,NGN\n`);
  expect((await promises(at)).map((row) => [row.reference, row.state, row.expected_amount])).toEqual([
    ['INV-1', 'received', 1_000n],
    ['INV-2', 'conflict', 1_000n],
    ['INV-3', 'heard', 1_000n],
    ['INV-4', 'expected', 1_000n],
  ]);
});

it('control figures beside the file are compared', async () => {
  const at = await setting('intake: { settle_seconds: 2 }');
  writeFileSync(place(at, 'invoices.csv.control.json'), '{"rows": 2, "totals": {"NGN": "15.00"}}');
  const one = await take(at, `${head}\nINV-1,10,NGN\n`);
  expect(refusal(one)).toContain('the control file says 2 rows, the file has 1');
});
