import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Kysely, sql } from 'kysely';
import { Migrator } from 'kysely/migration';
import { expect, it, onTestFinished } from 'vitest';
import { up as initial } from '../../src/ledger/migrations/0001-initial.ts';
import { up as decisions } from '../../src/ledger/migrations/0002-decisions.ts';
import { up as absence } from '../../src/ledger/migrations/0003-absence.ts';
import { openLedger } from '../../src/ledger/open.ts';
import { resendsOf } from '../../src/ledger/resends.ts';
import { LedgerDialect, openDatabase } from '../../src/ledger/sqlite.ts';
import { verifyLedger } from '../../src/ledger/verify.ts';
import { applyWebhooks } from '../../src/observation/apply-webhooks.ts';
import { handClock } from '../observation/setting.ts';
import { at } from '../support/ledger.ts';

/** A ledger file as it was before collections were kept: one payout, resend requests of it, a collection webhook. */
async function olderLedger(): Promise<string> {
  const folder = mkdtempSync(join(tmpdir(), 'counterfoil-older-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, 'ledger.db');
  const db = new Kysely<unknown>({ dialect: new LedgerDialect(openDatabase(path)) });
  const migrations = {
    '0001-initial': { up: initial },
    '0002-decisions': { up: decisions },
    '0003-absence': { up: absence },
  };
  const { error } = await new Migrator({
    db,
    provider: { getMigrations: async () => migrations },
  }).migrateToLatest();
  if (error) throw error;
  for (const statement of [
    `insert into meta values ('ledger_id', 'old'), ('birth', '${at(0)}')`,
    `insert into batches values ('b', 'test', 'b', 'b.csv', 'h', 'loaded', '[]', ',', 1, '[]', '', '${at(0)}', 1, -1)`,
    `insert into payouts (id, mode, batch_id, row_number, reference, reference_key, account_number, account_name, bank_code,
      amount, currency, narration, sender_name, body, cells, state, updated_at)
      values (1, 'test', 'b', 2, 'R-1', 'r-1', '0123456789', 'A', '058', 100, 'NGN', 'n', 's', '{}', '[]', 'success', '${at(0)}')`,
    `insert into inquiries (payout_id, kind, reason, due_at, rung, asked_at, answered_at, outcome, raw) values
      (1, 'resend', 'webhook missing', '${at(1)}', 0, '${at(1)}', '${at(2)}', 'asked', 'sent'),
      (1, 'resend', 'webhook missing', '${at(3)}', 0, '${at(3)}', '${at(4)}', 'throttled', 'no'),
      (1, 'resend', 'webhook missing', '${at(5)}', 0, '${at(5)}', '${at(6)}', 'error', 'no'),
      (1, 'resend', 'webhook missing', '${at(7)}', 0, null, null, null, null),
      (1, 'details', 'asked', '${at(8)}', 0, null, null, null, null)`,
    `insert into webhooks (mode, digest, received_at, last_received_at, deliveries, kind, reference, trx, headers, body,
      stale, applied_at, effect) values ('test', 'd', '${at(1)}', '${at(1)}', 1, 'transaction', 'C-1', 'T', '{}',
      cast('{"event":"transaction","data":{"reference":"C-1","status":"success"}}' as blob), 0, '${at(2)}', 'collection recorded')`,
  ])
    await sql.raw(statement).execute(db);
  await db.destroy();
  return path;
}

it('a ledger of an older version opens, keeps its resend requests and applies the collections it had only kept', async () => {
  const path = await olderLedger();
  const ledger = await openLedger(path, { now: () => at(9) });
  onTestFinished(() => ledger.close());
  const requests = await resendsOf(ledger.db, { kind: 'payout', id: 1n });
  expect(requests.map((one) => [one.asked_at, one.outcome])).toEqual([
    [at(1), 'asked'],
    [at(5), 'error'],
  ]);
  const left = await ledger.db.selectFrom('inquiries').select('kind').execute();
  expect(left).toEqual([{ kind: 'details' }]);
  expect(await applyWebhooks({ ledger, clock: handClock(), mode: 'test' })).toBe(1);
  const collections = await ledger.db.selectFrom('collections').select(['reference', 'state']).execute();
  expect(collections).toEqual([{ reference: 'C-1', state: 'heard' }]);
  const verdict = await verifyLedger(path);
  const keys = verdict.checks.filter(({ name }) => name === 'integrity' || name === 'foreign_keys');
  expect(keys.map(({ ok, problems }) => [ok, problems])).toEqual([
    [true, []],
    [true, []],
  ]);
});
