import { sql } from 'kysely';
import { expect, it, onTestFinished } from 'vitest';
import { payeeKeysOf } from '../../src/core/domain/payee-name.ts';
import { insertBatch, insertPayouts, loadingBatches } from '../../src/core/ledger/batches.ts';
import type { Ledger } from '../../src/core/storage/ledger.ts';
import { adoptLedger } from '../../src/custody/adopt.ts';
import { verifyLedger } from '../../src/custody/verify-ledger.ts';
import { dropSome } from '../../src/intake/drop-batch.sql.ts';
import { everSent, leftReady } from '../../src/intake/series.sql.ts';
import { batchOf, csv, row, setting } from '../intake/setting.ts';
import { at, makeLedger } from '../support/ledger.ts';

const payoutsOf = (
  batch: string,
): string => `insert into payouts (batch_id, row_number, reference, reference_key,
    account_number, account_name, bank_code, amount, currency, narration, sender_name, body, cells, state, updated_at)
  values ('${batch}', 2, 'R-${batch}', 'r-${batch}', '0123456789', 'A', '058', 100, 'NGN', 'n', 's', '{}', '[]', 'held', '${at(0)}')`;

const batchesOf = (batch: string, rows: number, digest: string): string => `insert into batches (id, name,
    file_name, content_hash, phase, columns, delimiter, row_count, hold_reasons, body_digest, created_at, dropped_by, file_state)
  values ('${batch}', '${batch}', '${batch}.csv', 'h${batch}', 'loading', '[]', ',', ${rows}, '[]', '${digest}', '${at(0)}', 'ada', 'due')`;

/** A ledger killed in mid-intake: one batch is decided, the other is not. */
async function halfLoaded(): Promise<Ledger> {
  const ledger = await makeLedger();
  onTestFinished(() => ledger.remove());
  const statements = [batchesOf('a', 9, ''), batchesOf('b', 1, 'digest'), payoutsOf('a'), payoutsOf('b')];
  await ledger.write(async (trx) => {
    for (const statement of statements) await sql.raw(statement).execute(trx);
  });
  return ledger;
}

async function dropWhole(ledger: Ledger, id: string): Promise<void> {
  for (let done = false; !done; ) ({ done } = await ledger.write((trx) => dropSome(trx, id, 1)));
}

it('P23: the half batch of a process that was killed in mid-intake is thrown away', async () => {
  const ledger = await halfLoaded();
  await dropWhole(ledger, 'a');
  expect((await loadingBatches(ledger.db)).map(({ id }) => id)).toEqual(['b']);
});

it('P23: nothing of a decided batch is thrown away, even if a process takes it for a half one', async () => {
  const ledger = await halfLoaded();
  await dropWhole(ledger, 'b');
  expect((await loadingBatches(ledger.db)).map(({ id }) => id)).toEqual(['a', 'b']);
  const left = await ledger.db.selectFrom('payouts').select('reference').orderBy('id').execute();
  expect(left.map(({ reference }) => reference)).toEqual(['R-a', 'R-b']);
});

it('P25: such a ledger can be adopted', async () => {
  const ledger = await halfLoaded();
  expect(await adoptLedger(ledger, () => at(10))).toEqual({ unknown: 1 });
});

it('P23: a half batch is thrown away quickly beside a long list, so that no other process waits for it', async () => {
  const ledger = await makeLedger();
  onTestFinished(() => ledger.remove());
  const upTo = (n: number): string =>
    `with recursive s (n) as (select 1 union all select n + 1 from s where n < ${n})`;
  await ledger.write(async (trx) => {
    for (const statement of [
      `insert into batches (id, name, file_name, content_hash, phase, columns, delimiter, row_count, hold_reasons,
        body_digest, created_at, dropped_by, file_state) values ('a', 'a', 'a.csv', 'ha', 'loading', '[]', ',', 2000, '[]', '', '${at(0)}', 'ada', 'due')`,
      `${upTo(2000)} insert into payouts (batch_id, row_number, reference, reference_key, account_number, account_name,
        bank_code, amount, currency, narration, sender_name, body, cells, state, updated_at)
        select 'a', n, 'R-' || n, 'r-' || n, '0123456789', 'A', '058', 100, 'NGN', 'n', 's', '{}', '[]', 'held', '${at(0)}' from s`,
      `insert into runs (id, started_at, history_mark) values ('run', '${at(0)}', 0)`,
      `${upTo(20_000)} insert into listed (run_id, transfer_id, reference, reference_key, currency, amount_text, account_name,
        account_number, bank_code, domain, status, created_at, updated_at, pass, payout_id)
        select 'run', 'T-' || n, 'x', 'x', 'NGN', '1.00', 'A', '0', '0', 'test', 'success', '', '', 1,
        case when n = 1 then (select min(id) from payouts) end from s`,
    ])
      await sql.raw(statement).execute(trx);
  });
  const began = performance.now();
  await ledger.write((trx) => dropSome(trx, 'a', 2001));
  expect(performance.now() - began).toBeLessThan(3000);
  expect(await loadingBatches(ledger.db)).toEqual([]);
});

