import { chmodSync, rmSync } from 'node:fs';
import { expect, it } from 'vitest';
import {
  acknowledgeRejected,
  openRejectedFiles,
  recordRefusal,
  rejectedNamed,
} from '../../src/core/ledger/rejected-files.ts';
import { at } from '../support/ledger.ts';
import { csv, row, type Setting, setting } from './setting.ts';

const bad = csv(row('A'), row('B', '-1'));
const skip = 'intake: { on_invalid_row: skip_row, settle_seconds: 0 }';
const reject = 'intake: { settle_seconds: 0 }';

async function open({ ledger }: Setting): Promise<string[]> {
  const files = await openRejectedFiles(ledger.db);
  return files.map(({ kind, name, problems, rows_left: rows }) => `${kind} ${name} ${problems} ${rows}`);
}

it('P34: keeps a refused file until a good one of its name is taken', async () => {
  const s = await setting(reject);
  s.drop('november.csv', bad);
  await s.intake.takeInbox();
  expect(await open(s)).toEqual(['refused november.csv 1 0']);
  s.drop('december.csv', csv(row('C')));
  await s.intake.takeInbox();
  expect(await open(s), 'another file corrects nothing').toHaveLength(1);
  s.drop('November.csv', csv(row('A'), row('B')));
  await s.intake.takeInbox();
  expect(await open(s)).toEqual([]);
  const [ended] = await s.ledger.db.selectFrom('rejected_files').selectAll().execute();
  expect(ended).toMatchObject({ ended: 'taken', ended_by: expect.stringMatching(/^november-/) });
});

it('counts a file that is refused twice once, as a new case since the first time', async () => {
  const s = await setting(reject);
  s.drop('november.csv', bad);
  await s.intake.takeInbox();
  const [first] = await openRejectedFiles(s.ledger.db);
  s.clock.advance(60_000);
  s.drop('november.csv', csv(row('A', '-1'), row('B', '-1')));
  await s.intake.takeInbox();
  expect(await open(s)).toEqual(['refused november.csv 2 0']);
  const [second] = await openRejectedFiles(s.ledger.db);
  expect(second?.since).toBe(first?.since);
  expect(second && first && second.id > first.id).toBe(true);
  // Corrected where it lies, and dropped under that name.
  expect(second?.place).toMatch(/november-2\.csv$/);
  s.drop('november-2.csv', csv(row('A'), row('B')));
  await s.intake.takeInbox();
  expect(await open(s)).toEqual([]);
});

it.each([
  ['a batch', csv(row('A', '-1'), row('B', '-1'))],
  ['a file that cannot be read', 'PK\u0000'],
])('P34: %s is a refusal of its own after another bad file of its name that is gone', async (_, other) => {
  const s = await setting(reject);
  s.drop('november.csv', other);
  await s.intake.takeInbox();
  const [first] = await openRejectedFiles(s.ledger.db);
  rmSync(first?.place ?? '');
  s.drop('november.csv', bad);
  await s.intake.takeInbox();
  const [second, ...none] = await openRejectedFiles(s.ledger.db);
  expect(none).toEqual([]);
  expect(second && first && second.id > first.id, 'a new case, which is told').toBe(true);
  rmSync(second?.place ?? '');
  s.drop('november.csv', bad);
  await s.intake.takeInbox();
  expect((await openRejectedFiles(s.ledger.db))[0]?.id, 'the same file again is none').toBe(second?.id);
});

it('ends the refusal of a workbook when it is saved as CSV, and of a file that is good under another name', async () => {
  const s = await setting(reject);
  s.drop('november.xlsx', 'PK');
  s.drop(`${'x'.repeat(200)}.csv`, csv(row('L')));
  await s.intake.takeInbox();
  expect(await open(s)).toHaveLength(2);
  s.drop('november.csv', csv(row('A')));
  await s.intake.takeInbox();
  expect((await open(s)).map((one) => one.slice(0, 10))).toEqual(['refused xx']);
  const s2 = await setting(reject);
  s2.drop(
    'november.csv',
    csv(row('A'))
      .replaceAll('Acme', '')
      .replace(/Salary,$/m, 'Salary,'),
  );
  await s2.intake.takeInbox();
  expect(await open(s2)).toEqual(['refused november.csv 1 0']);
  // The same bytes, once intake.sender_name is set.
  const named = s2.again('intake: { settle_seconds: 0, sender_name: Acme }');
  s2.drop('pay.csv', s2.read('rejected', 'november.csv'));
  await named.takeInbox();
  expect(await open(s2)).toEqual([]);
});

