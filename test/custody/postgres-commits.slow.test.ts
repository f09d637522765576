import { join } from 'node:path';
import { sql } from 'kysely';
import { Client } from 'pg';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import type { Ledger } from '../../src/core/storage/ledger.ts';
import type { PostgresPlace } from '../../src/core/storage/place.ts';
import { openLedger } from '../../src/custody/open-ledger.ts';
import { halt } from '../../src/sending/halts.sql.ts';
import { addBatch, at, claimAt } from '../support/ledger.ts';
import { noPostgres, type PostgresServer, startPostgres } from '../support/postgres-server.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const server: PostgresServer | null = await startPostgres({ fsync: 'on' });
afterAll(() => server?.stop());

/** A schema of its own, and a data folder of one machine. */
function place(schema: string, options = ''): PostgresPlace {
  const url = `${server?.url}?schema=${schema}&options=${encodeURIComponent(options)}`;
  return { kind: 'postgres', path: join(temporaryFolder(), 'ledger.postgres'), url };
}

async function open(where: PostgresPlace): Promise<Ledger> {
  const ledger = await openLedger(where, { now: () => at(0) });
  onTestFinished(() => ledger.close().catch(() => undefined));
  return ledger;
}

async function ask(text: string): Promise<void> {
  const client = new Client({ connectionString: server?.url ?? '' });
  await client.connect();
  try {
    await client.query(text);
  } finally {
    await client.end();
  }
}

const shown = (synchronous_commit: string) => ({ rows: [{ synchronous_commit }] });

describe.skipIf(!server)(`what a commit on PostgreSQL means${server ? '' : noPostgres}`, () => {
  it('P2: a claim that waited for the ledger sees what was committed meanwhile, whatever isolation the database has by default', async () => {
    const options = '-c default_transaction_isolation=repeatable\\ read';
    const [one, two] = [await open(place('waits', options)), await open(place('waits', options))];
    await addBatch(one, ['R-1']);
    const holding = Promise.withResolvers<void>();
    const held = one.write(async (trx) => {
      holding.resolve();
      // Long enough for the claim to begin, and to wait for this one's end.
      await sql`select pg_sleep(0.3)`.execute(trx);
      await halt(trx, { kind: 'person' }, at(1));
    });
    await holding.promise;
    const claimed = claimAt(two, at(2), 1);
    await held;
    expect(await claimed).toEqual([]);
  });

  it('P25: commits stay durable when the server is told not to wait for its disk while the ledger is open', async () => {
    const ledger = await open(place('stays'));
    try {
      await ask('alter system set synchronous_commit = off');
      await ask('select pg_reload_conf()');
      await expect.poll(() => sql`show synchronous_commit`.execute(ledger.db)).toMatchObject(shown('off'));
      expect(await ledger.write((trx) => sql`show synchronous_commit`.execute(trx))).toMatchObject(
        shown('on'),
      );
    } finally {
      await ask('alter system reset synchronous_commit');
      await ask('select pg_reload_conf()');
    }
  });
});
