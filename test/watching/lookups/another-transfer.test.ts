import { expect, it } from 'vitest';
import { record } from '../../../src/core/ledger/record.ts';
import { addBatch, at, claimAt, payoutById, recordOutcome, replies } from '../../support/ledger.ts';
import { lookUpsOf } from './setting.ts';
import { client, clock, ledger, sandbox, withService } from './with-service.ts';

withService();

const order = { account_number: '0123456789', bank_code: '000013', amount: '1500.00' };
const shown = (reference: string, status: 'pending' | 'success' | 'failed'): string =>
  String(sandbox.book.plant({ ...order, reference, status }).id);

/** Sends these payouts; each is accepted under the id given. */
async function accepted(...named: [reference: string, id: string][]): Promise<bigint[]> {
  await addBatch(
    ledger,
    named.map(([reference]) => reference),
  );
  const claims = await claimAt(ledger, at(0), named.length);
  for (const [i, one] of claims.entries())
    await recordOutcome(ledger, at(0), one, replies.accepted(named[i]?.[1]));
  return claims.map(({ payoutId }) => payoutId);
}
const ask = (...ids: bigint[]) => lookUpsOf(ledger, clock, client).lookUp(ids);

it('P17: a payout accepted as one transfer is not failed because another under its reference failed', async () => {
  const one = shown('R-1', 'success');
  const [first = 0n, second = 0n] = await accepted(['R-1', one], ['R-2', '900001']);
  await ask(first);
  const other = shown('R-2', 'failed');
  await ask(second);
  const why =
    'details shows only another transfer, failed; the one it was accepted as, 900001, may still settle';
  expect(await payoutById(ledger, second)).toMatchObject({ state: 'unknown', message: why });
  await ask(second);
  expect((await payoutById(ledger, second)).message, 'told again').toBe(why);
  const witness = { source: 'listing' as const, status: 'failed' as const, transferId: other, transfers: 2 };
  const listed = { ...witness, trx: null, fee: null, message: null, settledAt: null };
  const event = { kind: 'witness' as const, witness: { ...listed, shown: [other, '900001'] } };
  await ledger.write((trx) => record(trx, at(9), [{ payoutId: second, source: 'listing', event }]));
  expect((await payoutById(ledger, second)).state, 'both are over').toBe('failed');
});

it('P14: where answers and details name transfers differently, a payout fails as it should', async () => {
  shown('R-1', 'success');
  const one = shown('R-2', 'pending');
  const [first = 0n, second = 0n, third = 0n, fourth = 0n] = await accepted(
    ['R-1', 'A-1'],
    ['R-2', one],
    ['R-3', 'A-3'],
    ['R-4', 'A-4'],
  );
  shown('R-3', 'pending');
  shown('R-4', 'failed');
  await ask(first, second, third);
  await ask(fourth);
  expect((await payoutById(ledger, fourth)).state, 'one of them was the same by chance').toBe('failed');
});

it('P14: before anything is known of the names, a failure is one', async () => {
  const [id = 0n] = await accepted(['R-1', 'A-1']);
  shown('R-1', 'failed');
  await ask(id);
  expect((await payoutById(ledger, id)).state).toBe('failed');
});
