import { randomUUID } from 'node:crypto';
import { Client } from 'pg';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import type { Job } from '../../../src/core/runtime/queue.ts';
import { postgresWire } from '../../../src/core/runtime/queue-postgres.sql.ts';
import { noPostgres, startPostgres } from '../../support/postgres-server.ts';
import { relayTo } from '../../support/relay.ts';
import { sharedQueue } from '../../support/shared-queue.ts';
import { itHandsOver } from './queue-outage.ts';

const postgres = await startPostgres();
afterAll(() => postgres?.stop());

const url = postgres?.url ?? '';
const times = { lockDuration: 1000, stalledInterval: 500, maxStalledCount: 3, runRetryDelay: 500 };
const wire = (space: string) => postgresWire(url, space, times);
const job = (id: string): Job => ({ name: 'share', id, payload: { batch: id } });
const patience = { timeout: 20_000, interval: 20 };

async function ask(text: string): Promise<number> {
  const client = new Client({ connectionString: url });
  await client.connect();
  const { rowCount } = await client.query(text);
  await client.end();
  return rowCount ?? 0;
}

describe.skipIf(postgres === null)(`a PostgreSQL in trouble${postgres ? '' : noPostgres}`, () => {
  it('that ends every connection is used again, and what was queued is still there', async () => {
    const { queue, heard } = sharedQueue(wire);
    await queue.add(job('b-1'));
    const others = `pid <> pg_backend_pid() and datname = current_database()`;
    await ask(`select pg_terminate_backend(pid) from pg_stat_activity where ${others}`);
    await expect.poll(() => heard.back, patience).toBe(1);
    expect(await queue.add(job('b-1'))).toBe('known');
    const ran: string[] = [];
    queue.process('share', async ({ id }) => void ran.push(id), { concurrency: 1 });
    await expect.poll(() => ran, patience).toEqual(['b-1']);
    await ask(`select pg_terminate_backend(pid) from pg_stat_activity where ${others}`);
    await expect.poll(() => heard.back, patience).toBe(2);
    await queue.add(job('b-2'));
    // A job whose end nobody was told is run once more: it is a hint.
    await expect.poll(() => [...new Set(ran)], patience).toEqual(['b-1', 'b-2']);
    await queue.close(1000);
  });

  it('that ends connections at any moment ends no process, not even those being made', async () => {
    const { queue } = sharedQueue(wire);
    const ran: string[] = [];
    queue.process('share', async ({ id }) => void ran.push(id), { concurrency: 1 });
    await queue.add(job('b-1'));
    const others = `pid <> pg_backend_pid() and datname = current_database()`;
    for (let times = 0; times < 150; times++) {
      await ask(`select pg_terminate_backend(pid) from pg_stat_activity where ${others}`);
      await new Promise((resolve) => setTimeout(resolve, times % 40));
    }
    await expect.poll(() => queue.add(job('b-2')).catch(() => 'away'), patience).toBe('added');
    await expect.poll(() => ran, patience).toContain('b-2');
    await queue.close(1000);
  });

  it('whose network goes while it is asked for the tables ends no process', async () => {
    const uncaught: unknown[] = [];
    const note = (error: unknown): void => void uncaught.push(error);
    process.on('uncaughtException', note);
    onTestFinished(() => void process.off('uncaughtException', note));
    const relay = await relayTo(url);
    const held = await postgresWire(relay.url, randomUUID(), times);
    await held.check();
    // Whoever asks about the tables waits meanwhile, by a connection to which BullMQ does not listen.
    const holder = new Client({ connectionString: url });
    await holder.connect();
    onTestFinished(() => holder.end());
    await holder.query('begin; lock table bullmq.migration');
    const queue = held.queue('share');
    queue.on('error', () => undefined);
    const asked = queue.getJobCounts().then(
      () => 'answered',
      () => 'cut off',
    );
    const waiting = `wait_event_type = 'Lock' and datname = current_database()`;
    await expect
      .poll(() => ask(`select from pg_stat_activity where ${waiting}`), patience)
      .toBeGreaterThan(0);
    relay.cut();
    expect(await asked).toBe('cut off');
    expect(uncaught).toEqual([]);
    await queue.disconnect();
    held.end();
  });

  it('that was emptied takes every id again', async () => {
    const { queue } = sharedQueue(wire);
    await queue.add(job('b-1'));
    await ask('truncate bullmq.job cascade');
    expect(await queue.depth()).toBe(0);
    expect(await queue.add(job('b-1'))).toBe('added');
    const ran: string[] = [];
    queue.process('share', async ({ id }) => void ran.push(id), { concurrency: 1 });
    await expect.poll(() => ran, patience).toEqual(['b-1']);
    await queue.close(1000);
  });

  itHandsOver(wire);
});
