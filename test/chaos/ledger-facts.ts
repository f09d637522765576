import Database from 'better-sqlite3';

export type PayoutFact = { reference: string; state: string; minor: number; began: number[] };

/** Looks into a ledger file from outside, beside the processes that write it. */
export function lookInto(path: string) {
  const database = new Database(path, { readonly: true, timeout: 30_000 });
  const count = (query: string, ...values: unknown[]): number =>
    Number(
      database
        .prepare<unknown[], number>(query)
        .pluck()
        .get(...values) ?? 0,
    );
  return {
    close: () => database.close(),
    payouts: () => count('select count(*) from payouts'),
    /** Not sent yet, or an attempt under way. */
    unfinished: () => count("select count(*) from payouts where state in ('ready', 'held', 'sending')"),
    inState: (state: string) => count('select count(*) from payouts where state = ?', state),
    batchesWithUnknowns: () =>
      database
        .prepare<[], string>(
          "select distinct batch_id from payouts where state = 'unknown' order by batch_id",
        )
        .pluck()
        .all(),
    openAttempts: () => count('select count(*) from attempts where outcome is null'),
    /** Attempts under way of the process with this id, whichever worker id it took. */
    openAttemptsOf: (pid: number) =>
      count(
        'select count(*) from attempts where outcome is null and worker_id in (select id from workers where pid = ?)',
        pid,
      ),
    abandoned: () => count("select count(*) from attempts where code = 'abandoned'"),
    unknownAnswers: () =>
      count("select count(*) from attempts where outcome = 'unknown' and code is not 'abandoned'"),
    retries: () => count("select count(*) from history where event = 'retry'"),
    tooOld: () =>
      count("select count(*) from attempts where outcome = 'not_sent' and message like '%too old%'"),
    *each(): Generator<PayoutFact> {
      const rows = database
        .prepare<[], { reference: string; state: string; minor: number; began: string | null }>(
          `select reference, state, amount as minor,
             (select group_concat(began_at) from attempts where payout_id = payouts.id) as began from payouts`,
        )
        .iterate();
      for (const { began, ...row } of rows)
        yield { ...row, began: (began ?? '').split(',').map((text) => Date.parse(text)) };
    },
  };
}

export type LedgerView = ReturnType<typeof lookInto>;