it('P23: what was heard of a half batch meanwhile does not keep it from being thrown away and taken in again', async () => {
  const s = await setting();
  const { ledger } = s;
  const batch = { id: 'half' };
  const about = { name: 'half', file_name: 'half.csv', columns: '[]', delimiter: ',', row_count: 9n };
  await ledger.write(async (trx) => {
    await insertBatch(trx, {
      ...batch,
      ...about,
      content_hash: 'half',
      created_at: at(0),
      dropped_by: 'ada',
    });
    const order = { account_number: '0123456789', account_name: 'A', bank_code: '058', currency: 'NGN' };
    const rest = {
      narration: 'n',
      sender_name: 's',
      type: null,
      body: '{}',
      cells: '[]',
      pay_on: '',
      payee_id: '',
      ...payeeKeysOf({ account_name: order.account_name, payee_id: '' }),
    };
    const reference = { row_number: 2n, reference: 'PAY-1', reference_key: 'pay-1', amount: 100n };
    await insertPayouts(trx, batch.id, at(0), [{ ...order, ...rest, ...reference }]);
    for (const statement of [
      `insert into batch_totals values ('half', 'NGN', 100)`,
      `insert into webhooks (digest, received_at, last_received_at, deliveries, kind, reference, trx, headers, body,
        stale, applied_at, payout_id, verdict, said) select 'd', '${at(1)}', '${at(1)}', 1, 'payout', 'PAY-1', null, '{}',
        cast('{}' as blob), 0, '${at(2)}', id, 'says', 'success' from payouts`,
      `insert into inquiries (payout_id, kind, reason, due_at, rung) select id, 'details', 'asked', '${at(2)}', 0 from payouts`,
    ])
      await sql.raw(statement).execute(trx);
  });
  await s.intake.takeInbox();
  const heard = await ledger.db.selectFrom('webhooks').selectAll().executeTakeFirstOrThrow();
  expect(heard).toMatchObject({ payout_id: null, applied_at: null, verdict: null, said: null });
  const taken = await s.intake.takeIn(s.drop('pay.csv', csv(row('PAY-1', '1.00'))), { origin: 'inbox' });
  expect(batchOf(taken)).toMatch(/^pay-/);
  expect((await verifyLedger(ledger.path)).checks.filter(({ ok }) => !ok)).toEqual([]);
});

it('P13: a payout is found by what the service calls it, by an index', async () => {
  const ledger = await halfLoaded();
  await ledger.db
    .updateTable('payouts')
    .set({ transfer_id: 'T-1', trx: 'TRX-1' })
    .where('batch_id', '=', 'b')
    .execute();
  for (const column of ['transfer_id', 'trx'] as const) {
    const asked = sql`select reference from payouts
      where ${sql.ref(column)} = ${column === 'trx' ? 'TRX-1' : 'T-1'}`;
    expect((await asked.execute(ledger.db)).rows).toEqual([{ reference: 'R-b' }]);
    const { rows: plan } = await sql<{ detail: string }>`explain query plan ${asked}`.execute(ledger.db);
    expect(plan[0]?.detail).toMatch(/^SEARCH payouts USING INDEX payouts_(transfer|trx) \(/);
  }
});

it.each([
  ['name_letters', 'payouts_name', everSent],
  ['payee_key', 'payouts_payee', everSent],
  ['payee_key', 'payouts_payee', leftReady('p')],
] as const)('P37: what was sent to a payee is found by %s, by the index %s', async (column, index, sent) => {
  const ledger = await makeLedger();
  const key = sql.ref(`p.${column}`);
  const asked = sql`select max(p.id) from payouts p where ${key} in ('x', 'y') and ${key} <> '' and ${sent}`;
  const { rows: plan } = await sql<{ detail: string }>`explain query plan ${asked}`.execute(ledger.db);
  expect(plan[0]?.detail).toContain(`USING INDEX ${index} (${column}=?)`);
});
