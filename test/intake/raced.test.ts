import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import type { Ledger } from '../../src/core/storage/ledger.ts';
import { holdLedgerLock } from '../../src/core/storage/locks.ts';
import { verifyLedger } from '../../src/custody/verify-ledger.ts';
import { dropSome } from '../../src/intake/drop-batch.sql.ts';
import { addBatch } from '../support/ledger.ts';
import { onPostgres } from '../support/on-postgres/standing.ts';
import { again, decisionsOf, file as fileOf, idOf, now, refused, successors } from './retry-setting.ts';
import { csv, refusal, row, type Setting, setting } from './setting.ts';

/** The ledger, with something that happens just before its `nth` transaction. */
function before(ledger: Ledger, nth: number, happens: () => Promise<unknown>): Ledger {
  let count = 0;
  const write: Ledger['write'] = async (work) => {
    if (++count === nth) await happens();
    return ledger.write(work);
  };
  return { ...ledger, write };
}

it('P22: a reference that somebody takes while the file is read leaves nothing of the file behind', async () => {
  const s = await setting();
  const file = s.drop('pay.csv', csv(row('R-1'), row('R-2', '200', '0000014579')));
  // The first transaction opens the batch, the second adds its rows.
  const ledger = before(s.ledger, 2, () => addBatch(s.ledger, ['R-2']));
  const taken = await s.built({ ledger }).takeIn(file, { origin: 'named' });
  expect(taken).toMatchObject({
    kind: 'refused',
    problems: [{ problem: expect.stringContaining('changed while') }],
  });
  expect(await s.ledger.db.selectFrom('payouts').select('reference').execute()).toEqual([
    { reference: 'R-2' },
  ]);
  expect(await s.ledger.db.selectFrom('batches').select('id').execute()).toEqual([{ id: 'b-1' }]);
});

it('P20: what the command orders while a file has recorded its name gets a marked one; the file is refused and leaves nothing', async () => {
  const s = await refused(now, 'A');
  const content = fileOf(await again(s, 'A'));
  const ids = [await idOf(s, 'A')];
  // Of three transactions the second has recorded the rows, and the third decides the batch.
  const ledger = before(s.ledger, 3, async () => {
    expect(await successors(s)).toEqual([]);
    const since = s.clock.iso();
    const { digest } = await decisionsOf(s).weigh(ids, since);
    const decision = await decisionsOf(s).retry({ ids, since, digest, person: 'ada' });
    expect(decision).toMatchObject({ kind: 'decided' });
  });
  const taken = await s.built({ ledger }).takeIn(s.drop('failed.csv', content), { origin: 'inbox' });
  const [successor = ''] = await successors(s);
  expect(successor).toMatch(/^A-[0-9a-f]{6}-R2$/);
  expect(refusal(taken)).toContain(`row 2 retry_of A is already ordered again as ${successor}; `);
  const left = await s.ledger.db.selectFrom('payouts').select('reference').orderBy('id').execute();
  expect(left).toEqual([{ reference: 'A' }, { reference: successor }]);
  expect((await verifyLedger(s.ledger.path)).checks.filter(({ ok }) => !ok)).toEqual([]);
  // The plain name is free, and neither a file with it nor one without `retry_of` pays A once more.
  const later = await s.intake.takeIn(s.drop('failed.csv', content), { origin: 'inbox' });
  expect(refusal(later)).toContain(`row 2 retry_of A is already ordered again as ${successor}; `);
  const bare = await s.intake.takeIn(s.drop('bare.csv', csv(row('A-R2'))), { origin: 'inbox' });
  expect(bare).toMatchObject({ kind: 'taken' });
  expect(bare).toHaveProperty(
    'holdReasons',
    expect.arrayContaining([expect.objectContaining({ kind: 'named_again', earlier: 'A' })]),
  );
});

