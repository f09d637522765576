import { existsSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { payoutStory } from '../../src/books/overview.sql.ts';
import { listPayees } from '../../src/core/ledger/payee-list.ts';
import { record } from '../../src/core/ledger/record.ts';
import type { Ledger } from '../../src/core/storage/ledger.ts';
import { archiveLedger } from '../../src/custody/archive/archive-ledger.ts';
import { backupLedger } from '../../src/custody/make-backup.ts';
import { openLedger } from '../../src/custody/open-ledger.ts';
import { restoreLedger } from '../../src/custody/restore-ledger.ts';
import { verifyArchive, verifyLedger } from '../../src/custody/verify-ledger.ts';
import { comparePayees } from '../../src/intake/compare-payees.ts';
import type { PayeeRow } from '../../src/intake/payees-before.ts';
import { loadEvidence } from '../../src/watching/evidence/evidence.sql.ts';
import { judge } from '../../src/watching/evidence/judge.ts';
import { haltInWords } from '../../src/words/halt-words.ts';
import { tamper } from '../support/intruder.ts';
import { addBatch, claimAt, makeLedger, payoutById, type TestLedger } from '../support/ledger.ts';
import { onPostgres } from '../support/on-postgres/standing.ts';
import {
  addSent,
  closedNovember,
  december,
  detailsSay,
  november,
  novemberEnds,
  reportingOf,
} from './archive-world.ts';
import { problemTexts, worded } from './worded.ts';

let made: TestLedger;
let ledger: Ledger;
let runs: string[];
let ended: bigint[];
beforeEach(async () => {
  if (onPostgres) return;
  made = await makeLedger();
  ({ runs, ended } = await closedNovember(made, made.folder));
  ledger = made;
});
afterEach(async () => {
  if (onPostgres) return;
  if (ledger !== made) await ledger.close();
  await made.remove();
});

const now = (): string => december(14);
const archiveFolder = (): string => join(made.folder, 'archive');
const fileOf = (): string => join(archiveFolder(), 'ledger-2026-11.db');

async function archived(before = novemberEnds) {
  await ledger.close();
  const done = await archiveLedger({ path: made.path, before, now });
  ledger = await openLedger(made.path, { now });
  return done;
}

const problemsOf = async (path: string): Promise<string[]> => problemTexts(await verifyLedger(path));

/** Every byte of the reports of a run or batch. */
async function bytesOf(write: () => Promise<string[]>): Promise<Record<string, string>> {
  return Object.fromEntries((await write()).map((file) => [file, readFileSync(file).toString('base64')]));
}

describe.skipIf(onPostgres)('archive', () => {
  it('moves what ended in closed months into a file of its own, and both are proven', async () => {
    const before = await verifyLedger(made.path);
    expect(before.checks.filter(({ ok }) => !ok)).toEqual([]);
    const done = await archived();
    expect(done).toMatchObject({
      kind: 'archived',
      file: fileOf(),
      month: '2026-11',
      batches: 1,
      payouts: 4,
      runs: 2,
      left: 2,
    });
    expect(await problemsOf(made.path)).toEqual([]);
    const after = await verifyLedger(made.path);
    expect(after.batches).toEqual(before.batches.map((one) => ({ ...one, archived: one.batch === 'ended' })));
    const { ok, batches } = await verifyArchive(fileOf());
    expect([ok, batches.map(({ batch, payouts }) => [batch, payouts])]).toEqual([true, [['ended', 4]]]);
    expect(await archived()).toEqual({ kind: 'nothing', month: '2026-11', left: 2 });
  });

  it('P22: keeps every reference, so that none is ever taken again, in upper or lower case', async () => {
    await archived();
    await expect(addBatch(ledger, ['ended-1'], { id: 'again' })).rejects.toThrow(/unique/i);
    const rows = await ledger.db
      .selectFrom('payouts')
      .select(['reference', 'amount', 'transfer_id', 'state'])
      .where('id', 'in', ended)
      .orderBy('id')
      .execute();
    expect(rows.map(({ reference, state, transfer_id }) => [reference, state, transfer_id])).toEqual([
      ['ENDED-1', 'success', 'T-1'],
      ['ENDED-2', 'failed', 'T-2'],
      ['ENDED-3', 'refused', null],
      ['ENDED-4', 'success', 'T-4'],
    ]);
  });

  it('P22: never pays an archived payout again, by a person or by itself', async () => {
    await archived();
    const evidence = await loadEvidence(ledger.db, ended, { prefix: undefined, account: undefined });
    for (const one of evidence)
      expect(judge(one, now())).toMatchObject({ kind: 'no', why: expect.stringContaining('archived') });
    await expect(
      ledger.db.updateTable('payouts').set({ state: 'ready' }).where('reference', '=', 'ENDED-2').execute(),
    ).rejects.toThrow('never sent again');
    expect(await claimAt(ledger, now(), 9)).toEqual([]);
  });

  it('P14: believes later evidence of an archived payout, reports it, and stays proven', async () => {
    await archived();
    const [paid = 0n, failed = 0n] = ended;
    const [first, second] = await ledger.write((trx) =>
      record(trx, now(), [detailsSay(paid, 'returned'), detailsSay(failed, 'success')]),
    );
    // A failure that the details contradict stays one until a list agrees (P14).
    expect([first?.to, second?.to]).toEqual(['returned', 'failed']);
    expect(second?.effect.kind).toBe('conflict');
    expect((await payoutById(ledger, paid)).state).toBe('returned');
    expect(await problemsOf(made.path)).toEqual([]);
    const story = await payoutStory(ledger, 'ENDED-1');
    expect(story?.history.map(({ seq }) => Number(seq))).toEqual(story?.history.map((_, n) => n + 1));
    const reporting = reportingOf(ledger, made.folder);
    const closed = await reporting.closePeriod(
      '2026-12',
      new Date(Date.UTC(2027, 0, 2)).toISOString(),
      'ada',
    );
    expect(
      closed.kind === 'closed' &&
        closed.statement
          .filter(({ line }) => ['returned', 'reopened'].includes(line))
          .map(({ line, count }) => [line, count]),
    ).toEqual([
      ['reopened', 0n],
      ['returned', 1n],
    ]);
    expect(await problemsOf(made.path)).toEqual([]);
  });

  it('show and report still tell all: the story, the results of the batch, and the runs, byte for byte', async () => {
    const reporting = reportingOf(ledger, made.folder);
    const [run = ''] = runs;
    const writeAll = async (over: typeof reporting) => ({
      story: await payoutStory(ledger, 'ENDED-2'),
      runs: await Promise.all(runs.map((id) => bytesOf(() => over.writeRun(id)))),
      results: await bytesOf(async () =>
        (await over.writeBatchResults('ended', { force: true })).files.filter(
          (file) => !file.endsWith('failed.csv'),
        ),
      ),
    });
    const before = await writeAll(reporting);
    await archived();
    const after = await writeAll(reportingOf(ledger, made.folder));
    expect(after.runs).toEqual(before.runs);
    expect(after.results).toEqual(before.results);
    const { payout, archive, ...story } = after.story ?? {};
    const { payout: was, archive: none, ...had } = before.story ?? {};
    expect(story).toEqual(had);
    expect([none, archive]).toEqual([null, { file: 'ledger-2026-11.db', read: true }]);
    expect(payout).toEqual({ ...was, archived_seq: was?.history_seq });
    expect(run).not.toBe('');
  });

  it('leaves a batch with an open discrepancy, look-up or later news, and runs of the open month', async () => {
    const discrepancy = {
      id: 'D-1',
      subject: 'x',
      kind: 'amount_conflict' as const,
      payout_id: ended[0] ?? 0n,
      batch_id: 'ended',
    };
    const texts = {
      reference: '',
      currency: 'NGN',
      expected: '',
      actual: '',
      difference: '',
      severity: 'high' as const,
      evidence: '',
      advice: '{}',
    };
    const times = {
      state: 'open' as const,
      note: '',
      first_seen_at: now(),
      last_seen_at: now(),
      last_run_id: '',
    };
    await ledger.db
      .insertInto('discrepancies')
      .values({ ...discrepancy, ...texts, ...times })
      .execute();
    await addSent(ledger, 'news', 24, ['success']);
    expect(await archived()).toMatchObject({ kind: 'archived', batches: 0, payouts: 0, runs: 2 });
    const kept = await ledger.db.selectFrom('runs').select('id').where('archive_id', 'is', null).execute();
    expect(kept.map(({ id }) => id)).toEqual([runs[2]]);
    await ledger.db.updateTable('discrepancies').set({ state: 'resolved' }).execute();
    expect(await archived()).toMatchObject({
      kind: 'archived',
      batches: 1,
      file: join(archiveFolder(), 'ledger-2026-11-2.db'),
    });
    expect(await problemsOf(made.path)).toEqual([]);
  });

  it('gives no archive the name of one that lies elsewhere, so that it can be put back', async () => {
    const reported = (n: bigint) =>
      ledger.db
        .updateTable('batches')
        .set((on) => ({ reported_version: on('version', '-', n) }))
        .where('id', '=', 'ended')
        .execute();
    await reported(1n);
    expect(await archived()).toMatchObject({ kind: 'archived', batches: 0, file: fileOf() });
    renameSync(fileOf(), join(made.folder, 'on-tape.db'));
    await reported(0n);
    expect(await archived()).toMatchObject({
      batches: 1,
      file: join(archiveFolder(), 'ledger-2026-11-2.db'),
    });
    renameSync(join(made.folder, 'on-tape.db'), fileOf());
    expect(await problemsOf(made.path)).toEqual([]);
  });

  it('refuses before a month is closed, and on a ledger that may have forgotten payments', async () => {
    expect(worded(await archived(november(20)))).toMatchObject({
      kind: 'refused',
      why: expect.stringContaining('no closed month'),
    });
    const copy = join(made.folder, 'copy.db');
    await backupLedger(ledger, copy, now());
    const done = await archiveLedger({ path: copy, before: novemberEnds, now });
    expect(worded(done)).toMatchObject({ kind: 'refused', why: expect.stringContaining('backup') });
  });

  it('verify fails without the archive, and with another file in its place; reading commands say which file', async () => {
    await archived();
    renameSync(fileOf(), `${fileOf()}.away`);
    expect(await problemsOf(made.path)).toEqual([
      expect.stringMatching(/^archives: ledger-2026-11.db: the file is not at .*put it back/),
    ]);
    expect((await payoutStory(ledger, 'ENDED-1'))?.archive).toEqual({
      file: 'ledger-2026-11.db',
      read: false,
    });
    await expect(reportingOf(ledger, made.folder).writeRun(runs[0] ?? '')).rejects.toThrow('put it back');
    writeFileSync(fileOf(), readFileSync(`${fileOf()}.away`).fill(7, 5000, 5001));
    expect(await problemsOf(made.path)).toEqual([
      'archives: ledger-2026-11.db: the file was changed since it was made',
    ]);
  });

  it.each([
    [
      'an amount',
      `update payouts set amount = 1 where reference = 'ENDED-1'`,
      /archives: ended: its payouts are not those/,
    ],
    [
      'a state',
      `update payouts set state = 'cancelled' where reference = 'ENDED-1'`,
      /archives: ENDED-1: state is "cancelled"/,
    ],
    [
      'a reference that is gone',
      `update payouts set reference = 'OTHER', reference_key = 'other' where reference = 'ENDED-1'`,
      /archives: ended: its payouts/,
    ],
    [
      'the sum of a month',
      `update archived_amounts set amount = amount + 1 where line = 'settled'`,
      /periods: 2026-11: settled in NGN/,
    ],
    ['a last entry', `delete from history where payout_id = 1`, /history: ENDED-1: history_seq/],
  ])('verify finds %s that changed after archiving', async (_, statement, problem) => {
    await archived();
    await tamper(ledger, statement);
    expect((await problemsOf(made.path)).join('\n')).toMatch(problem);
  });

  it('P26: the archive itself never sends, and can be read as a ledger', async () => {
    await archived();
    const archive = await openLedger(fileOf(), { now, reads: true });
    expect((await haltInWords(archive.db))?.cause).toContain('archive of closed months');
    expect(archive.id).toBe(ledger.id);
    await archive.close();
  });

  it('is not restored in the place of its ledger, and is not called a ledger that moved', async () => {
    await archived();
    await ledger.close();
    const done = await restoreLedger(made.path, fileOf(), now());
    ledger = await openLedger(made.path, { now });
    expect(worded(done)).toEqual({
      kind: 'unfit',
      why: expect.stringContaining(`${fileOf()} is an archive`),
    });
  });

  it('P25: the ledger is still its mark’s, and a backup of before the archive is proven after it was adopted', async () => {
    await archived();
    expect(await haltInWords(ledger.db)).toBeUndefined();
    const copy = join(made.folder, 'copy.db');
    await backupLedger(ledger, copy, now());
    expect(await problemsOf(copy)).toEqual([]);
  });

  it('P25: a kill after the rows are out leaves no ledger that seems to have gone back in time', async () => {
    // A process that was killed left its mark at an entry that goes into the archive.
    const entry = await ledger.db
      .selectFrom('history')
      .select(['id', 'hash'])
      .where('payout_id', 'in', ended)
      .orderBy('id')
      .executeTakeFirstOrThrow();
    await ledger.close();
    const mark = `${made.path}.mark`;
    writeFileSync(mark, `${made.id} ${entry.id} ${entry.hash}\n`);
    let atKill = '';
    const onStep = (step: string): void => {
      if (step === 'strip') atKill = readFileSync(mark, 'utf8');
    };
    expect(await archiveLedger({ path: made.path, before: novemberEnds, now, onStep })).toMatchObject({
      batches: 1,
    });
    writeFileSync(mark, atKill);
    ledger = await openLedger(made.path, { now });
    expect(await haltInWords(ledger.db)).toBeUndefined();
  });

  it('P37: a file is still compared with a batch that was archived, and its payees are still listed', async () => {
    await archived();
    const row = (n: number, account: string): PayeeRow => ({
      ...{
        row: n,
        reference: `NEW-${n}`,
        accountNumber: account,
        accountName: 'ADA OBI',
        bankCode: '000013',
      },
      ...{ currency: 'NGN', amount: 150_000n, payeeId: '' },
    });
    const rows = Array.from({ length: 8 }, (_, n) => row(n + 2, n === 3 ? '9999999999' : '0123456789'));
    const some = async () => rows;
    const now = { columns: [], count: rows.length, totals: new Map(), batch: null, again: new Map(), some };
    const each = (take: (some: readonly PayeeRow[]) => Promise<void>) => take(rows);
    const found = await comparePayees(ledger.db, { ...now, each }, { newcomers: true, zone: 'UTC' });
    expect(found?.comparison).toMatchObject({
      ...{ with: 'ended', accountChanged: 1, newPayees: 0 },
      changes: [{ row: 5, kind: 'account_changed', old: '0123456789', new: '9999999999' }],
    });
    const listed = await listPayees(ledger.db, { changed: false, limit: 10 });
    expect(listed).toMatchObject([{ account_number: '0123456789', names: ['ADA OBI'] }]);
  });

  it('an archive that was begun and never finished is forgotten, with its file', async () => {
    const row = { file: 'ledger-2026-11.db', through_history: 1n, begun_at: now(), done_at: null };
    await ledger.db.insertInto('archives').values(row).execute();
    expect(await archived()).toMatchObject({ kind: 'archived', file: fileOf() });
    expect(readdirSync(archiveFolder())).toEqual(['ledger-2026-11.db']);
    expect(existsSync(`${fileOf()}.partial`)).toBe(false);
  });
});
