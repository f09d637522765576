import Database from 'better-sqlite3';
import { Queue, Worker } from 'bullmq';
import { Logger, makeWorkerUtils, run } from 'graphile-worker';
import { Pool as Postgres } from 'pg';
import type { Pool } from 'undici';
import { type Bare, bodyOf, signedPost, withPool } from './bare.ts';

/** Resolves once every job is done; fails with the first job that failed. */
type Counter = { done(): void; failed(error: unknown): void; all: Promise<void> };

function countTo(rows: number): Counter {
  const { promise: all, resolve, reject } = Promise.withResolvers<void>();
  let left = rows;
  return {
    done() {
      left -= 1;
      if (left === 0) resolve();
    },
    failed: reject,
    all,
  };
}

/**
 * What a user would build of BullMQ: a job for each payout, and its row updated before and after the POST. Returns the
 * seconds from the first job taken to the last one done; the jobs lie in the queue before.
 */
export async function withBullmq(service: Bare, rows: number, redis: string, path: string): Promise<number> {
  const { hostname: host, port } = new URL(redis);
  const connection = { host, port: Number(port), maxRetriesPerRequest: null };
  const ledger = new Database(path);
  ledger.pragma('journal_mode = WAL');
  ledger.pragma('synchronous = FULL');
  ledger.exec('create table payouts (id integer primary key, state text not null, answer text) strict');
  const insert = ledger.prepare("insert into payouts (id, state) values (?, 'ready')");
  ledger.transaction(() => {
    for (let i = 0; i < rows; i++) insert.run(i);
  })();
  const begin = ledger.prepare("update payouts set state = 'sending' where id = ?");
  const end = ledger.prepare("update payouts set state = 'pending', answer = ? where id = ?");
  const queue = new Queue('payouts', { connection, defaultJobOptions: { removeOnComplete: true } });
  await inGroups(rows, (ids) =>
    queue.addBulk(ids.map((i) => ({ name: 'pay', data: { i }, opts: { jobId: `pay-${i}` } }))),
  );
  const counter = countTo(rows);
  const pay = async (pool: Pool, i: number): Promise<void> => {
    begin.run(i);
    end.run(await signedPost(pool, service, bodyOf(i)), i);
  };
  try {
    return await withPool(service, async (pool) => {
      const began = performance.now();
      const { concurrency } = service;
      const worker = new Worker('payouts', ({ data }) => pay(pool, data.i), { connection, concurrency });
      worker.on('completed', counter.done);
      worker.on('failed', (_, error) => counter.failed(error));
      await counter.all;
      const seconds = (performance.now() - began) / 1000;
      await worker.close();
      return seconds;
    });
  } finally {
    await queue.close();
    ledger.close();
  }
}

const silent = new Logger(() => () => undefined);

/** The same with graphile-worker: jobs and rows in one PostgreSQL. */
export async function withGraphile(service: Bare, rows: number, url: string): Promise<number> {
  const { concurrency } = service;
  const ledger = new Postgres({ connectionString: url, max: concurrency });
  await ledger.query('create table payouts (id integer primary key, state text not null, answer text)');
  await ledger.query("insert into payouts select i, 'ready' from generate_series(0, $1::int - 1) i", [rows]);
  const utils = await makeWorkerUtils({ connectionString: url, logger: silent });
  await utils.migrate();
  await inGroups(rows, (ids) => utils.addJobs(ids.map((i) => ({ identifier: 'pay', payload: { i } }))));
  await utils.release();
  const counter = countTo(rows);
  const pay = async (pool: Pool, i: number): Promise<void> => {
    await ledger.query("update payouts set state = 'sending' where id = $1", [i]);
    const answer = await signedPost(pool, service, bodyOf(i));
    await ledger.query("update payouts set state = 'pending', answer = $1 where id = $2", [answer, i]);
  };
  try {
    return await withPool(service, async (pool) => {
      const began = performance.now();
      const runner = await run({
        connectionString: url,
        logger: silent,
        concurrency,
        maxPoolSize: concurrency + 2,
        noHandleSignals: true,
        taskList: { pay: (payload) => pay(pool, jobOf(payload)) },
      });
      runner.events.on('job:success', counter.done);
      runner.events.on('job:error', ({ error }) => counter.failed(error));
      await counter.all;
      const seconds = (performance.now() - began) / 1000;
      await runner.stop();
      return seconds;
    });
  } finally {
    await ledger.end();
  }
}

function jobOf(payload: unknown): number {
  if (typeof payload !== 'object' || payload === null || !('i' in payload))
    throw new Error('no payout named');
  return Number(payload.i);
}

async function inGroups(rows: number, add: (ids: number[]) => Promise<unknown>): Promise<void> {
  const group = 1000;
  for (let from = 0; from < rows; from += group)
    await add(Array.from({ length: Math.min(group, rows - from) }, (_, at) => from + at));
}
