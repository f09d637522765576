import { statSync } from 'node:fs';
import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import Database from 'better-sqlite3';
import { sql } from 'kysely';
import type { Db } from '../core/storage/ledger.ts';
import { type LedgerProblem, type ProblemFact, problemsOf } from './ledger-problem.ts';
import { openSnapshot, openUnchanged } from './snapshot.ts';

/** `unchanged`: an archive, whose file must not change. */
export type DatabaseCheckTask = { path: string; unchanged: boolean };
export type FileAnswer =
  | { kind: 'checked'; found: LedgerProblem[] }
  | { kind: 'failed'; code: string; message: string };

/** SQLite's own check of a ledger file. Once nothing needs `found` any more, `drop` keeps no process alive. */
export type FileCheck = { found: Promise<LedgerProblem[]>; drop(): void };

type Stray = { table: string; rowid: bigint | null; parent: string };

/** Opens the file, and reads it whole: its pages, each index beside its table, and what rows refer to. */
export async function checkDatabaseFile({ path, unchanged }: DatabaseCheckTask): Promise<LedgerProblem[]> {
  const { db, close } = await (unchanged ? openUnchanged(path) : openSnapshot(path));
  try {
    return await readWhole(db);
  } finally {
    await close();
  }
}

/** A file from this size on is checked in a thread: a smaller one is read before that thread has started. */
const aside = 64 * 1024 * 1024;

/** Begins {@link checkDatabaseFile}. For a large file it is a quarter of the work of `verify`, and runs beside the rest. */
export function beginFileCheck(task: DatabaseCheckTask, { asideFrom = aside } = {}): FileCheck {
  const isLarge = statSync(task.path).size >= asideFrom;
  const check = isLarge ? checkInThread(task) : { found: checkDatabaseFile(task), drop: () => undefined };
  // The caller receives this failure when it awaits `found`. Until then it must not crash the process.
  check.found.catch(() => undefined);
  return check;
}

function checkInThread(task: DatabaseCheckTask): FileCheck {
  const { promise, resolve, reject } = Promise.withResolvers<LedgerProblem[]>();
  // The installed program is compiled: its files end in `.js`.
  const script = new URL(`./file-check-worker${extname(import.meta.url)}`, import.meta.url);
  const worker = new Worker(script, { name: 'file-check', workerData: task });
  worker.on('message', (answer: FileAnswer) => {
    if (answer.kind === 'checked') resolve(answer.found);
    else reject(new Database.SqliteError(answer.message, answer.code));
  });
  worker.on('error', reject);
  worker.on('exit', (code) => reject(new Error(`the thread that checks the file ended with code ${code}`)));
  return { found: promise, drop: () => worker.unref() };
}

async function readWhole(db: Db): Promise<LedgerProblem[]> {
  const integrity = await sql<{ integrity_check: string }>`pragma integrity_check(20)`.execute(db);
  const broken = integrity.rows
    .map((row): ProblemFact<'database_broken'> => ({ kind: 'database_broken', said: row.integrity_check }))
    .filter(({ said }) => said !== 'ok');
  const strays = await sql<Stray>`pragma foreign_key_check`.execute(db);
  const refers = strays.rows.map(
    ({ table, rowid, parent }): ProblemFact => ({ kind: 'stray_row', table, rowid, parent }),
  );
  return [...problemsOf('integrity', null, broken), ...problemsOf('foreign_keys', null, refers)];
}
