import { cpSync, existsSync, mkdtempSync, readdirSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { readSheet } from 'read-excel-file/node';
import { afterAll, beforeEach, describe, expect, it } from 'vitest';
import writeExcelFile from 'write-excel-file/node';
import { batchOf, type Home, makeHome } from '../../../support/cli.ts';
import { inProcess } from '../../../support/in-process.ts';

let home: Home;
/** The data folder of a troubled home, from the first test on. */
let kept: string | undefined;

/** Two amounts differ and one transfer is nobody's: three discrepancies open. */
async function trouble(): Promise<void> {
  await home.json(['submit', home.put('pay.csv', batchOf(4))], 0);
  await home.sandbox.settleAll();
  for (const transfer of home.sandbox.book.transfers()) {
    if (transfer.reference === 'PAY-0002') home.sandbox.book.change(transfer.id, { amount: '1.00' });
    if (transfer.reference === 'PAY-0003')
      home.sandbox.book.change(transfer.id, { account_number: '0987654321' });
    if (transfer.reference === 'PAY-0004')
      home.sandbox.book.change(transfer.id, { fee: '77.00', domain: 'live' });
  }
  await home.json(['reconcile'], 4);
}

const listed = async (code = 4) => (await home.json(['discrepancies'], code)).discrepancies;
const idOf = async (kind: string): Promise<string> => {
  const found = (await listed()).find((one: { kind: string }) => one.kind === kind);
  return found.discrepancy_id;
};

const atHome = async (): Promise<Home> =>
  inProcess(await makeHome({}, { COUNTERFOIL_RECEIVER_ENABLED: 'false' }));

// The trouble is had once; each further test begins with a copy of what the ledger then knew.
beforeEach(async () => {
  home = await atHome();
  const data = join(home.dir, 'data');
  if (kept !== undefined) return cpSync(kept, data, { recursive: true });
  await trouble();
  kept = mkdtempSync(join(tmpdir(), 'counterfoil-troubled-'));
  cpSync(data, kept, { recursive: true });
});
afterAll(() => {
  if (kept !== undefined) rmSync(kept, { recursive: true, force: true });
});

it('lists every column of the report, the gravest and oldest first, with the whole life of each', async () => {
  const [first, ...others] = await listed();
  expect(others).toHaveLength(2);
  expect(Object.keys(first)).toEqual(
    expect.arrayContaining(
      'discrepancy_id,kind,severity,reference,batch,trx,transfer_id,currency,expected,actual,difference,first_seen_at,last_seen_at,age_days,state,evidence,action,note,life'.split(
        ',',
      ),
    ),
  );
  expect(first).toMatchObject({ age_days: 0, state: 'open', life: [{ event: 'opened' }] });
  const text = (await home.run(['discrepancies'])).out;
  expect(text).toContain('3 open; the gravest and oldest first');
  expect(text).toMatch(
    /Amount conflict +PAY-0002 +−1,001\.50 +now\n {4}D-\w+ {2}expected 1,002\.50, found 1\.00\n/,
  );
  expect(text).toContain('Stop further payments');
  expect((await home.run(['discrepancies', '--older-than', '1'])).out).toContain('no open discrepancies');
});

it('a person’s word is kept with who said it, said twice it changes nothing, and show tells it', async () => {
  const id = await idOf('amount_conflict');
  const done = await home.json(['discrepancies', 'ack', id, '--note', 'ticket 4711'], 4);
  expect(done).toMatchObject({ changed: 1, open: { beneficiary_conflict: 1, mode_conflict: 1 } });
  expect(await home.json(['ack', id], 4)).toMatchObject({ changed: 0 });
  const resolved = await home.run(['resolve', id, '--note', 'the service paid the rest']);
  expect(resolved.out).toContain('1 resolved; still open: 1 beneficiary_conflict, 1 mode_conflict');
  const again = await home.run(['resolve', id, '--note', 'once more']);
  expect(again.out).toContain(`${id} is resolved by a person already: the service paid the rest`);
  const { discrepancies } = await home.json(['show', 'PAY-0002'], 0);
  expect(discrepancies[0].life.map(({ event }: { event: string }) => event)).toEqual([
    'opened',
    'acknowledged',
    'resolved',
  ]);
  expect((await home.run(['show', 'PAY-0002'])).out).toMatch(
    /Amount conflict resolved \(D-\w+\): the service paid the rest {3}\[by \S+\]/,
  );
});

it('a wrong id is exit 2, names it and changes nothing; resolve wants a note', async () => {
  const id = await idOf('amount_conflict');
  const wrong = await home.run(['resolve', id, 'D-000000000000', '--note', 'x']);
  expect(wrong).toMatchObject({ code: 2, err: expect.stringContaining('no discrepancy "D-000000000000"') });
  expect((await home.run(['resolve', id])).err).toContain('--note: say what was done about it');
  expect((await home.run(['resolve', id, '--kind', 'amount_conflict', '--note', 'x'])).code).toBe(2);
  expect((await home.run(['discrepancies', 'mend', id])).code).toBe(2);
  expect(await listed()).toHaveLength(3);
});

it('in bulk it says how many it changed, and no filter is no bulk', async () => {
  expect((await home.run(['resolve', '--note', 'all of it'])).err).toContain('name ids, or narrow');
  expect(await listed()).toHaveLength(3);
  const bulk = ['resolve', '--kind', 'amount_conflict', '--note', 'agreed'];
  expect(await home.json(bulk, 4)).toMatchObject({ changed: 1 });
  expect(await home.json(bulk, 4)).toMatchObject({ changed: 0 });
});

it('when the last one is dealt with the exit code is 0', async () => {
  const ids = (await listed()).map((one: { id: string }) => one.id);
  expect(await home.json(['resolve', ...ids, '--note', 'all clear'], 0)).toMatchObject({
    changed: 3,
    open: {},
  });
  expect(await home.json(['discrepancies'], 0)).toMatchObject({ discrepancies: [], open: {} });
});

describe('the workbook for people', () => {
  type Row = (string | number | boolean | Date | null)[];
  const file = (): string => join(home.dir, 'open.xlsx');

  async function exported(): Promise<Row[]> {
    await home.json(['discrepancies', '--export', 'open.xlsx', '--yes'], 4);
    return (await readSheet(file())).map((row) =>
      row.map((cell) => (typeof cell === 'function' ? null : cell)),
    );
  }

  /** Fills in decision and note as a spreadsheet would, and saves under the same name. */
  async function fill(
    rows: Row[],
    decide: (row: Row, header: Row) => [string, string] | null,
  ): Promise<void> {
    const [header = [], ...others] = rows;
    const filled = others.map((row) => {
      const word = decide(row, header);
      return word ? [...row.slice(0, -2), ...word] : row;
    });
    await writeExcelFile([header, ...filled], { sheet: 'discrepancies' }).toFile(file());
  }

  const cell = (row: Row, header: Row, name: string) => row[header.indexOf(name)];
  const bring = (code: number) => home.json(['discrepancies', '--import', 'open.xlsx'], code);

  it('has the columns of discrepancies.csv and two to fill in; a decision is applied once, a second time is told', async () => {
    const rows = await exported();
    expect(rows[0]?.join(',')).toBe(
      'discrepancy_id,kind,severity,reference,batch,trx,transfer_id,currency,expected,actual,difference,first_seen_at,last_seen_at,age_days,state,evidence,action,note_so_far,decision,note',
    );
    expect(rows).toHaveLength(4);
    await fill(rows, (row, header) =>
      cell(row, header, 'kind') === 'amount_conflict' ? ['resolve', 'paid the rest'] : ['ack', 'ticket 4711'],
    );
    expect(await bring(0)).toMatchObject({ changed: 3, already: 0, open: {} });
    expect(await bring(0)).toMatchObject({ changed: 0, already: 3 });
    const said = await home.run(['discrepancies', '--import', 'open.xlsx']);
    expect(said.out).toContain('nothing was changed: the file was imported before');
    const left = await listed(0);
    expect(left.map((one: { state: string; note: string }) => [one.state, one.note])).toEqual([
      ['acknowledged', 'ticket 4711'],
      ['acknowledged', 'ticket 4711'],
    ]);
  });

  it('an account number keeps its leading zero, and is no number', async () => {
    const rows = await exported();
    const [header = []] = rows;
    const row = rows.find((one) => cell(one, header, 'kind') === 'beneficiary_conflict') ?? [];
    expect(cell(row, header, 'actual')).toBe('058/0987654321');
  });

  it('every bad row is named with what mends it, and none of the file is applied', async () => {
    const rows = await exported();
    await home.json(['ack', await idOf('mode_conflict')], 4);
    await fill(rows, (row, header) => {
      const kind = cell(row, header, 'kind');
      if (kind === 'amount_conflict') return ['solve', 'x'];
      return kind === 'mode_conflict' ? ['resolve', 'fine'] : ['resolve', ''];
    });
    const { problems, changed } = await bring(3);
    expect(changed).toBe(0);
    const told = problems.map((one: { column: string; problem: string }) => `${one.column}: ${one.problem}`);
    expect(told.toSorted()).toEqual([
      'decision: is no decision',
      'note: a decision needs a note',
      'state: has changed since the export: it is acknowledged now',
    ]);
    const text = await home.run(['discrepancies', '--import', 'open.xlsx']);
    expect(text.out).toMatch(
      /row \d, column decision: "solve" is no decision; write ack or resolve, or nothing/,
    );
    expect((await listed()).filter((one: { state: string }) => one.state === 'open')).toHaveLength(2);
  });

  it('what was found since differs from what the person saw: the row is refused', async () => {
    // The service itself is asked again: its own transfers must be there.
    home = await atHome();
    await trouble();
    const rows = await exported();
    for (const transfer of home.sandbox.book.transfers())
      if (transfer.reference === 'PAY-0002') home.sandbox.book.change(transfer.id, { amount: '2.00' });
    await home.json(['reconcile'], 4);
    await fill(rows, (row, header) =>
      cell(row, header, 'kind') === 'amount_conflict' ? ['ack', 'seen'] : null,
    );
    expect((await bring(3)).problems).toMatchObject([{ column: 'actual', value: '1.00' }]);
  });

  it('never writes over a workbook that somebody may have filled in, unless told to', async () => {
    await exported();
    const again = await home.run(['discrepancies', '--export', 'open.xlsx']);
    expect(again).toMatchObject({ code: 2, err: expect.stringContaining('is there already') });
    expect(existsSync(file())).toBe(true);
  });

  it('writes no workbook under the name of another kind of file', async () => {
    const wrong = await home.run(['discrepancies', '--export', 'open.csv']);
    expect(wrong).toMatchObject({
      code: 2,
      err: expect.stringContaining('name a workbook, such as open.xlsx'),
    });
    expect(existsSync(join(home.dir, 'open.csv'))).toBe(false);
  });

  it('what could not be read back is not written, and the file that is there stays', async () => {
    await exported();
    const before = statSync(file()).ino;
    const ledger = new Database(join(home.dir, 'data', 'ledger.db'));
    // As much as a cell holds, in so many rows that they are 170 MB.
    ledger.exec(`with recursive n (i) as (select 1 union all select i + 1 from n where i < 5300)
      insert into discrepancies (id, kind, subject, reference, currency, expected, actual, difference, severity,
        evidence, advice, state, note, first_seen_at, last_seen_at, last_run_id)
      select 'L-' || i, kind, 'L-' || i, reference, currency, expected, actual, difference, severity,
        substr(hex(zeroblob(16000)), 1, 32000), advice, state, note, first_seen_at, last_seen_at, last_run_id
      from n, (select * from discrepancies limit 1)`);
    ledger.close();
    const again = await home.run(['discrepancies', '--export', 'open.xlsx', '--yes']);
    expect(again).toMatchObject({ code: 2, err: expect.stringContaining('could not be read back') });
    expect(again.err).toContain('unpacked it is larger than 160 MiB. Narrow them with --kind');
    expect(statSync(file()).ino).toBe(before);
    expect(readdirSync(home.dir).filter((name) => name.includes('open.xlsx'))).toEqual(['open.xlsx']);
  });

  it('more than a workbook holds are not cut short: it says how many, and writes none', async () => {
    await exported();
    const ledger = new Database(join(home.dir, 'data', 'ledger.db'));
    ledger.exec(`with recursive n (i) as (select 1 union all select i + 1 from n where i < 100001)
      insert into discrepancies (id, kind, subject, reference, currency, expected, actual, difference, severity,
        evidence, advice, state, note, first_seen_at, last_seen_at, last_run_id)
      select 'M-' || i, kind, 'M-' || i, reference, currency, expected, actual, difference, severity,
        evidence, advice, state, note, first_seen_at, last_seen_at, last_run_id
      from n, (select * from discrepancies limit 1)`);
    ledger.close();
    const all = await home.run(['discrepancies', '--export', 'all.xlsx']);
    expect(all).toMatchObject({ code: 2, err: expect.stringMatching(/10\d{4} .*workbook holds 100000/) });
    expect(existsSync(join(home.dir, 'all.xlsx'))).toBe(false);
  });

  it.each([
    ['no workbook', Buffer.from('reference,decision\n'), 'it is no workbook'],
    [
      'a zip that is cut off',
      Buffer.from('PK\u0003\u0004 and no more', 'latin1'),
      'it is damaged, or no workbook',
    ],
  ])('%s is refused in a sentence', async (_, content, why) => {
    home.put('open.xlsx', content);
    const done = await home.run(['discrepancies', '--import', 'open.xlsx']);
    expect(done.code).toBe(3);
    expect(done.out).toContain(`this cannot be read as a workbook: ${why}`);
  });

  it('a workbook without the columns is refused, each named, and no file is exit 2', async () => {
    await writeExcelFile([['discrepancy_id', 'decision']]).toFile(file());
    const { problems } = await bring(3);
    expect(problems.map((one: { column: string }) => one.column)).toEqual([
      'expected',
      'actual',
      'state',
      'note',
    ]);
    expect((await home.run(['discrepancies', '--import', 'nowhere.xlsx'])).code).toBe(2);
  });

  it('a decision that is a number, and a date for a note, are told as what they are', async () => {
    const rows = await exported();
    const [header = [], first = []] = rows;
    const strange = [...first.slice(0, -2), 1, 'note'];
    await writeExcelFile([header, strange]).toFile(file());
    expect((await bring(3)).problems).toMatchObject([{ row: 2, column: 'decision', value: '1' }]);
  });
});
