import Database from 'better-sqlite3';

/** Makes every commit of this process take that much longer, as on a slow disk: nothing else runs meanwhile. */
export function slowCommits(ms: number): void {
  const still = new Int32Array(new SharedArrayBuffer(4));
  const memory = new Database(':memory:');
  const statements: Database.Statement = Object.getPrototypeOf(memory.prepare('select 1'));
  memory.close();
  const { run } = statements;
  statements.run = function (this: Database.Statement, ...values: unknown[]) {
    const result = run.apply(this, values);
    if (this.source === 'commit') Atomics.wait(still, 0, 0, ms);
    return result;
  };
}
