import { execFileSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { existsSync, mkdirSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { lyingInInbox } from '../../src/intake/inbox.ts';
import { csv, refusal, row, type Setting, setting } from './setting.ts';

const now = 'intake: { settle_seconds: 0 }';
const batches = (s: Setting): Promise<{ file_name: string }[]> =>
  s.ledger.db.selectFrom('batches').select('file_name').orderBy('created_at').execute();

it('takes names with spaces, a leading dash, quotes, dots, letters of any script and .CSV', async () => {
  const s = await setting(now);
  const names = [
    '-rf.csv',
    '$(reboot).csv',
    'a  b.CSV',
    "it's;.csv",
    'NOVEMBRE é 李.csv',
    '..x..csv.csv',
    '\\..\\up.csv',
  ];
  for (const [i, name] of names.entries()) s.drop(name, csv(row(`R${i}`, String(i + 1))));
  const { taken } = await s.intake.takeInbox();
  expect(taken.filter(({ kind }) => kind === 'taken')).toHaveLength(names.length - 1);
  expect(s.names('inbox'), 'hidden files are uploads under way').toEqual(['..x..csv.csv']);
  for (const one of taken)
    expect(one.kind === 'taken' ? one.batch : '').toMatch(/^[a-z0-9][a-z0-9-]*-20261121-[0-9a-f]{6}$/);
});

it('refuses a name that hides or turns its letters, or is too long to be kept, and goes on', async () => {
  const s = await setting(now);
  const names = [
    'a\nb.csv',
    'gpj\u202e.csv',
    'a\u200bb.csv',
    `${'x'.repeat(251)}.csv`,
    `${'é'.repeat(120)}.csv`,
    '\u001b[2J.csv',
  ];
  for (const [i, name] of names.entries()) s.drop(name, csv(row(`R${i}`, String(i + 1))));
  s.drop('good.csv', csv(row('G', '99')));
  const { taken } = await s.intake.takeInbox();
  const refused = taken.filter((one) => one.kind === 'refused');
  expect(refused).toHaveLength(names.length);
  for (const one of refused)
    expect(refusal(one)).toMatch(/the file's name (holds the invisible|has 2\d\d bytes)/);
  expect(await batches(s)).toEqual([{ file_name: 'good.csv' }]);
  expect(s.names('inbox')).toEqual([]);
  expect(s.names('rejected')).toHaveLength(names.length * 2);
  for (const name of s.names('rejected')) expect(name).toMatch(/^[\p{L}\p{N}_.[\]-]+$/u);
});

it('leaves links, folders, pipes, foreign names and other files alone, each with a sentence, and never hangs', async () => {
  const s = await setting(now);
  const outside = join(s.path('inbox', '..'), 'outside.csv');
  writeFileSync(outside, csv(row('X', '7')));
  symlinkSync(outside, s.path('inbox', 'link.csv'));
  symlinkSync('/nowhere', s.path('inbox', 'dangling.csv'));
  mkdirSync(s.path('inbox', 'folder.csv'));
  execFileSync('mkfifo', [s.path('inbox', 'pipe.csv')]);
  writeFileSync(
    Buffer.concat([Buffer.from(`${s.path('inbox', '')}/`), Buffer.from([0xff, 0xe9]), Buffer.from('.csv')]),
    csv(row('Y', '8')),
  );
  s.drop('note.txt', 'hello');
  s.drop('old.errors.csv', 'row,column,value,problem,fix\r\n');
  s.drop('good.csv', csv(row('G', '99')));
  s.drop('good.csv.done', '');
  s.drop('march.xlsx', 'PK');
  const lying = await lyingInInbox(s.path('inbox', ''));
  expect(lying.files, 'a spreadsheet waits too: to be refused').toBe(2);
  rmSync(s.path('inbox', 'march.xlsx'));
  const { taken, ignored } = await s.intake.takeInbox();
  expect(lying.ignored).toEqual(ignored);
  expect(taken).toMatchObject([{ kind: 'taken' }]);
  expect(ignored.map(({ name, why }) => `${name}: ${why}`).toSorted()).toEqual([
    'dangling.csv: it is a link; put the file itself here',
    'folder.csv: it is a folder; put the file itself here',
    'link.csv: it is a link; put the file itself here',
    'note.txt: its name does not end in .csv; rename it if it is a batch',
    'old.errors.csv: it lists the problems of a file and is no batch; remove it',
    'pipe.csv: it is no regular file; put the file itself here',
    '��.csv: its name is not UTF-8; rename it',
  ]);
  expect(existsSync(outside)).toBe(true);
});

it('refuses what is named and is no file, or may not be read, without a trace', async () => {
  const s = await setting();
  execFileSync('mkfifo', [s.path('archive', 'pipe.csv')]);
  symlinkSync('circle.csv', s.path('archive', 'circle.csv'));
  const said = async (path: string): Promise<string> => {
    expect((await s.intake.check(path)).ok).toBe(false);
    return refusal(await s.intake.takeIn(path, { origin: 'named' }));
  };
  expect(await said(s.path('archive', 'pipe.csv'))).toContain('this is not a file');
  expect(await said(s.path('inbox', ''))).toContain('this is not a file');
  expect(await said(s.path('archive', 'circle.csv'))).toContain('a circle of links');
  expect(await said('/dev/zero')).toContain('this is not a file');
  expect(await said(`/tmp/${'x'.repeat(300)}.csv`)).toContain('the path is too long');
  expect(await said('/tmp/a\0b.csv')).toContain('holds a NUL');
  expect(await said('/proc/self/mem')).toMatch(/empty|not a file|may not be read/);
  expect(s.names('rejected').filter((name) => !name.startsWith('mem'))).toEqual([]);
});

it('refuses a dropped spreadsheet with the way to save it right, and keeps it under its own name', async () => {
  const s = await setting(now);
  for (const name of ['pay.xlsx', 'pay.XLS', 'pay.ods', 'pay.numbers']) s.drop(name, 'PK');
  const { taken } = await s.intake.takeInbox();
  for (const one of taken)
    expect(refusal(one)).toMatch(
      /this is a spreadsheet \(\.\w+\), not CSV; .*Excel: .*LibreOffice: .*Google/,
    );
  expect(s.names('rejected').filter((name) => !name.endsWith('.errors.csv'))).toEqual(
    ['pay-2.numbers', 'pay-3.ods', 'pay-4.xlsx', 'pay.XLS'].toSorted(),
  );
});

it('control figures that are a pipe, a folder, a flood or of another shape refuse the file', async () => {
  const control: ((path: string) => void)[] = [
    (path) => execFileSync('mkfifo', [path]),
    (path) => mkdirSync(path),
    (path) => symlinkSync('/dev/zero', path),
    (path) => writeFileSync(path, ' '.repeat(70_000)),
    (path) => writeFileSync(path, ''),
    (path) => writeFileSync(path, '{"rows": "1"}'),
    (path) => writeFileSync(path, '{"rows": 1, "total": {}}'),
    (path) => writeFileSync(path, '{"totals": {"__proto__": "1.00"}}'),
    (path) => writeFileSync(path, '{"totals": {"ngn": "100.00"}}'),
    (path) => writeFileSync(path, '{"rows": 1'),
  ];
  for (const make of control) {
    const s = await setting(now);
    s.drop('one.csv', csv(row('A')));
    make(s.path('inbox', 'one.csv.control.json'));
    const [taken] = (await s.intake.takeInbox()).taken;
    expect(taken && refusal(taken)).toContain('the control file is not of the expected form');
  }
});

it('P23: gives back a file that took the name of the read one before it was moved', async () => {
  const s = await setting(now);
  // So large that it is still being read when another takes its name.
  const large = Buffer.alloc(200_000_000, 'x');
  const sha256 = createHash('sha256').update(large).digest('hex');
  const task = { source: s.drop('one.csv', large), target: s.path('archive', 'b-1--one.csv') };
  const row1 = { ...task, kind: 'archive' as const, bytes: BigInt(large.length), sha256 };
  await s.ledger.db
    .insertInto('file_moves')
    .values({ ...row1, owner: 'b-1', created_at: s.clock.iso(), done_at: null })
    .execute();
  s.drop('.next', csv(row('B', '2')));
  const moved = s.intake.takeCollections();
  await new Promise((resume) => setTimeout(resume, 20));
  renameSync(s.path('inbox', '.next'), s.path('inbox', 'one.csv'));
  expect(s.names('archive'), 'the file is still being read').toEqual([]);
  await moved;
  expect([s.names('inbox'), s.names('archive')]).toEqual([['one.csv'], []]);
  expect(await s.again(now).takeInbox()).toMatchObject({ taken: [{ kind: 'taken', rows: 1 }] });
});
