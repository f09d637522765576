import { existsSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { backupName, dailyBackups, expiredBackups } from '../../src/custody/backup-names.ts';
import { makeDailyBackup, newestBackup } from '../../src/custody/daily-backup.ts';
import { verifyLedger } from '../../src/custody/verify-ledger.ts';
import { addBatch, makeLedger } from '../support/ledger.ts';
import { onPostgres } from '../support/on-postgres/standing.ts';

const id = '0123abcd-1111-2222-3333-444455556666';
const day = (n: number): string => new Date(Date.UTC(2026, 0, n, 1, 20)).toISOString();

it('keeps the newest backup of each of the last seven days and four weeks', () => {
  const names = Array.from({ length: 60 }, (_, n) => backupName(id, day(n + 1)));
  const all = dailyBackups(id, names);
  const gone = new Set(expiredBackups(all, day(60)).map(({ name }) => name));
  const kept = all.filter(({ name }) => !gone.has(name)).map(({ at }) => at.slice(0, 10));
  // 1 March 2026 is a Sunday: the week of it is among the seven days.
  expect(kept).toEqual([
    ...['2026-03-01', '2026-02-28', '2026-02-27', '2026-02-26', '2026-02-25', '2026-02-24', '2026-02-23'],
    ...['2026-02-22', '2026-02-15', '2026-02-08'],
  ]);
});

it('keeps the newest four, and one a day before, where a backup is made every few minutes', () => {
  const minutes = (from: number, n: number): string =>
    new Date(Date.parse(day(from)) + n * 900_000).toISOString();
  const times = [0, 1, 2, 3, 4, 5].flatMap((n) => [minutes(1, n), minutes(2, n)]);
  const all = dailyBackups(
    id,
    times.map((at) => backupName(id, at)),
  );
  const gone = new Set(expiredBackups(all, day(3)).map(({ at }) => at));
  expect(all.flatMap(({ at }) => (gone.has(at) ? [] : at))).toEqual([
    ...[5, 4, 3, 2].map((n) => minutes(2, n)),
    minutes(1, 5),
  ]);
});

it('keeps one backup a day where several were made, and never counts days that have none', () => {
  const times = [day(1), day(2), '2026-01-02T09:00:00.000Z', day(37), day(38), day(39), day(40)];
  const all = dailyBackups(
    id,
    times.map((at) => backupName(id, at)),
  );
  expect(expiredBackups(all, day(40)).map(({ at }) => at)).toEqual([day(2)]);
});

it('knows its own files alone', () => {
  const names = [
    'ledger.db',
    backupName('ffff0000-1', day(1)),
    `${backupName(id, day(1))}.partial`,
    backupName(id, day(2)),
  ];
  expect(dailyBackups(id, names)).toEqual([{ name: backupName(id, day(2)), at: day(2) }]);
});

it.skipIf(onPostgres)(
  'makes a backup that can be proven, and deletes what expired of this ledger alone',
  async () => {
    const ledger = await makeLedger();
    onTestFinished(() => ledger.remove());
    await addBatch(ledger, ['R-1']);
    const folder = join(ledger.folder, 'backups');
    mkdirSync(folder);
    for (let n = 1; n <= 10; n++) writeFileSync(join(folder, backupName(ledger.id, day(n))), '');
    const others = ['notes.txt', backupName('ffff0000-1', day(1))];
    for (const name of others) writeFileSync(join(folder, name), '');
    writeFileSync(join(folder, `${backupName(ledger.id, day(11))}.77.partial`), 'half');
    const { file, bytes, deleted } = await makeDailyBackup(ledger, { folder, at: day(12) });
    expect(statSync(file)).toMatchObject({ size: bytes });
    expect((await verifyLedger(file)).ok).toBe(true);
    expect(newestBackup(ledger, folder)?.at).toBe(day(12));
    const left = readdirSync(folder);
    expect(left).toEqual(expect.arrayContaining(others));
    expect(left.filter((name) => name.includes('partial'))).toEqual([]);
    // Of the first week of the year, its Sunday stays.
    expect(deleted).toBe(3);
    expect(left).toHaveLength(others.length + 8);
  },
);

it.skipIf(onPostgres)('P33: keeps the backup of today where the clock was set back a year', async () => {
  const ledger = await makeLedger();
  onTestFinished(() => ledger.remove());
  const folder = join(ledger.folder, 'backups');
  mkdirSync(folder);
  for (let n = 1; n <= 40; n++) writeFileSync(join(folder, backupName(ledger.id, day(n))), '');
  const made = await makeDailyBackup(ledger, { folder, at: '2025-01-05T01:20:00.000Z' });
  expect([existsSync(made.file), made.deleted, readdirSync(folder).length]).toEqual([true, 0, 41]);
});

it.skipIf(onPostgres)('deletes nothing when the backup cannot be made', async () => {
  const ledger = await makeLedger();
  onTestFinished(() => ledger.remove());
  const folder = join(ledger.folder, 'backups');
  await makeDailyBackup(ledger, { folder, at: day(1) });
  for (let n = 2; n <= 12; n++) writeFileSync(join(folder, backupName(ledger.id, day(n))), '');
  await expect(makeDailyBackup(ledger, { folder, at: day(12) })).rejects.toThrow('there already');
  expect(readdirSync(folder)).toHaveLength(12);
});

it.skipIf(onPostgres)(
  'makes the folder, but not the one above it, which a lost disk would leave out',
  async () => {
    const ledger = await makeLedger();
    onTestFinished(() => ledger.remove());
    const folder = join(ledger.folder, 'disk', 'backups');
    await expect(makeDailyBackup(ledger, { folder, at: day(1) })).rejects.toThrow('mount its disk');
  },
);
