import { Client } from 'pg';
import { afterAll, describe, expect, it } from 'vitest';
import { postgresWire } from '../../../src/core/runtime/queue-postgres.sql.ts';
import { noPostgres, startPostgres } from '../../support/postgres-server.ts';
import { noRedis, startRedis } from '../../support/redis-server.ts';
import { checksOf } from './queue-checks.ts';

const redis = await startRedis();
const postgres = await startPostgres();
afterAll(async () => {
  await redis?.stop();
  await postgres?.stop();
});

async function ask(url: string, text: string): Promise<void> {
  const client = new Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(text);
  } finally {
    await client.end();
  }
}

describe.skipIf(redis === null)(`doctor on Redis${redis ? '' : noRedis}`, () => {
  it('tells version, memory and persistence, with the setting to change', async () => {
    expect(await checksOf(redis?.url ?? '')).toEqual([
      {
        name: 'queue',
        ok: true,
        detail: expect.stringMatching(/^redis:\S+ answers: Redis \d+\.\d+/),
        fix: null,
      },
      { name: 'queue memory', ok: true, detail: expect.stringContaining('noeviction'), fix: null },
      { name: 'queue persistence', ok: true, detail: expect.stringContaining('appendonly yes'), fix: null },
    ]);
    await redis?.run('CONFIG', 'SET', 'maxmemory-policy', 'allkeys-lru');
    await redis?.run('CONFIG', 'SET', 'save', '60 1');
    const [, memory, persistence] = await checksOf(redis?.url ?? '');
    expect(memory).toMatchObject({ ok: false, fix: expect.stringContaining('maxmemory-policy noeviction') });
    expect(persistence).toMatchObject({ ok: true, detail: 'it keeps its jobs over a restart' });
    await redis?.run('CONFIG', 'SET', 'maxmemory-policy', 'noeviction');
  });

  it.skipIf(!redis?.kill).each([
    ['OOM', ['maxmemory', '1'], ['maxmemory', '0'], /raise maxmemory/],
    ['NOREPLICAS', ['min-replicas-to-write', '1'], ['min-replicas-to-write', '0'], /start them/],
    [
      'READONLY',
      ['replicaof', '127.0.0.1', '1'],
      ['replicaof', 'no', 'one'],
      /point queue.url at the primary/,
    ],
  ])('tells one that answers and takes nothing: %s', async (why, wrong, right, fix) => {
    const run = ([name = '', ...rest]: string[]): Promise<unknown> | undefined =>
      name === 'replicaof' ? redis?.run(name, ...rest) : redis?.run('CONFIG', 'SET', name, ...rest);
    await run(wrong);
    try {
      const [check] = await checksOf(redis?.url ?? '');
      const detail = expect.stringMatching(`takes nothing \\(${why} .*each daemon sends by itself`);
      expect(check).toMatchObject({ ok: false, detail, fix: expect.stringMatching(fix) });
    } finally {
      await run(right);
    }
  });

  it('tells a wrong password without saying it', async () => {
    await redis?.run('CONFIG', 'SET', 'requirepass', 'right-password');
    const url = (redis?.url ?? '').replace('//', '//:wrong-password@');
    const [check] = await checksOf(url);
    expect(check).toMatchObject({
      ok: false,
      fix: expect.stringContaining('user and password in queue.url'),
    });
    expect(JSON.stringify(check)).not.toContain('wrong-password');
  });
});

describe.skipIf(postgres === null)(`doctor on PostgreSQL${postgres ? '' : noPostgres}`, () => {
  const url = postgres?.url ?? '';

  it('tells version and tables, before and after the first serve', async () => {
    const before = await checksOf(url);
    expect(before).toMatchObject([
      { ok: true, detail: expect.stringMatching(/^postgres:\S+ answers: PostgreSQL \d+/) },
      { name: 'queue tables', ok: true, detail: 'not there yet: the first serve brings them' },
    ]);
    await (await postgresWire(url, 'here')).check();
    expect(await checksOf(url)).toMatchObject([
      { ok: true },
      { ok: true, detail: expect.stringMatching(/^there, in version \d+$/) },
    ]);
  });

  it('tells one that can only be read, as a standby', async () => {
    const { pathname } = new URL(url);
    await ask(url, `alter database ${pathname.slice(1)} set default_transaction_read_only = on`);
    const [check] = await checksOf(url);
    expect(check).toMatchObject({ ok: false, detail: expect.stringContaining('takes nothing (READONLY') });
    await ask(
      url,
      `begin read write; alter database ${pathname.slice(1)} reset default_transaction_read_only; commit`,
    );
  });

  it('tells a database that is not there', async () => {
    const [check] = await checksOf(url.replace(/[^/]+$/, 'nowhere'));
    expect(check).toMatchObject({ ok: false, fix: 'create that database, or correct queue.url' });
  });
});
