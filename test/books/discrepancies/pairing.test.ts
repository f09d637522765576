import fc from 'fast-check';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { classifyPair } from '../../../src/books/discrepancies/classify.ts';
import { type PairCase, pairCases } from '../../../src/books/discrepancies/pair-cases.sql.ts';
import type { StagedTransfer } from '../../../src/core/domain/listed-transfer.ts';
import type { PayoutState } from '../../../src/core/domain/payout.ts';
import { beginRun } from '../../../src/watching/listing/listings.sql.ts';
import { pairListed } from '../../../src/watching/listing/pairing.sql.ts';
import { stage } from '../../../src/watching/listing/staging.sql.ts';
import { listedRow } from '../../support/listed-row.ts';
import { closeBooks, ledger, nextInstant, openBooks, payout } from './books.ts';

beforeEach(openBooks);
afterEach(closeBooks);

it('SQL pairing passes on every pair that classify would speak about', async () => {
  // The first value is the common one, so that most pairs differ in one field alone.
  const pick = <T>(usual: T, ...others: T[]) =>
    fc.oneof(
      { weight: 12, arbitrary: fc.constant(usual) },
      { weight: 2, arbitrary: fc.constantFrom(usual, ...others) },
    );
  const one = fc.record({
    state: pick<PayoutState>('success', 'pending', 'failed', 'unknown', 'returned', 'refused'),
    evidence: pick('response+listing', 'response'),
    outcome: pick('accepted' as const, 'unknown' as const),
    fee: pick<string | null>(null, '1.00', '2'),
    amount: pick('10.00', '10', '9.99', 'ten'),
    currency: pick('NGN', 'ZAR'),
    account_number: pick('0123456789', '0123456780'),
    domain: pick<string | null>('test', null, 'live'),
    status: pick('success', 'pending', 'failed', 'reversed'),
    created_at: pick('2026-11-21T10:00:00.5Z', '2026-11-21T09:00:00Z'),
    twice: pick(false, true),
  });
  let n = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(one, { minLength: 1, maxLength: 30 }), async (all) => {
      const at = nextInstant();
      const run = await ledger.write((trx) => beginRun(trx, at));
      const rows: StagedTransfer[] = [];
      for (const { state, evidence, outcome, fee, twice, ...shown } of all) {
        await payout(++n, { state, evidence, outcome, fee });
        rows.push(listedRow(n, shown));
        if (twice) rows.push(listedRow(n, { ...shown, id: `${n}-2` }));
      }
      await ledger.write((trx) => stage(trx, run, 1, rows));
      expect(await pairListed(ledger, run)).toBe(all.length);
      const cases = async () => {
        const found: PairCase[] = [];
        for await (const some of pairCases(ledger.db, { run }, 7)) found.push(...some);
        return found;
      };
      const passed = new Set((await cases()).map(({ payout: p }) => p.id));
      // Everything, by making every pair look unheard of by the listing, then judged with its true evidence.
      const truth = await ledger.db.selectFrom('payouts').select(['id', 'evidence']).execute();
      await ledger.db.updateTable('payouts').set({ evidence: '' }).execute();
      const every = await cases();
      expect(every).toHaveLength(all.length);
      for (const { payout: p, rows: own } of every) {
        const evidence = truth.find((row) => row.id === p.id)?.evidence ?? '';
        await ledger.db.updateTable('payouts').set({ evidence }).where('id', '=', p.id).execute();
        const judged = classifyPair({ ...p, evidence }, own, true);
        if (judged.witness || judged.found.length > 0) expect(passed.has(p.id)).toBe(true);
      }
    }),
    { numRuns: 25, seed: 7 },
  );
});
