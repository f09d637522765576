import { expect, it } from 'vitest';
import { csv, head, type Setting, setting } from './setting.ts';

const yaml = 'intake: { unique_columns: [Invoice Number] }';

/** Payments to three suppliers, each with an invoice. */
function invoices(prefix: string, numbers: readonly string[]): string {
  const rows = numbers.map(
    (number, i) =>
      `${prefix}-${i + 1},012345678${i},Supplier Number${i},058,${1000 + i + prefix.length}.00,NGN,Invoice,Acme,${number}`,
  );
  return `${[`${head},invoice_number`, ...rows].join('\n')}\n`;
}

async function take(s: Setting, name: string, content: string) {
  const taken = await s.intake.takeIn(s.drop(name, content), { origin: 'inbox' });
  if (taken.kind !== 'taken') throw new Error(JSON.stringify(taken));
  return taken;
}

const settle = (s: Setting, batch: string, state: 'success' | 'cancelled' | 'refused') =>
  s.ledger.write((trx) => trx.updateTable('payouts').set({ state }).where('batch_id', '=', batch).execute());

it('an invoice number that was paid before, however long ago and under another account, holds the batch', async () => {
  const s = await setting(yaml);
  const { batch } = await take(s, 'june.csv', invoices('J', ['INV-1', 'INV-2', '']));
  await settle(s, batch, 'success');
  s.clock.advance(200 * 86_400_000);
  const file = s.drop('december.csv', invoices('DEC', ['INV-9', ' inv-1', '']));
  const found = {
    ...{ kind: 'value_again', row: 3, column: 'invoice_number', value: 'inv-1', others: 0 },
    before: { reference: 'J-1', batch, day: '2026-11-21' },
  };
  const checked = await s.intake.check(file);
  expect(checked.holdReasons).toEqual([found]);
  expect(checked.duplicates).toEqual([
    { row: 3, reference: 'DEC-2', earlier: `J-1 in batch ${batch} (invoice_number "inv-1")` },
  ]);
  const taken = await s.intake.takeIn(file, { origin: 'inbox' });
  expect(taken).toMatchObject({ kind: 'taken', holdReasons: [found] });
});

it('an invoice number twice in one file holds the batch; one that was cancelled or refused is free again', async () => {
  const s = await setting(yaml);
  const { batch, holdReasons } = await take(s, 'a.csv', invoices('A', ['INV-1', 'INV-2', 'inv-1']));
  expect(holdReasons).toMatchObject([{ kind: 'value_again', row: 4, before: { row: 2 } }]);
  for (const state of ['cancelled', 'refused'] as const) {
    await settle(s, batch, state);
    const free = await s.intake.check(s.drop('b.csv', invoices(`B${state}`, ['INV-1', 'INV-2'])));
    expect(free.holdReasons, state).toEqual([]);
  }
});

it('without the setting, or the column, nothing is compared', async () => {
  const s = await setting();
  await take(s, 'a.csv', invoices('A', ['INV-1', 'INV-2']));
  expect((await s.intake.check(s.drop('b.csv', invoices('BB', ['INV-1', 'INV-2'])))).holdReasons).toEqual([]);
  const other = await setting(yaml);
  const plain = csv('P-1,0123456785,Ada Eze,058,5.00,NGN,Salary,Acme');
  expect((await take(other, 'p.csv', plain)).holdReasons).toEqual([]);
  expect(await other.ledger.db.selectFrom('payout_values').selectAll().execute()).toEqual([]);
});
