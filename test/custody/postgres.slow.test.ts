import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { sql } from 'kysely';
import { Client } from 'pg';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { openFileTasks } from '../../src/core/ledger/file-tasks.ts';
import { record } from '../../src/core/ledger/record.ts';
import { systemClock } from '../../src/core/runtime/clock.ts';
import { createWorkers, tryReconcile } from '../../src/core/runtime/worker-lock.ts';
import type { Ledger } from '../../src/core/storage/ledger.ts';
import type { PostgresPlace } from '../../src/core/storage/place.ts';
import { adoptLedger } from '../../src/custody/adopt.ts';
import { shutGate } from '../../src/custody/custody-gate.ts';
import { openLedger } from '../../src/custody/open-ledger.ts';
import type { OpenOptions } from '../../src/custody/opening.ts';
import { verifyLedger } from '../../src/custody/verify-ledger.ts';
import { noBrakes } from '../../src/sending/brakes.ts';
import { claimUnlessHalted } from '../../src/sending/claims.sql.ts';
import { takeOver } from '../../src/sending/take-over.ts';
import { haltInWords } from '../../src/words/halt-words.ts';
import { addBatch, at, claimAt, payoutById, recordOutcome, replies, states } from '../support/ledger.ts';
import { noPostgres, type PostgresServer, startPostgres } from '../support/postgres-server.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';
import { problemTexts } from './worded.ts';

const server: PostgresServer | null = await startPostgres({ fsync: 'on' });
afterAll(() => server?.stop());

let made = 0;
/** A schema of its own, and a data folder of one machine. */
function place(folder = temporaryFolder(), schema = `s_${++made}`): PostgresPlace {
  return { kind: 'postgres', path: join(folder, 'ledger.postgres'), url: `${server?.url}?schema=${schema}` };
}
const elsewhere = ({ url }: PostgresPlace): PostgresPlace => ({
  ...place(),
  url,
});

async function open(where: PostgresPlace, options: Partial<OpenOptions> = {}): Promise<Ledger> {
  const ledger = await openLedger(where, { now: () => at(0), ...options });
  onTestFinished(() => ledger.close().catch(() => undefined));
  return ledger;
}

async function ask(text: string, url = server?.url ?? ''): Promise<Record<string, unknown>[]> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(text)).rows;
  } finally {
    await client.end();
  }
}

