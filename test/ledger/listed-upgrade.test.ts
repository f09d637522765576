import { sql } from 'kysely';
import { expect, it, onTestFinished } from 'vitest';
import { shownUnder } from '../../src/ledger/listing/shown-under.ts';
import { verifyLedger } from '../../src/ledger/verify/verify.ts';
import { at } from '../support/ledger.ts';
import { olderLedger, openUpgraded } from '../support/older-ledger.ts';

const payout = (
  id: number,
): string => `insert into payouts (id, mode, batch_id, row_number, reference, reference_key,
    account_number, account_name, bank_code, amount, currency, narration, sender_name, body, cells, state, updated_at)
  values (${id}, 'test', 'a', ${id}, 'R-${id}', 'r-${id}', '0123456789', 'A', '058', 100, 'NGN', 'n', 's', '{}', '[]', 'held', '${at(0)}')`;

const listed = (id: number, reference: string, payoutId: number | null): string =>
  `insert into listed (run_id, transfer_id, reference, reference_key, currency, amount, amount_text, account_name,
    account_number, bank_code, status, created_at, updated_at, pass, payout_id)
  values ('run', '${id}', '${reference}', '${reference.toLowerCase()}', 'NGN', 100, '1.00', 'A', '0123456789', '058', 'success',
    '${at(0)}', '${at(0)}', 1, ${payoutId})`;

/** A ledger file of an earlier version: a run shows a payout of its reference, one of another's, and one of nobody's. */
const olderStatements = [
  `insert into meta values ('ledger_id', 'old'), ('birth', '${at(0)}')`,
  `insert into batches values ('a', 'test', 'a', 'a.csv', 'ha', 'loaded', '[]', ',', 3, '[]', 'd', '${at(0)}', 1, -1)`,
  payout(1),
  payout(2),
  payout(3),
  `insert into runs (id, mode, started_at) values ('run', 'test', '${at(0)}')`,
  listed(11, 'R-1', 1),
  listed(12, 'R-3', 2),
  listed(13, 'R-9', null),
];

it('a ledger of an earlier version keeps what its runs listed, each row under its reference', async () => {
  const ledger = await openUpgraded(await olderLedger(olderStatements), () => at(9));
  onTestFinished(() => ledger.close());
  const kept = ledger.db
    .selectFrom('listed')
    .select(['transfer_id', 'amount', 'payout_id', 'stray_key', 'print']);
  expect(await kept.orderBy('transfer_id').execute()).toEqual([
    { transfer_id: '11', amount: 100n, payout_id: 1n, stray_key: null, print: null },
    { transfer_id: '12', amount: 100n, payout_id: 2n, stray_key: 'r-3', print: null },
    { transfer_id: '13', amount: 100n, payout_id: null, stray_key: 'r-9', print: null },
  ]);
  const under = async (id: bigint): Promise<string[]> => {
    const rows = await shownUnder(ledger.db, sql`'run'`, [{ id, reference_key: `r-${id}` }]);
    return rows.map(({ transfer_id }) => transfer_id);
  };
  expect([await under(1n), await under(2n), await under(3n), await under(9n)]).toEqual([
    ['11'],
    [],
    ['12'],
    ['13'],
  ]);
  const failed = (await verifyLedger(ledger.path)).checks.filter(({ ok }) => !ok).map(({ name }) => name);
  expect(failed.filter((name) => /integrity|foreign|schema/.test(name))).toEqual([]);
});
