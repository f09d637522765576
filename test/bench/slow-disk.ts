import Database from 'better-sqlite3';

/** Makes every commit of this process's SQLite ledgers take that much longer, as on a slow disk: nothing else runs. */
export function slowCommits(ms: number): void {
  const still = new Int32Array(new SharedArrayBuffer(4));
  const prepare = Database.prototype.prepare;
  Database.prototype.prepare = function (this: Database.Database, sql: string) {
    const statement = prepare.call(this, sql);
    if (sql.trim().toLowerCase() !== 'commit') return statement;
    const run = statement.run.bind(statement);
    statement.run = (values: unknown[]) => {
      const result = run(values);
      Atomics.wait(still, 0, 0, ms);
      return result;
    };
    return statement;
  } as typeof prepare;
}