it('P23: a file that vanishes from the inbox at any moment is taken or refused, and breaks nothing', async () => {
  const outcomes: string[] = [];
  for (let n = 1; n <= 16; n++) {
    const s = await setting('intake: { settle_seconds: 0 }');
    const file = s.drop('pay.csv', csv(row('R-1')));
    let count = 0;
    const ledger: Ledger = {
      ...s.ledger,
      get db() {
        if (++count === n) rmSync(file, { force: true });
        return s.ledger.db;
      },
    };
    const taken = await s.built({ ledger }).takeIn(file, { origin: 'inbox' });
    outcomes.push(taken.kind === 'refused' ? (taken.problems[0]?.problem ?? '') : taken.kind);
  }
  expect(new Set(outcomes)).toEqual(
    new Set(['there is no such file', 'the file or the ledger changed while the file was read', 'taken']),
  );
});

/** The file is refused as changed, and nothing of it is recorded. */
async function expectRefused(s: Setting, ledger: Ledger, file: string): Promise<void> {
  const taken = await s.built({ ledger }).takeIn(file, { origin: 'named' });
  expect(taken).toMatchObject({
    kind: 'refused',
    problems: [{ problem: expect.stringContaining('changed while') }],
  });
  expect(await s.ledger.db.selectFrom('payouts').select('reference').execute()).toEqual([]);
  expect(await s.ledger.db.selectFrom('batches').select('id').execute()).toEqual([]);
}

it.each([
  ['before its rows are added', 2],
  ['before it is decided', 4],
])('P23: a batch that another process has swept %s is not taken in part', async (_, nth) => {
  const s = await setting('intake: { settle_seconds: 0 }');
  const many = Array.from({ length: 2_500 }, (_row, i) => row(`R-${i}`, '100', String(1_000_000_000 + i)));
  const file = s.drop('pay.csv', csv(...many));
  const swept = () =>
    before(s.ledger, nth, () =>
      s.ledger.write(async (trx) =>
        dropSome(trx, (await trx.selectFrom('batches').select('id').executeTakeFirstOrThrow()).id, 5_000),
      ),
    );
  await expectRefused(s, swept(), file);
  // Nothing is wrong with the file: in the inbox it stays, and the next run takes it.
  expect(await s.built({ ledger: swept() }).takeInbox()).toMatchObject({ taken: [] });
  expect(await s.intake.takeInbox()).toMatchObject({ taken: [{ kind: 'taken', rows: 2_500 }] });
});

// On PostgreSQL the lock is the session's: nobody can delete it.
it.skipIf(onPostgres).each([
  ['inbox', { taken: [], waiting: [], ignored: [] }],
  [
    'named',
    { kind: 'refused', problems: [{ problem: expect.stringContaining('was already taken as batch') }] },
  ],
] as const)(
  'P23: a file from %s that another process took meanwhile is its file alone',
  async (origin, said) => {
    const s = await setting('intake: { settle_seconds: 0 }');
    const file = s.drop('pay.csv', csv(row('R-1')));
    const other = { ...s.ledger, path: `${s.ledger.path}.other` };
    // A lock file of its own: somebody deleted the one that the first process holds.
    const ledger = before(s.ledger, 1, () => s.built({ ledger: other }).takeIn(file, { origin }));
    const intake = s.built({ ledger });
    expect(await (origin === 'inbox' ? intake.takeInbox() : intake.takeIn(file, { origin }))).toMatchObject(
      said,
    );
    expect(await s.ledger.db.selectFrom('batches').select('phase').execute()).toEqual([{ phase: 'loaded' }]);
    expect(s.names('archive')).toHaveLength(1);
  },
);

it('P12: a ledger that fails while rows are added is no reason to refuse the file', async () => {
  const s = await setting();
  const file = s.drop('pay.csv', csv(row('R-1')));
  const full = before(s.ledger, 2, () => Promise.reject(new Error('disk full')));
  await expect(s.built({ ledger: full }).takeIn(file, { origin: 'inbox' })).rejects.toThrow('disk full');
  expect(s.names('inbox')).toEqual(['pay.csv']);
  expect(await s.intake.takeIn(file, { origin: 'inbox' })).toMatchObject({ kind: 'taken', rows: 1 });
});