it('P34: keeps the rows that were left out until their sheet is taken, whatever else has the name of the file', async () => {
  const s = await setting(skip);
  s.drop('november.csv', bad);
  await s.intake.takeInbox();
  expect(await open(s)).toEqual(['left_out november.csv 1 1']);
  s.drop('november.csv', csv(row('C')));
  await s.intake.takeInbox();
  expect(await open(s), 'the next november.csv pays other people').toEqual(['left_out november.csv 1 1']);
  s.drop('november.invalid.csv', csv(row('B')));
  await s.intake.takeInbox();
  expect(await open(s)).toEqual([]);
});

it('records rows that were left out of a named file, but not its refusal, which its person reads', async () => {
  const s = await setting(reject);
  await s.intake.takeIn(s.drop('november.csv', bad), { origin: 'named' });
  expect(await open(s)).toEqual([]);
  const skipping = s.again(skip);
  await skipping.takeIn(s.drop('december.csv', bad), { origin: 'named' });
  expect(await open(s)).toEqual(['left_out december.csv 1 1']);
});

it('keeps refused files of expected collections apart from batches of the same name', async () => {
  const s = await setting(reject);
  const { mkdirSync, writeFileSync } = await import('node:fs');
  const folder = s.path('inbox', 'collections');
  mkdirSync(folder);
  const drop = (content: string): void => writeFileSync(`${folder}/november.csv`, content);
  drop('reference,amount,currency\nX-1,-5,NGN\n');
  await s.intake.takeCollections();
  expect(await open(s)).toEqual(['refused collections/november.csv 1 0']);
  s.drop('november.csv', csv(row('A')));
  await s.intake.takeInbox();
  expect(await open(s)).toHaveLength(1);
  drop('reference,amount,currency\nX-1,5,NGN\n');
  await s.intake.takeCollections();
  expect(await open(s)).toEqual([]);
});

it.skipIf(process.getuid?.() === 0)(
  'does not count a file again each minute while it cannot leave the inbox',
  async () => {
    const s = await setting(reject);
    s.drop('november.csv', bad);
    chmodSync(s.path('rejected', ''), 0o500);
    try {
      for (let turn = 0; turn < 3; turn++) await s.intake.takeInbox();
    } finally {
      chmodSync(s.path('rejected', ''), 0o700);
    }
    expect(await open(s)).toEqual(['refused november.csv 1 0']);
    expect(await s.ledger.db.selectFrom('rejected_files').select('id').execute()).toHaveLength(1);
  },
);

it('P34: a file that is refused again while somebody acknowledges its refusal needs a person again', async () => {
  const { ledger } = await setting(reject);
  const place = '/home/data/inbox/november.csv';
  const refusal = { name: 'november.csv', place, errorsFile: null, problems: 1, contentHash: '', at: at(0) };
  await ledger.write((trx) => recordRefusal(trx, refusal, null));
  const [first] = await openRejectedFiles(ledger.db);
  const word = { at: at(1), by: 'ada', note: 'seen' };
  await ledger.write((trx) => acknowledgeRejected(trx, first ? [first.id] : [], word));
  await ledger.write((trx) => recordRefusal(trx, refusal, first?.id ?? null));
  expect(await openRejectedFiles(ledger.db)).toMatchObject([{ name: 'november.csv' }]);
});

it('ack of a file of expected collections says nothing of the payments file of the same name', async () => {
  const { ledger } = await setting(reject);
  const refusal = { errorsFile: null, problems: 1, contentHash: '', at: at(0) };
  for (const name of ['november.csv', 'collections/november.csv'])
    await ledger.write((trx) => recordRefusal(trx, { ...refusal, name, place: `/rejected/${name}` }, null));
  const open = await openRejectedFiles(ledger.db);
  const named = (name: string): string[] => rejectedNamed(open, name).map((one) => one.name);
  expect(named('collections/november.csv')).toEqual(['collections/november.csv']);
  expect(named('november.csv')).toEqual(['november.csv']);
  expect(named('NOVEMBER'), 'a name that could be either is both').toHaveLength(2);
});

it('P34: is the same refusal after a crash between the ledger and the move', async () => {
  const s = await setting(reject);
  s.drop('november.csv', bad);
  await s.intake.takeInbox();
  // As a crash leaves it: recorded, and still in the inbox.
  rmSync(s.path('rejected', 'november.csv'));
  s.drop('november.csv', bad);
  await s.intake.takeInbox();
  expect(await open(s)).toEqual(['refused november.csv 1 0']);
  const all = await s.ledger.db.selectFrom('rejected_files').select('id').execute();
  expect(all).toHaveLength(1);
});
