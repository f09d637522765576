import { copyFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { withDatabase } from '../../src/core/storage/sqlite.ts';
import { batchOf, type Home, makeHome } from '../support/cli.ts';

/** The ledger as litestream gives it back: the file alone, with the two tables that litestream keeps in it. */
async function streamed(): Promise<{ home: Home; ledger: string; copy: string }> {
  const home = await makeHome();
  expect((await home.run(['submit', home.put('one.csv', batchOf(2))])).code).toBe(0);
  const ledger = join(home.dir, 'data', 'ledger.db');
  withDatabase(ledger, (database) =>
    database.exec(
      'create table _litestream_seq (id integer primary key, seq integer); create table _litestream_lock (id integer)',
    ),
  );
  const copy = join(home.dir, 'streamed.db');
  copyFileSync(ledger, copy);
  return { home, ledger, copy };
}

const another = (home: Home): string => home.put('two.csv', batchOf(1, 3));

it('restore adopts a copy that litestream made, which then sends nothing before a full run', async () => {
  const { home, copy } = await streamed();
  // The mark says exactly what the copy has: nothing but restore raises the barrier.
  const restored = await home.run(['restore', copy, '--adopt', '--yes']);
  expect([restored.code, restored.out + restored.err]).toEqual([4, expect.stringContaining('adopted')]);
  const before = home.sandbox.book.transfers().length;
  await home.run(['submit', another(home)]);
  expect(home.sandbox.book.transfers()).toHaveLength(before);
  await home.run(['reconcile', '--full']);
  await home.run(['submit']);
  expect(home.sandbox.book.transfers()).toHaveLength(before + 1);
  const proof = await home.run(['verify']);
  expect([proof.code, proof.out]).toEqual([0, expect.stringContaining('The ledger is proven')]);
});

it('a copy that litestream made sends nothing where it lies without the mark', async () => {
  const { home, ledger, copy } = await streamed();
  for (const name of ['', '-wal', '-shm', '.mark']) rmSync(`${ledger}${name}`, { force: true });
  copyFileSync(copy, ledger);
  const before = home.sandbox.book.transfers().length;
  const sent = await home.run(['submit', another(home)]);
  expect(sent.out + sent.err).toMatch(/went back in time/);
  expect(home.sandbox.book.transfers()).toHaveLength(before);
});
