import { execFileSync } from 'node:child_process';
import Database from 'better-sqlite3';
import { debianPostgresFolders, findProgram } from '../support/server-process.ts';

export type PayoutFact = {
  reference: string;
  state: string;
  minor: number;
  /** When each attempt began, by the clock of its process, and which kind of process that was. */
  attempts: { began: number; kind: string }[];
};

type Rows = (query: string) => unknown[][];
type Opened = { rows: Rows; close(): void };

/** Looks into a ledger, a file or a database by its URL, from outside, beside the processes that write it. */
export function lookInto(ledger: string) {
  const { rows, close } = ledger.startsWith('postgres') ? openDatabase(ledger) : openFile(ledger);
  const count = (query: string): number => Number(rows(query)[0]?.[0] ?? 0);
  return {
    close,
    payouts: () => count('select count(*) from payouts'),
    /** Not sent yet, or an attempt under way. */
    unfinished: () => count("select count(*) from payouts where state in ('ready', 'held', 'sending')"),
    inState: (state: string) => count(`select count(*) from payouts where state = '${state}'`),
    batchesWithUnknowns: () =>
      rows("select distinct batch_id from payouts where state = 'unknown' order by batch_id").map(([id]) =>
        String(id),
      ),
    /** Attempts ever begun. */
    begun: () => count('select count(*) from attempts'),
    openAttempts: () => count('select count(*) from attempts where outcome is null'),
    /** Attempts under way of the process with this id, whichever worker id it took. */
    openAttemptsOf: (pid: number) =>
      count(
        `select count(*) from attempts where outcome is null and worker_id in (select id from workers where pid = ${pid})`,
      ),
    abandoned: () => count("select count(*) from attempts where code = 'abandoned'"),
    unknownAnswers: () =>
      count("select count(*) from attempts where outcome = 'unknown' and coalesce(code, '') <> 'abandoned'"),
    retries: () => count("select count(*) from history where event = 'retry'"),
    tooOld: () =>
      count("select count(*) from attempts where outcome = 'not_sent' and message like '%too old%'"),
    *each(): Generator<PayoutFact> {
      const attempts = new Map<string, PayoutFact['attempts']>();
      for (const [id, at, worker] of rows(
        'select payout_id, began_at, worker_id from attempts order by id',
      )) {
        const one = { began: Date.parse(String(at)), kind: String(worker).split('-')[0] ?? '' };
        attempts.set(String(id), [...(attempts.get(String(id)) ?? []), one]);
      }
      for (const [id, reference, state, minor] of rows('select id, reference, state, amount from payouts'))
        yield {
          reference: String(reference),
          state: String(state),
          minor: Number(minor),
          attempts: attempts.get(String(id)) ?? [],
        };
    },
  };
}

export type LedgerView = ReturnType<typeof lookInto>;

function openFile(path: string): Opened {
  const database = new Database(path, { readonly: true, timeout: 30_000 });
  return {
    rows: (query) => database.prepare<[], unknown[]>(query).raw().all(),
    close: () => database.close(),
  };
}

/** Through psql, which answers before the next line runs, as SQLite does. */
function openDatabase(url: string): Opened {
  const psql = findProgram('psql', debianPostgresFolders()) ?? 'psql';
  const address = new URL(url);
  // psql does not know our own parameter.
  const schema = address.searchParams.get('schema') ?? 'counterfoil';
  address.searchParams.delete('schema');
  const env = { ...process.env, PGOPTIONS: `-c search_path=${schema}` };
  const options = { env, encoding: 'utf8' as const, maxBuffer: 1 << 30, stdio: 'pipe' as const };
  return {
    rows: (query) =>
      patiently(() =>
        execFileSync(psql, ['-X', '-q', '-A', '-t', '-F', '\t', address.href, '-c', query], options),
      )
        .split('\n')
        .filter((line) => line !== '')
        .map((line) => line.split('\t')),
    close: () => undefined,
  };
}

/** The database is killed too, and takes a moment to recover. */
function patiently(ask: () => string): string {
  for (let tries = 0; ; tries++) {
    try {
      return ask();
    } catch (error) {
      if (tries > 100) throw error;
      execFileSync('sleep', ['0.2']);
    }
  }
}
