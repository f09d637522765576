import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { openLedger } from '../../src/custody/open-ledger.ts';
import { createSandbox } from '../../src/sandbox/sandbox.ts';
import { clientOf, senderOf } from '../sending/setting.ts';
import { addBatch, at } from '../support/ledger.ts';
import { noPostgres, type PostgresServer, startPostgres } from '../support/postgres-server.ts';
import { relayTo } from '../support/relay.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const server: PostgresServer | null = await startPostgres({ fsync: 'on' });
afterAll(() => server?.stop());

describe.skipIf(!server)(`the network to PostgreSQL${server ? '' : noPostgres}`, () => {
  it('P3: that swallows everything without a word ends what waits for an answer within seconds, and keeps nobody from closing', async () => {
    const relay = await relayTo(server?.url ?? '');
    const path = join(temporaryFolder(), 'ledger.postgres');
    const ledger = await openLedger({ kind: 'postgres', path, url: relay.url }, { now: () => at(0) });
    const swallowed = Promise.withResolvers<void>();
    const write = ledger.write(async (trx) => {
      swallowed.resolve(relay.swallow());
      await sql`select 1`.execute(trx);
    });
    const read = swallowed.promise.then(() => ledger.db.selectFrom('meta').selectAll().execute());
    const failed = { status: 'rejected', reason: { code: expect.stringMatching(/^POSTGRES_/) } };
    expect(await Promise.allSettled([write, read])).toMatchObject([failed, failed]);
    expect(ledger.session?.lost()?.code).toBe('POSTGRES_SESSION_LOST');
    await ledger.close();
  });

  it('P3: that breaks off between an intent and its order keeps the order from being written', async () => {
    const relay = await relayTo(server?.url ?? '');
    const path = join(temporaryFolder(), 'ledger.postgres');
    const url = `${relay.url}?schema=cut`;
    const ledger = await openLedger({ kind: 'postgres', path, url }, { now: () => at(0) });
    onTestFinished(() => ledger.close());
    await addBatch(ledger, ['R-1']);
    const sandbox = await createSandbox();
    onTestFinished(() => sandbox.stop());
    const client = clientOf(sandbox);
    onTestFinished(() => client.close());
    const service = {
      ...client,
      async bankTransfer(...order: Parameters<typeof client.bankTransfer>) {
        relay.cut();
        await expect.poll(() => ledger.session?.lost()?.code).toBe('POSTGRES_SESSION_LOST');
        return client.bankTransfer(...order);
      },
    };
    await expect(senderOf(ledger, service, { sendDeadlineMs: 60_000 }).run()).rejects.toMatchObject({
      code: 'POSTGRES_SESSION_LOST',
    });
    expect(sandbox.requests.posts).toBe(0);
  });
});
