import { expect, it, onTestFinished } from 'vitest';
import { missingCollection } from '../../../src/books/discrepancies/collection-findings.ts';
import {
  collectionById,
  concludeVerify,
  noteCollection,
} from '../../../src/watching/collections/collections.sql.ts';
import { expectSome, openFile } from '../../../src/watching/collections/expectations.sql.ts';
import { at, makeLedger } from '../../support/ledger.ts';

const hour = 3_600_000;

it('P13: what is shown as a success without its amount is missing once it is overdue, and the finding says why', async () => {
  const ledger = await makeLedger();
  onTestFinished(() => ledger.remove());
  const row = await ledger.write(async (trx) => {
    const noted = await noteCollection(trx, { reference: 'INV-1', at: at(0), byWebhook: false });
    const file = { id: 'collections-x' };
    await openFile(trx, { ...file, file_name: 'x.csv', content_hash: 'x', row_count: 1n, created_at: at(0) });
    const promised = { row: 2, reference: 'INV-1', referenceKey: 'inv-1', amount: 10_000n, currency: 'NGN' };
    await expectSome(trx, file.id, at(0), [promised]);
    const bare = { status: 'success', trx: 'T', amount: null, currency: null, domain: null } as const;
    await concludeVerify(trx, noted.id, 1n, {
      askedAt: at(2 * hour),
      answeredAt: at(2 * hour),
      outcome: 'says success, but shows no amount',
      raw: null,
      word: { ...bare, fee: null, paidAt: null },
      dispute: [],
      answered: true,
      verifiedBefore: null,
    });
    return collectionById(trx, noted.id);
  });
  if (!row) throw new Error('the collection is gone');
  expect(row).toMatchObject({ state: 'expected', received_at: null, ask_at: at(3 * hour) });
  expect(missingCollection(row, 'test', 3 * hour), 'not overdue yet').toBeNull();
  expect(missingCollection(row, 'test', hour)).toMatchObject({
    kind: 'collection_missing',
    expected: '100.00',
    actual: 'success showing no amount, not received',
    evidence: expect.stringContaining('says success, but shows no amount'),
  });
});
