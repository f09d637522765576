import { appendFileSync, closeSync, openSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { expect, it, onTestFinished } from 'vitest';
import { waitingWhy } from '../../src/core/domain/waiting-file.ts';
import { type HoldReason, readReasons } from '../../src/core/ledger/hold-reasons.ts';
import { confirmFiles, fileWaits } from '../../src/intake/confirm.ts';
import { lyingInInbox } from '../../src/intake/inbox.ts';
import { openWriters } from '../../src/intake/open-writers.ts';
import { claim } from '../../src/sending/claims.sql.ts';
import { finishRelease, releaseBatch } from '../../src/sending/holds.sql.ts';
import { onPostgres } from '../support/on-postgres/standing.ts';
import { anyDay, batchOf, csv, head, refusal, row, type Setting, setting } from './setting.ts';

const linux = process.platform === 'linux';
/** With the amount last, what a cut leaves of it is an amount too. */
const amountLast = (text: string): string => text.replaceAll(/^((?:[^,]*,){4})([^,]*),(.*)$/gm, '$1$3,$2');
const cut = amountLast(csv(row('A', '1'), row('B', '25000'))).slice(0, -'00\n'.length);
const whole = csv(row('A', '1'), row('B', '250'));

function openFor(flags: 'r' | 'a' | 'r+', path: string): () => void {
  const fd = openSync(path, flags);
  let isOpen = true;
  const close = (): void => {
    if (isOpen) closeSync(fd);
    isOpen = false;
  };
  onTestFinished(close);
  return close;
}

it('P34: a file that ends within its last line is not taken for a minute more, and then with a warning', async () => {
  const s = await setting('intake: { settle_seconds: 10 }');
  const unended = csv(row('A', '1'), row('B', '250')).trimEnd();
  s.drop('cut.csv', unended);
  s.drop('other.csv', csv(row('C', '3')));
  const first = await s.intake.takeInbox();
  expect(first.taken).toMatchObject([{ kind: 'taken', rows: 1 }]);
  expect(first.waiting).toMatchObject([{ name: 'cut.csv', why: { kind: 'no_line_end', leftMs: 60_000 } }]);
  s.clock.advance(50_000);
  expect((await s.intake.takeInbox()).waiting).toMatchObject([{ why: { leftMs: 10_000 } }]);
  s.clock.advance(10_000);
  const last = await s.intake.takeInbox();
  expect(last.taken).toMatchObject([
    {
      kind: 'taken',
      rows: 2,
      warnings: [expect.anything(), expect.stringContaining('no line end at its end')],
    },
  ]);
});

it('P34: a stalled upload that goes on within the minute is taken whole (25,000.00 went out as 250.00)', async () => {
  const s = await setting('intake: { settle_seconds: 10 }');
  const path = s.drop('pay.csv', cut);
  expect((await s.intake.takeInbox()).taken).toEqual([]);
  s.clock.advance(30_000);
  appendFileSync(path, '00\n');
  expect((await s.intake.takeInbox()).taken).toMatchObject([
    { kind: 'taken', rows: 2, totals: { NGN: '25001.00' } },
  ]);
});

it.each([
  ['one.csv.control.json', '{"rows": 1}'],
  ['one.csv.done', ''],
])('a file with its %s is whole at once', async (name, text) => {
  const s = await setting('intake: { settle_seconds: 10 }');
  s.drop('one.csv', csv(row('A', '1')));
  s.drop(name, text);
  const dropped = s.clock.monotonic();
  expect(await s.intake.takeInbox()).toMatchObject({ taken: [{ kind: 'taken' }], waiting: [] });
  expect(s.clock.monotonic() - dropped).toBeLessThan(10_000);
});

it('control figures or a marker vouch for a file without a line end; settle_seconds 0 waits for none', async () => {
  const s = await setting('intake: { settle_seconds: 10 }');
  s.drop('one.csv', csv(row('A', '1')).trimEnd());
  s.drop('one.csv.control.json', '{"rows": 1}');
  s.drop('two.csv', csv(row('B', '2')).trimEnd());
  s.drop('two.csv.done', '');
  expect((await s.intake.takeInbox()).taken).toMatchObject([{ warnings: [] }, { warnings: [] }]);
  s.drop('three.csv', csv(row('C', '3')).trimEnd());
  const atOnce = await s.again('intake: { settle_seconds: 0 }').takeInbox();
  expect(atOnce.taken).toMatchObject([{ warnings: [expect.stringContaining('no line end')] }]);
});

it.runIf(linux)(
  'P34: a file that a process has open for writing is never taken, whatever vouches for it',
  async () => {
    const s = await setting('intake: { settle_seconds: 0 }');
    const path = s.drop('pay.csv', whole);
    s.drop('pay.csv.done', '');
    const close = openFor('a', path);
    const scan = await s.intake.takeInbox();
    expect(scan).toMatchObject({ taken: [], waiting: [{ name: 'pay.csv', why: { kind: 'open' } }] });
    expect(scan.waiting.map(({ why }) => waitingWhy(why))[0]).toContain(`process ${process.pid}`);
    expect((await lyingInInbox(s.path('inbox', ''))).waiting).toMatchObject([{ name: 'pay.csv' }]);
    const named = refusal(await s.intake.takeIn(path, { origin: 'named' }));
    expect(named).toContain(`the file is open for writing by process ${process.pid}`);
    expect(await s.intake.check(path)).toMatchObject({ ok: false });
    expect(s.names('inbox'), 'a named file stays where it is').toEqual(['pay.csv', 'pay.csv.done']);
    close();
    openFor('r', path);
    expect((await s.intake.takeInbox()).taken).toMatchObject([{ kind: 'taken' }]);
  },
);

it.runIf(linux)(
  'sees a writer through a link and under another name, and passes over who only reads',
  async () => {
    const s = await setting();
    const path = s.drop('pay.csv', whole);
    symlinkSync(path, s.path('inbox', 'link.csv'));
    openFor('r', path);
    expect((await openWriters([path])).size).toBe(0);
    openFor('r+', path);
    const renamed = s.path('inbox', 'renamed.csv');
    renameSync(path, renamed);
    symlinkSync(renamed, s.path('archive', 'link.csv'));
    const found = await openWriters([renamed, s.path('archive', 'link.csv'), s.path('inbox', 'nothing.csv')]);
    expect([...found.keys()]).toEqual([renamed, s.path('archive', 'link.csv')]);
    expect((await openWriters([renamed], '/nowhere')).size, 'no /proc').toBe(0);
  },
);

const claimed = (s: Setting): Promise<unknown[]> =>
  s.ledger.write((trx) =>
    claim(trx, {
      brakes: { ...brakes },
      workerId: 'w',
      limit: 10,
      at: s.clock.iso(),
      originId: 0n,
      cleared: new Map(),
    }),
  );
const brakes = {
  approval: 'none' as const,
  approvalAbove: {},
  payoutLimit: {},
  dailyLimit: {},
  canary: 0,
  canaryHours: 4,
  timezone: 'UTC',
};
const reasonsOf = async (s: Setting): Promise<HoldReason[]> =>
  readReasons(
    (await s.ledger.db.selectFrom('batches').select('hold_reasons').executeTakeFirstOrThrow()).hold_reasons,
  );
const stateOf = async (s: Setting): Promise<string> =>
  (await s.ledger.db.selectFrom('batches').select('file_state').executeTakeFirstOrThrow()).file_state;

/** A batch of which nothing was sent yet, and where its file lies. */
async function archived(): Promise<{ s: Setting; batch: string; path: string; confirm(): Promise<void> }> {
  const s = await setting('intake: { settle_seconds: 0 }');
  const batch = batchOf(await s.intake.takeIn(s.drop('pay.csv', whole), { origin: 'inbox' }));
  const confirm = (): Promise<void> => confirmFiles({ ...s, config: s.config }, anyDay);
  return { s, batch, path: s.path('archive', `${batch}--pay.csv`), confirm };
}

it('P34: bytes that come after the file was read hold the batch before its first payout, and are named', async () => {
  const { s, batch, path, confirm } = await archived();
  expect(await stateOf(s)).toBe('whole');
  const late = `${row('C', '3')}\n`;
  appendFileSync(path, late);
  await confirm();
  expect(await claimed(s)).toEqual([]);
  expect(await reasonsOf(s)).toMatchObject([{ kind: 'file_grown', path, bytes: late.length, line: 4 }]);
  expect(await stateOf(s)).toBe('changed');
  await confirm();
  expect(await reasonsOf(s), 'said once').toHaveLength(1);
  await releaseBatch(s.ledger, { batch, at: s.clock.iso() });
  await confirm();
  expect(await claimed(s), 'a person let it go').toHaveLength(2);
});

it('P34: an approval accepts no file whose change a full disk kept from being told', async () => {
  const { s, batch, path } = await archived();
  const late = `${row('C', '3')}\n`;
  appendFileSync(path, late);
  let writes = 0;
  const write: Setting['ledger']['write'] = (work) =>
    ++writes === 2 ? Promise.reject(new Error('SQLITE_FULL')) : s.ledger.write(work);
  await confirmFiles({ ...s, ledger: { ...s.ledger, write } }, anyDay).catch(() => undefined);
  await finishRelease(s.ledger, { batch, at: s.clock.iso() });
  expect(await stateOf(s)).toBe('changed');
  expect(await reasonsOf(s)).toMatchObject([{ kind: 'file_grown', path, bytes: late.length, line: 4 }]);
  expect(await claimed(s)).toEqual([]);
});

it('P34: a file that a person let go is not held for by a process that looked at it before', async () => {
  const { s, batch, path, confirm } = await archived();
  appendFileSync(path, `${row('C', '3')}\n`);
  let stood = false;
  const write: Setting['ledger']['write'] = async (work) => {
    if (!stood) {
      stood = true;
      await confirm();
      await releaseBatch(s.ledger, { batch, at: s.clock.iso() });
    }
    return s.ledger.write(work);
  };
  await confirmFiles({ ...s, ledger: { ...s.ledger, write } }, anyDay);
  expect([stood, await stateOf(s), await reasonsOf(s)]).toEqual([true, 'accepted', []]);
  expect(await claimed(s)).toHaveLength(2);
});

it('P34: a file that is another, or gone, before the first payout holds the batch', async () => {
  for (const [harm, kind] of [
    [(path: string) => writeFileSync(path, whole.replace('250', '999')), 'file_changed'],
    [(path: string) => writeFileSync(path, whole.slice(0, -4)), 'file_changed'],
    [(path: string) => rmSync(path), 'file_missing'],
  ] as const) {
    const { s, path, confirm } = await archived();
    harm(path);
    await confirm();
    expect([await claimed(s), await reasonsOf(s)]).toMatchObject([[], [{ kind, path }]]);
    await s.ledger.close();
  }
});

it('P34: a file that is changed between reading and archiving holds its batch from the start', async () => {
  const s = await setting('intake: { settle_seconds: 0 }');
  const path = s.drop('pay.csv', whole);
  let writes = 0;
  const write: Setting['ledger']['write'] = async (work) => {
    if (++writes === 4) appendFileSync(path, `${row('C', '3')}\n`);
    return s.ledger.write(work);
  };
  const taken = await s.built({ ledger: { ...s.ledger, write } }).takeIn(path, { origin: 'inbox' });
  expect(taken).toMatchObject({
    kind: 'taken',
    holdReasons: [{ kind: 'file_not_archived', path }],
  });
  expect(await claimed(s)).toEqual([]);
});

it('P34: a batch goes only after its file was looked at, and once more after a hold; then nobody looks', async () => {
  const { s, batch, path, confirm } = await archived();
  await s.ledger.db.updateTable('batches').set({ file_state: 'due' }).execute();
  expect(await claimed(s), 'a crash came before the look').toEqual([]);
  await confirm();
  const hold = { batch, at: s.clock.iso() };
  const { holdBatch } = await import('../../src/sending/holds.sql.ts');
  await holdBatch(s.ledger, { ...hold, reason: { kind: 'person' } });
  await releaseBatch(s.ledger, hold);
  // Where machines share the ledger, the one with the file may be gone: a release accepts the file as it is.
  if (!onPostgres) expect(await claimed(s)).toEqual([]);
  await confirm();
  expect(await claimed(s)).toHaveLength(2);
  appendFileSync(path, 'late\n');
  await confirm();
  expect([await stateOf(s), await reasonsOf(s)]).toEqual(['begun', []]);
});

it('P34, P38: the file of a batch that waits for a day is looked at on that day, and missed by no other machine before', async () => {
  const s = await setting();
  const day = '2026-11-25';
  const content = `${head},pay_on\n${row('A', '100')},${day}\n`;
  const batch = batchOf(await s.intake.takeIn(s.drop('dated.csv', content), { origin: 'inbox' }));
  const stored = s.ledger.db
    .selectFrom('batches')
    .select(['file_state', 'hold_reasons'])
    .where('id', '=', batch);
  const [move] = await s.ledger.db.selectFrom('file_moves').select('target').execute();
  appendFileSync(move?.target ?? '', 'late\n');
  await confirmFiles(s, '2026-11-24');
  expect(await stored.executeTakeFirstOrThrow()).toEqual({ file_state: 'whole', hold_reasons: '[]' });
  await confirmFiles(s, day);
  expect((await stored.executeTakeFirstOrThrow()).hold_reasons).toContain('file_grown');

  const other = batchOf(
    await s.intake.takeIn(s.drop('b.csv', content.replace('A,', 'B,')), { origin: 'inbox' }),
  );
  await s.ledger.db.updateTable('batches').set({ file_state: 'due' }).where('id', '=', other).execute();
  await s.ledger.db.updateTable('batches').set({ hold_reasons: '[]', held: 0n }).execute();
  await s.ledger.db.updateTable('payouts').set({ state: 'ready' }).execute();
  await s.ledger.db.deleteFrom('file_moves').execute();
  expect(await fileWaits(s.ledger, '2026-11-24')).toEqual([]);
  expect(await fileWaits(s.ledger, day)).toContainEqual({
    batch: other,
    count: 1,
    why: { kind: 'elsewhere' },
  });
});

it("P33, P38: where the service's clock is a year ahead of ours, the clock is in doubt, not the file", async () => {
  const s = await setting();
  const file = s.drop('next.csv', `${head},pay_on\n${row('A', '100')},2027-11-25\n`);
  const plain = await s.intake.takeIn(file, { origin: 'named' });
  expect(refusal(plain)).toContain('is more than 366 days ahead; write a day until 2027-11-22');
  const heard = s.built({ serviceNow: () => Date.parse('2027-11-21T10:00:00.000Z') });
  expect(refusal(await heard.takeIn(file, { origin: 'named' }))).toContain(
    "is more than 366 days ahead of 2026-11-21, the day by this machine's clock; the service's says 2027-11-21; set the clock",
  );
});

it.runIf(linux)('P34: a batch whose archived file is still open for writing waits', async () => {
  const { s, path, confirm } = await archived();
  await s.ledger.db.updateTable('batches').set({ file_state: 'due' }).execute();
  const close = openFor('a', path);
  await confirm();
  expect([await claimed(s), await reasonsOf(s)]).toEqual([[], []]);
  close();
  await confirm();
  expect(await claimed(s)).toHaveLength(2);
});

it('P34: a batch whose file no machine can look at is told apart from one that nobody looked at yet', async () => {
  const { s, batch, confirm } = await archived();
  await s.ledger.db.updateTable('batches').set({ file_state: 'due' }).execute();
  expect(await fileWaits(s.ledger, anyDay)).toEqual([]);
  // The machine that archived it is not this one.
  await s.ledger.db.deleteFrom('file_moves').execute();
  await confirm();
  expect([await claimed(s), await stateOf(s)]).toEqual([[], 'due']);
  expect(await fileWaits(s.ledger, anyDay)).toEqual([{ batch, count: 2, why: { kind: 'elsewhere' } }]);
});
