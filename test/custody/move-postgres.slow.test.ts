import { join } from 'node:path';
import { sql } from 'kysely';
import { afterAll, afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import type { Ledger } from '../../src/core/storage/ledger.ts';
import { type PostgresPlace, placeName } from '../../src/core/storage/place.ts';
import { CopyDiffers, copyTables } from '../../src/custody/copy-tables.ts';
import { shutGate } from '../../src/custody/custody-gate.ts';
import { moveLedger } from '../../src/custody/move.ts';
import { openLedger } from '../../src/custody/open-ledger.ts';
import { verifyLedger } from '../../src/custody/verify-ledger.ts';
import { adviceText } from '../../src/words/advice-text.ts';
import {
  addBatch,
  at,
  claimAt,
  makeLedger,
  recordOutcome,
  replies,
  states,
  type TestLedger,
} from '../support/ledger.ts';
import { noPostgres, type PostgresServer, startPostgres } from '../support/postgres-server.ts';
import { worded } from './worded.ts';

const server: PostgresServer | null = await startPostgres({ fsync: 'on' });
afterAll(() => server?.stop());

let made = 0;
let ledger: TestLedger;
let to: PostgresPlace;
beforeEach(async () => {
  ledger = await makeLedger();
  const url = `${server?.url}?schema=m_${++made}`;
  to = { kind: 'postgres', path: join(ledger.folder, 'ledger.postgres'), url };
});
afterEach(() => ledger.remove());

const move = (more: { onRows?: () => void } = {}) =>
  moveLedger({ from: ledger.path, to, url: placeName(to), now: () => at(5000), say: adviceText, ...more });

async function openThere(): Promise<Ledger> {
  const there = await openLedger(to, { now: () => at(9000) });
  onTestFinished(() => there.close());
  return there;
}

/** A batch of which one was accepted, one is unknown and one waits; a webhook whose body is no text; a run with rows. */
async function live(): Promise<void> {
  await addBatch(ledger, ['R-1', 'R-2', 'R-3']);
  const [first, second] = await claimAt(ledger, at(1), 2);
  if (first) await recordOutcome(ledger, at(2), first, replies.accepted());
  if (second)
    await recordOutcome(ledger, at(2), second, { ...replies.unknown(), message: 'half \ud800, \0' });
  await ledger.write(async (trx) => {
    await sql`insert into webhooks (digest, received_at, last_received_at, deliveries, kind, headers, body, stale)
      values ('d', ${at(3)}, ${at(3)}, 1, 'payout', '{}', ${Buffer.from([0, 255, 13])}, 0)`.execute(trx);
    for (const id of ['20261121T100002Z', '20261121T100001Z'])
      await sql`insert into runs (id, started_at, history_mark) values (${id}, ${at(3)}, 0)`.execute(trx);
  });
}

describe.skipIf(!server)(`P26: a move to PostgreSQL${server ? '' : noPostgres}`, () => {
  it('takes everything along, goes on in its new place, and leaves a sealed file behind', async () => {
    await live();
    await ledger.close();
    expect(await move()).toMatchObject({ kind: 'moved', before: false, abandoned: 0 });
    const there = await openThere();
    expect(there.id).toBe(ledger.id);
    expect(await states(there)).toEqual({ 'R-1': 'pending', 'R-2': 'unknown', 'R-3': 'ready' });
    expect((await verifyLedger(to)).checks.filter(({ ok }) => !ok)).toEqual([]);
    const [webhook] = await there.db.selectFrom('webhooks').select('body').execute();
    expect(Buffer.from(webhook?.body ?? []).toString('hex')).toBe('00ff0d');
    const runs = await sql<{ id: string }>`select id from runs order by runs.rowid`.execute(there.db);
    expect(runs.rows.map(({ id }) => id)).toEqual(['20261121T100002Z', '20261121T100001Z']);
    // New rows come behind those that were copied.
    const [claim] = await claimAt(there, at(9001));
    expect([claim?.reference, claim?.attemptId]).toEqual(['R-3', 3n]);
    await addBatch(there, ['R-4'], { id: 'b-2' });
    const old = await openLedger(ledger.path, { now: () => at(0) });
    await expect(old.write(async () => undefined)).rejects.toThrow('was moved to postgres://');
    await old.close();
  });

  it('that died while copying left nothing there, and the same command finishes it', async () => {
    await live();
    await ledger.close();
    const died = move({
      onRows: () => {
        throw new Error('died');
      },
    });
    await expect(died).rejects.toThrow('died');
    await expect(
      openLedger(ledger.path, { now: () => at(0) }).then((l) => l.write(async () => l.close())),
    ).rejects.toThrow(/was moved.*migrate --to/);
    expect(await move()).toMatchObject({ kind: 'moved', before: false });
    expect(await move(), 'and once more changes nothing').toMatchObject({ kind: 'moved', before: true });
    await claimAt(await openThere(), at(9001));
  });

  it('never goes over a ledger that is there, and waits for nobody who uses it', async () => {
    await live();
    await ledger.close();
    const other = await openLedger(to, { now: () => at(0) });
    expect(worded(await move())).toMatchObject({
      kind: 'refused',
      why: expect.stringContaining('already exists'),
    });
    await other.close();
    to = { ...to, url: to.url.replace(/schema=.*/, `schema=m_${++made}`) };
    const gate = await shutGate(to);
    expect(await move()).toEqual({ kind: 'locked' });
    await gate?.release();
    const still = await openLedger(ledger.path, { now: () => at(0) });
    expect(await states(still), 'the source is not sealed').toMatchObject({ 'R-3': 'ready' });
    await still.write(async () => undefined);
    await still.close();
  });

  it('keeps nothing of a copy in which one field of one row differs', async () => {
    await live();
    await ledger.close();
    const copying = openLedger(to, {
      now: () => at(0),
      alone: 'copy',
      fill: async (trx) => {
        await sql`create function spoil() returns trigger language plpgsql as
          $$ begin new.narration := 'spoilt'; return new; end $$`.execute(trx);
        await sql`create or replace trigger spoil before insert on payouts for each row execute function spoil()`.execute(
          trx,
        );
        await copyTables(ledger.path, trx, () => undefined);
      },
    });
    await expect(copying).rejects.toThrow(CopyDiffers);
    expect(await move(), 'nothing of it is in the way').toMatchObject({ kind: 'moved', before: false });
  });
});