it.each([
  ['short file, whose rows are kept,', 1],
  ['long file, which is read and checked again,', 30],
])(
  'P23: a %s that changes between its two passes is refused, and nothing of it is recorded',
  async (_, count) => {
    const s = await setting();
    const note = 'x'.repeat(100_000);
    const text = (amount: string): string =>
      csv(
        ...Array.from(
          { length: count },
          (_row, i) => `${row(`R-${i}`, amount, String(1_000_000_000 + i))},${note}`,
        ),
      ).replace('\n', ',note\n');
    const file = s.drop('pay.csv', text('100'));
    // The first transaction lies between them.
    const ledger = before(s.ledger, 1, async () => s.drop('pay.csv', text('900')));
    await expectRefused(s, ledger, file);
  },
);

it('P23: what took the name of a file whose rows are recorded is no archive of them, and is taken by itself', async () => {
  const s = await setting('intake: { settle_seconds: 0 }');
  const file = s.drop('pay.csv', csv(row('R-1', '100')));
  // Of the third on, which decides the batch, nothing is read any more but to move the file.
  const ledger = before(s.ledger, 4, async () => s.drop('pay.csv', csv(row('R-2', '900', '0000014579'))));
  const first = await s.built({ ledger }).takeIn(file, { origin: 'inbox' });
  expect(first).toMatchObject({ kind: 'taken', rows: 1 });
  expect([s.names('inbox'), s.names('archive')]).toEqual([['pay.csv'], []]);
  const second = await s.intake.takeIn(file, { origin: 'inbox' });
  expect(second).toMatchObject({ kind: 'taken', rows: 1, totals: { NGN: '900.00' } });
});

it('P34: a file that is written again after its rows were recorded is no archive of what was read', async () => {
  const s = await setting();
  const file = s.drop('pay.csv', csv(row('R-1')));
  const ledger = before(s.ledger, 4, async () => s.drop('pay.csv', csv(row('R-1')).replaceAll('\n', '\r\n')));
  expect(await s.built({ ledger }).takeIn(file, { origin: 'inbox' })).toMatchObject({ kind: 'taken' });
  expect([s.names('inbox'), s.names('archive')]).toEqual([['pay.csv'], []]);
});

it('P22: skip_row leaves out what the ledger has already, and takes the rest', async () => {
  const s = await setting('intake: { on_invalid_row: skip_row }');
  await addBatch(s.ledger, ['R-1']);
  const file = s.drop('pay.csv', csv(row('R-1'), row('R-2', '200', '0000014579')));
  const taken = await s.intake.takeIn(file, { origin: 'named' });
  expect(taken).toMatchObject({ kind: 'taken', rows: 1, skipped: { problemCount: 1 } });
  expect(await s.ledger.db.selectFrom('payouts').select('reference').orderBy('id').execute()).toEqual([
    { reference: 'R-1' },
    { reference: 'R-2' },
  ]);
});

it('a stop ends the wait for a process that stands still while it takes files in; the files stay', async () => {
  const s = await setting('intake: { settle_seconds: 0 }');
  const file = s.drop('pay.csv', csv(row('R-1')));
  const expected = s.path('inbox', 'collections/due.csv');
  mkdirSync(dirname(expected));
  writeFileSync(expected, 'reference,amount,currency\nC-1,5,NGN\n');
  const soon = (): AbortSignal => AbortSignal.timeout(100);
  const other = await holdLedgerLock(s.ledger, 'intake', `${s.ledger.path}.intake-lock`);
  onTestFinished(() => other?.release());
  await expect(s.intake.takeIn(file, { origin: 'named', signal: soon() })).rejects.toThrow(
    'nothing of it was recorded',
  );
  expect((await s.intake.takeInbox({ signal: soon() })).taken).toEqual([]);
  expect((await s.intake.takeCollections({ signal: soon() })).taken).toEqual([]);
  expect(s.names('inbox')).toEqual(['collections', 'pay.csv']);
});