describe.skipIf(!server)(`the ledger on PostgreSQL${server ? '' : noPostgres}`, () => {
  it('is made once by whoever comes first, and opened by the others, with the same birth', async () => {
    const where = place();
    const opened = await Promise.all([open(where), open(elsewhere(where)), open(elsewhere(where))]);
    expect(new Set(opened.map(({ id }) => id)).size).toBe(1);
    await addBatch(opened[0], ['R-1']);
    expect(await states(opened[2])).toEqual({ 'R-1': 'ready' });
    expect((await verifyLedger(where)).checks.filter(({ ok }) => !ok)).toEqual([]);
  });

  it('P1: two machines on one ledger claim disjoint payouts', async () => {
    const where = place();
    const [one, two] = [await open(where), await open(elsewhere(where))];
    await addBatch(
      one,
      Array.from({ length: 40 }, (_, i) => `R-${i}`),
    );
    const turns = Array.from({ length: 10 }, (_, i) => claimAt(i % 2 ? one : two, at(1), 4, `w-${i % 2}`));
    const claimed = (await Promise.all(turns)).flat().map(({ payoutId }) => payoutId);
    expect([claimed.length, new Set(claimed).size]).toEqual([40, 40]);
  });

  it('P3: a process whose session ended writes nothing more, and another makes its claim unknown', async () => {
    const where = place();
    const one = await open(where);
    const workersOf = (ledger: Ledger, id: string) => createWorkers({ ledger, clock: systemClock(), id });
    const first = workersOf(one, 'first');
    await first.start('submit');
    const [id = 0n] = await addBatch(one, ['R-1']);
    const [claim] = await claimAt(one, at(1), 1, 'first');
    const two = await open(elsewhere(where));
    const second = workersOf(two, 'second');
    await second.start('submit');
    expect(await second.dead(), 'it lives').toEqual([]);
    const [{ pid } = { pid: 0 }] = await ask(
      `select l.pid from pg_locks l join pg_stat_activity a using (pid) where l.locktype = 'advisory' and l.mode = 'ShareLock' order by a.backend_start limit 1`,
    );
    await ask(`select pg_terminate_backend(${Number(pid)})`);
    await expect.poll(() => second.dead()).toEqual(['first']);
    expect(await takeOver({ ledger: two, clock: systemClock(), workers: second })).toBe(1);
    expect((await payoutById(two, id)).state).toBe('unknown');
    await expect(claimAt(one, at(2), 1, 'first')).rejects.toMatchObject({ code: 'POSTGRES_SESSION_LOST' });
    const late = claim ? recordOutcome(one, at(2), claim, replies.accepted()) : Promise.resolve();
    await expect(late).rejects.toMatchObject({ code: 'POSTGRES_SESSION_LOST' });
  });

  it('P3: the database itself refuses a write of a process that does not know yet that its session ended', async () => {
    const ledger = await open(place());
    const unaware: Ledger['session'] = ledger.session;
    expect(unaware?.lost()).toBeNull();
    const [{ pid } = { pid: 0 }] = await ask(
      `select l.pid from pg_locks l join pg_stat_activity a using (pid) where l.locktype = 'advisory' and l.mode = 'ShareLock' order by a.backend_start desc limit 1`,
    );
    // The write is under way before the news can arrive.
    const [write] = await Promise.allSettled([
      ask(`select pg_terminate_backend(${Number(pid)}), pg_sleep(0.05)`).then(() =>
        addBatch(ledger, ['R-1']),
      ),
    ]);
    expect(write).toMatchObject({ status: 'rejected', reason: { code: 'POSTGRES_SESSION_LOST' } });
  });

  it('P23: a machine finishes the moves of its own folders only', async () => {
    const where = place();
    const [one, two] = [await open(where), await open(elsewhere(where))];
    const move = { source: '/data/inbox/pay.csv', target: '/data/archive/b-1--pay.csv', created_at: at(1) };
    await one.write((trx) =>
      trx
        .insertInto('file_moves')
        .values({ ...move, kind: 'archive', owner: 'b-1', done_at: null })
        .execute(),
    );
    expect((await openFileTasks(one.db)).map(({ source }) => source)).toEqual([move.source]);
    expect(await openFileTasks(two.db)).toEqual([]);
  });

  it('one process over all machines reconciles', async () => {
    const where = place();
    const [one, two] = [await open(where), await open(elsewhere(where))];
    const lock = await tryReconcile(one);
    expect(await tryReconcile(two)).toBeNull();
    expect(await tryReconcile(one), 'nor the same process twice').toBeNull();
    await lock?.release();
    const next = await tryReconcile(two);
    expect(next).not.toBeNull();
    await next?.release();
  });

  it('who is alone on it keeps others out, and who is in keeps everybody from being alone', async () => {
    const where = place();
    const ledger = await open(where);
    expect(await shutGate(elsewhere(where))).toBeNull();
    await ledger.close();
    const gate = await shutGate(elsewhere(where));
    expect(gate).not.toBeNull();
    await expect(openLedger(where, { now: () => at(0) })).rejects.toMatchObject({ code: 'LEDGER_LOCKED' });
    await gate?.release();
    await open(where);
  });

  it('P25: a server on which a commit may be lost is refused, with what to change', async () => {
    const where = place();
    const database = new URL(where.url).pathname.slice(1);
    await ask(`alter database ${database} set synchronous_commit = off`);
    await expect(openLedger(where, { now: () => at(0) })).rejects.toMatchObject({
      code: 'POSTGRES_UNFIT',
      message: expect.stringMatching(/synchronous_commit is off.*alter database/),
    });
    await ask(`alter database ${database} reset synchronous_commit`);
    await open(where);
  });

  it('P25: another timeline sends nothing until it is adopted, on every machine', async () => {
    const where = place();
    const other = elsewhere(where);
    const first = await open(where);
    await addBatch(first, ['R-1']);
    const second = await open(other);
    await second.write((trx) => trx.insertInto('meta').values({ key: 'k', value: 'v' }).execute());
    for (const one of [first, second]) await one.close();
    const schema = new URL(where.url).searchParams.get('schema');
    await ask(`update ${schema}.meta set value = '1/1' where key = 'postgres_timeline'`);
    const fallen = await open(where);
    expect((await haltInWords(fallen.db))?.cause).toMatch(/another one than before.*restore --adopt/);
    await fallen.close();
    const owner = await open(where, { alone: 'owner' });
    await adoptLedger(owner, () => at(5));
    await owner.close();
    for (const one of [where, other]) {
      const adopted = await open(one);
      expect((await haltInWords(adopted.db))?.cause).toMatch(/reconcile --full/);
      await adopted.close();
    }
  });

  it('P25: a machine that has seen more than the database holds notices, and one that is new does not', async () => {
    const where = place();
    const ledger = await open(where, { now: () => new Date().toISOString() });
    await addBatch(ledger, ['R-1', 'R-2']);
    await ledger.close();
    expect(readFileSync(`${where.path}.mark`, 'utf8')).toMatch(/^\S+ 2 [0-9a-f]{64}\n$/);
    const schema = new URL(where.url).searchParams.get('schema');
    await ask(`set session_replication_role = replica; delete from ${schema}.history where id = 2`);
    const stranger = await open(elsewhere(where));
    expect(await haltInWords(stranger.db)).toBeUndefined();
    const again = await open(where);
    expect((await haltInWords(again.db))?.cause).toMatch(/it had 2 entries and now has 1/);
  });

  it('P25: marks of other machines from before an adoption are void after it', async () => {
    const where = place();
    const other = elsewhere(where);
    const second = await open(other, { now: () => new Date().toISOString() });
    await addBatch(second, ['R-1', 'R-2']);
    await second.close();
    const schema = new URL(where.url).searchParams.get('schema');
    await ask(`set session_replication_role = replica; delete from ${schema}.history where id = 2`);
    const owner = await open(where, { alone: 'owner' });
    await adoptLedger(owner, () => at(5));
    await owner.close();
    const back = await open(other);
    expect((await haltInWords(back.db))?.cause).toMatch(/reconcile --full/);
    expect((await haltInWords(back.db))?.cause).not.toMatch(/went back in time \(/);
  });

  it('P12: a commit whose answer was lost is told as one that may have happened', async () => {
    const ledger = await open(place());
    const failing = ledger.write(async (trx) => {
      await trx.insertInto('meta').values({ key: 'k', value: 'v' }).execute();
      const pids = await ask(`select pid from pg_stat_activity where state = 'idle in transaction'`);
      for (const { pid } of pids) await ask(`select pg_terminate_backend(${Number(pid)})`);
    });
    await expect(failing).rejects.toMatchObject({ code: 'POSTGRES_COMMIT_UNKNOWN' });
    // The connection is not used again, and the ledger goes on.
    await ledger.write((trx) => trx.insertInto('meta').values({ key: 'k', value: 'w' }).execute());
    expect(await ledger.db.selectFrom('meta').select('value').where('key', '=', 'k').execute()).toEqual([
      { value: 'w' },
    ]);
  });

  it('P27: what was written is kept from being changed, and verify says when that is no longer so', async () => {
    const where = place();
    const ledger = await open(where);
    await addBatch(ledger, ['R-1']);
    await expect(ledger.db.updateTable('history').set({ source: 'x' }).execute()).rejects.toThrow(
      'append-only',
    );
    await expect(ledger.db.deleteFrom('history').execute()).rejects.toThrow('append-only');
    const frozen = ledger.db.updateTable('payouts').set({ body: '{}' }).execute();
    await expect(frozen).rejects.toThrow('frozen at intake');
    const schema = new URL(where.url).searchParams.get('schema');
    await ask(`alter table ${schema}.history disable trigger history_no_delete`);
    expect(problemTexts(await verifyLedger(where))).toEqual([
      expect.stringContaining('the trigger history_no_delete'),
    ]);
  });

  it('what is sent of a ledger that was empty a moment ago is found by its keys, before the server knows its tables', async () => {
    const ledger = await open(place());
    // The server keeps the plan of a statement from the sixth time on: one for nearly empty tables.
    await addBatch(
      ledger,
      Array.from({ length: 12 }, (_, i) => `FEW-${i}`),
    );
    const send = (): Promise<{ name: string; read: bigint }[]> =>
      ledger.write(async (trx) => {
        const request = { workerId: 'w-1', at: at(1), brakes: noBrakes };
        const cleared = new Map<bigint, bigint>();
        const { claims } = await claimUnlessHalted(trx, { ...request, limit: 1, originId: 0n, cleared });
        const [claimed] = claims;
        if (!claimed) throw new Error('nothing to claim');
        const { payoutId, attemptId } = claimed;
        const event = { kind: 'outcome' as const, attemptId, outcome: replies.accepted(`${payoutId}`) };
        await record(trx, at(2), [{ payoutId, source: 'response', event }]);
        // What this transaction has read row by row of whole tables.
        const { rows } = await sql<{ name: string; read: bigint }>`
          select relname as name, seq_tup_read as read from pg_stat_xact_user_tables
          where relname in ('payouts', 'attempts', 'history') and seq_tup_read > 0`.execute(trx);
        return rows;
      });
    for (let times = 0; times < 12; times++) await send();
    await addBatch(
      ledger,
      Array.from({ length: 2000 }, (_, i) => `MANY-${i}`),
      { id: 'b-2' },
    );
    expect(await send()).toEqual([]);
  });

  it('a service that sends what no text can hold stops nobody', async () => {
    const ledger = await open(place());
    await addBatch(ledger, ['R-1']);
    const [claim] = await claimAt(ledger, at(1));
    const outcome = { ...replies.unknown(), message: 'no\0answer \ud800', raw: '\0' };
    if (claim) await recordOutcome(ledger, at(2), claim, outcome);
    expect((await payoutById(ledger, claim?.payoutId ?? 0n)).message).toBe('no\uFFFDanswer \uFFFD');
    expect((await verifyLedger(ledger.place)).ok).toBe(true);
  });

  it('shows no password, whatever cannot be reached', async () => {
    const url = 'postgres://ada:s3cret-of-ada@127.0.0.1:1/books';
    const failed = await openLedger({ ...place(), url }, { now: () => at(0) }).catch(
      (error: unknown) => error,
    );
    expect(failed).toMatchObject({ code: 'POSTGRES_ECONNREFUSED' });
    expect(JSON.stringify(failed) + String(failed)).not.toContain('s3cret');
  });
});
