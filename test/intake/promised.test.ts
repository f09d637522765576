import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { openFileTasks } from '../../src/core/ledger/file-tasks.ts';
import type { Ledger } from '../../src/core/storage/ledger.ts';
import type { Intake } from '../../src/intake/intake.ts';
import { removeHalfSheets } from '../../src/intake/problem-sheets.ts';
import { batchOf, csv, row, type Setting, setting } from './setting.ts';

const skip = 'intake: { on_invalid_row: skip_row, settle_seconds: 0 }';
const good = [row('A', '1'), row('B', '2'), row('C', '3')];
const bad = [row('X', '-1'), row('Y', '1.005'), row('A', '9')];

/** A ledger whose process is killed at its `fatal`th write, before it or just after its commit. */
function killedAt(s: Setting, fatal: number, when: 'before' | 'after'): { ledger: Ledger; died(): boolean } {
  let writes = 0;
  const ledger: Ledger = {
    ...s.ledger,
    async write(work) {
      writes += 1;
      if (writes > fatal || (writes === fatal && when === 'before')) throw new Error('killed');
      const done = await s.ledger.write(work);
      if (writes === fatal) throw new Error('killed');
      return done;
    },
  };
  return { ledger, died: () => writes >= fatal };
}

/** What stands in a folder, by name without its number. */
const hidden = (s: Setting): string[] =>
  readdirSync(s.path('rejected', '')).filter((name) => name.startsWith('.'));

for (const when of ['before', 'after'] as const)
  it(`P34: killed ${when} any write, the rows that were left out of a batch are given back once`, async () => {
    for (let fatal = 1; ; fatal++) {
      const s = await setting(skip);
      s.drop('pay.csv', csv(...good, ...bad));
      const { ledger, died } = killedAt(s, fatal, when);
      const first = await s
        .built({ ledger })
        .takeInbox()
        .catch(() => null);
      if (!died()) {
        expect(first?.taken).toHaveLength(1);
        expect(fatal, 'every write was tried').toBeGreaterThan(6);
        return;
      }
      await s.again(skip).takeInbox();
      const label = `killed ${when} write ${fatal}`;
      expect(await openFileTasks(s.ledger.db), label).toEqual([]);
      expect([s.names('inbox'), s.names('archive').length], label).toEqual([[], 1]);
      expect([s.names('rejected'), hidden(s)], label).toEqual([['pay.errors.csv', 'pay.invalid.csv'], []]);
      expect(s.read('rejected', 'pay.invalid.csv').trim().split('\r\n').slice(1), label).toEqual(bad);
      expect(s.read('rejected', 'pay.errors.csv').match(/^\d+,/gm), label).toEqual(['5,', '6,', '7,']);
      const paid = await s.ledger.db.selectFrom('payouts').select('reference').orderBy('id').execute();
      expect(
        paid.map(({ reference }) => reference),
        label,
      ).toEqual(['A', 'B', 'C']);
      await s.ledger.close();
    }
  });

for (const when of ['before', 'after'] as const)
  it(`P34: killed ${when} any write, the rows that were left out of expected collections are given back once`, async () => {
    const content = 'reference,amount,currency\nINV-1,10,NGN\nINV-2,ten,NGN\nINV-3,5,NGN\n';
    for (let fatal = 1; ; fatal++) {
      const s = await setting(skip);
      mkdirSync(s.path('inbox', 'collections'));
      writeFileSync(s.path('inbox', 'collections/due.csv'), content);
      const { ledger, died } = killedAt(s, fatal, when);
      await s
        .built({ ledger })
        .takeCollections()
        .catch(() => null);
      if (!died()) return expect(fatal, 'every write was tried').toBeGreaterThan(3);
      await s.again(skip).takeCollections();
      const label = `killed ${when} write ${fatal}`;
      expect(s.names('rejected'), label).toEqual(['due.errors.csv', 'due.invalid.csv']);
      expect(s.read('rejected', 'due.invalid.csv'), label).toContain('INV-2,ten,NGN');
      expect([readdirSync(s.path('inbox', 'collections')), s.names('archive').length], label).toEqual([
        [],
        1,
      ]);
      await s.ledger.close();
    }
  });

it('P34: what a crash kept from its place overwrites nothing that came there meanwhile, and is named', async () => {
  const s = await setting(skip);
  const { ledger } = killedAt(s, 3, 'after');
  const intake = s.built({ ledger });
  await expect(intake.takeIn(s.drop('pay.csv', csv(...good, ...bad)), { origin: 'inbox' })).rejects.toThrow();
  const open = await openFileTasks(s.ledger.db);
  expect(open.map(({ kind }) => kind)).toEqual(['archive', 'errors', 'invalid']);
  writeFileSync(s.path('rejected', 'pay.invalid.csv'), "somebody's own");
  const next = s.again(skip);
  const { givenBack } = await next.takeInbox();
  expect(s.read('rejected', 'pay.invalid.csv')).toBe("somebody's own");
  expect(givenBack).toMatchObject([{ invalidFile: s.path('rejected', 'pay-2.invalid.csv') }]);
  expect((await next.takeInbox()).givenBack, 'said once').toEqual([]);
});

it('P34: a named file that is gone after a crash is remembered as lost, and stops nothing else', async () => {
  const s = await setting(skip);
  const file = s.drop('../pay.csv', csv(...good));
  const { ledger } = killedAt(s, 3, 'after');
  await expect(s.built({ ledger }).takeIn(file, { origin: 'named' })).rejects.toThrow('killed');
  writeFileSync(file, 'another');
  await s.again(skip).takeInbox();
  const tasks = await s.ledger.db.selectFrom('file_moves').selectAll().execute();
  expect(tasks).toMatchObject([{ kind: 'archive', outcome: 'differs' }]);
  expect(s.names('archive')).toEqual([]);
  batchOf(await s.again(skip).takeIn(s.drop('next.csv', csv(row('N', '7'))), { origin: 'inbox' }));
});

const due = 'reference,amount,currency\nINV-1,10,NGN\nINV-2,ten,NGN\n';
for (const [what, path, content, take] of [
  ['batch', 'pay.csv', csv(...good, ...bad), (intake: Intake) => intake.takeInbox()],
  ['file of expected collections', 'collections/due.csv', due, (intake: Intake) => intake.takeCollections()],
] as const)
  it(`P34: no ${what} is taken whose sheets another process swept away while this one stood still`, async () => {
    const s = await setting(skip);
    mkdirSync(s.path('inbox', 'collections'));
    writeFileSync(s.path('inbox', path), content);
    let writes = 0;
    const write: Ledger['write'] = async (work) => {
      if (++writes === 1) await removeHalfSheets(s.path('rejected', ''));
      return s.ledger.write(work);
    };
    const { taken } = await take(s.built({ ledger: { ...s.ledger, write } }));
    expect(taken).toMatchObject([{ kind: 'refused' }]);
    expect(JSON.stringify(taken)).toContain('changed while the file was read');
    expect(await s.ledger.db.selectFrom('payouts').selectAll().execute()).toEqual([]);
    expect(await s.ledger.db.selectFrom('collections').selectAll().execute()).toEqual([]);
  });
