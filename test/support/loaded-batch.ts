import { payeeKeysOf } from '../../src/core/domain/payee-name.ts';
import { finishSome, getBatch, insertBatch, insertPayouts } from '../../src/core/ledger/batches.ts';
import { type HoldReason, reasonColumns } from '../../src/core/ledger/hold-reasons.ts';
import type { Ledger } from '../../src/core/storage/ledger.ts';
import { batchRow } from './batch-row.ts';
import { at, born } from './ledger.ts';

/** Takes a batch in as intake does: its rows first, then their history, in a transaction each. */
export async function loadBatch(
  ledger: Ledger,
  references: readonly string[],
  { id = 'b-1', reasons = [] }: { id?: string; reasons?: HoldReason[] } = {},
): Promise<void> {
  const rows = references.map((reference, i) => ({
    row_number: BigInt(i + 2),
    ...{ reference, reference_key: reference.toLowerCase() },
    ...{ account_number: '0123456789', account_name: 'ADA OBI', bank_code: '000013' },
    ...{ amount: 150_000n, currency: 'NGN', narration: 'Salary', sender_name: 'Acme', type: null },
    ...{
      body: '{}',
      cells: '[]',
      pay_on: '',
      payee_id: '',
      ...payeeKeysOf({ account_name: 'ADA OBI', payee_id: '' }),
    },
  }));
  const { name, file_name, content_hash, columns, delimiter, created_at, dropped_by } = batchRow(id, born);
  const about = { id, name, file_name, content_hash, columns, delimiter, created_at, dropped_by };
  await ledger.write(async (trx) => {
    await insertBatch(trx, { ...about, row_count: BigInt(rows.length) });
    await insertPayouts(trx, id, born, rows);
    const held = { ...reasonColumns(reasons), file_state: 'begun' as const };
    await trx.updateTable('batches').set(held).where('id', '=', id).execute();
  });
  const batch = await getBatch(ledger.db, id);
  if (!batch) throw new Error('there is no batch');
  await ledger.write((trx) => finishSome(trx, batch, at(0), rows.length + 1));
}
