import { afterEach, beforeEach, expect, it } from 'vitest';
import { releaseFile } from '../../../src/core/ledger/batch-files.ts';
import type { FileState } from '../../../src/core/storage/tables/file-tables.ts';
import { addBatch, at, claimAt, makeLedger, type TestLedger } from '../../support/ledger.ts';

let ledger: TestLedger;
beforeEach(async () => {
  ledger = await makeLedger();
});
afterEach(() => ledger.remove());

async function batchWith(state: FileState): Promise<void> {
  await addBatch(ledger, ['R-1']);
  await ledger.db.updateTable('batches').set({ file_state: state }).execute();
  expect(await claimAt(ledger, at(0))).toEqual([]);
}

it('P34: a release lets go a batch whose file no machine looked at, where the one that has it may be gone', async () => {
  await batchWith('due');
  await ledger.write((trx) => releaseFile(trx, 'b-1', { lookAgain: false }));
  expect(await claimAt(ledger, at(1))).toHaveLength(1);
});

it('P34: where one machine has the ledger, a release has the file looked at before the batch goes', async () => {
  await batchWith('due');
  await ledger.write((trx) => releaseFile(trx, 'b-1', { lookAgain: true }));
  expect(await claimAt(ledger, at(1))).toEqual([]);
});

it.each(['changed', 'missing'] as const)('P34: a release accepts a file that is %s', async (state) => {
  await batchWith(state);
  await ledger.write((trx) => releaseFile(trx, 'b-1', { lookAgain: true }));
  expect(await claimAt(ledger, at(1))).toHaveLength(1);
});
