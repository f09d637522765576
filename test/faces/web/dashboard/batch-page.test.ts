import { expect, it } from 'vitest';
import { addBatch, type TestLedger } from '../../../support/ledger.ts';
import { addUnapproved, startDashboard, textOf } from './support.ts';

/** Gives each row of a batch the cells of a file with these columns. */
async function withCells(
  { db }: TestLedger,
  batch: string,
  columns: string[],
  cellsOf: (row: number) => string[],
): Promise<void> {
  await db
    .updateTable('batches')
    .set({ columns: JSON.stringify(columns) })
    .where('id', '=', batch)
    .execute();
  const rows = await db
    .selectFrom('payouts')
    .select('id')
    .where('batch_id', '=', batch)
    .orderBy('id')
    .execute();
  for (const [row, { id }] of rows.entries())
    await db
      .updateTable('payouts')
      .set({ cells: JSON.stringify(cellsOf(row)) })
      .where('id', '=', id)
      .execute();
}

it('shows the approver totals by each other column with few values, and what the batch before came to', async () => {
  const { ledger, as } = await startDashboard();
  const references = Array.from({ length: 60 }, (_, n) => `A-${n}`);
  await addUnapproved(ledger, references);
  const columns = ['Reference', 'Department', 'Amount', 'Staff no'];
  await withCells(ledger, 'b-1', columns, (n) => [
    `A-${n}`,
    n % 3 === 0 ? 'Sales' : 'Ops <b>',
    '1500',
    `S${n}`,
  ]);
  const page = (await as('bola', '/batches/b-1/approve')).body;
  expect(textOf(page)).toMatch(
    /Totals by Department .* Ops &#60;b&#62; 40 NGN 60,000\.00 Sales 20 NGN 30,000\.00/,
  );
  expect(textOf(page)).not.toMatch(/Totals by (Staff no|Amount|Reference)/);
  expect(textOf(page)).toContain('no batch with the same columns');
  expect(textOf((await as('bola', '/batches/b-1/columns')).body)).toContain('Sales 20 NGN 30,000.00');
  await addBatch(ledger, ['OLD-1'], { id: 'last-month', state: 'success' });
  await withCells(ledger, 'last-month', columns, () => ['OLD-1', 'Ops', '1500', 'S1']);
  await ledger.db
    .updateTable('batches')
    .set({ created_at: '2026-10-21T10:00:00.000Z' })
    .where('id', '=', 'last-month')
    .execute();
  await ledger.db
    .insertInto('batch_totals')
    .values({ batch_id: 'last-month', currency: 'NGN', amount: 150_000n })
    .execute();
  expect(textOf((await as('bola', '/batches/b-1/approve')).body)).toMatch(
    /Last time last-month , [^:]+:\d\d : NGN 1,500\.00, 1 payout/,
  );
});

it('shows every row of a batch, page by page', async () => {
  const { ledger, as } = await startDashboard();
  const references = Array.from({ length: 430 }, (_, n) => `A-${n}`);
  await addBatch(ledger, references);
  const rowsOn = (body: string): string[] =>
    [...body.matchAll(/href="\/payouts\/(A-\d+)"/g)].map(([, name = '']) => name);
  const all: string[] = [];
  for (let path = '/batches/b-1'; path !== ''; ) {
    const { body } = await as('ada', path);
    all.push(...rowsOn(body));
    path = /href="([^"]+)">After/.exec(body)?.[1] ?? '';
  }
  expect(all).toEqual(references);
});

it('tells the person who dropped the file why it was rejected, on the page of the batch', async () => {
  const { ledger, as, post } = await startDashboard();
  await addUnapproved(ledger, ['A-1']);
  const page = (await as('bola', '/batches/b-1/approve')).body;
  const digest = /name="digest" value="([^"]+)"/.exec(page)?.[1] ?? '';
  await post('bola', '/batches/b-1/reject', { digest, note: 'the wrong month' });
  expect(textOf((await as('ada', '/batches/b-1')).body)).toContain('rejected by bola: the wrong month');
});

it('says that nobody approved a batch that was sent, and nothing about one that waits', async () => {
  const { ledger, as } = await startDashboard();
  await addBatch(ledger, ['A-1'], { state: 'success' });
  await addBatch(ledger, ['B-1'], { id: 'b-2' });
  expect(textOf((await as('ada', '/batches/b-1')).body)).toContain('Approved by nobody');
  expect(textOf((await as('ada', '/batches/b-2')).body)).not.toContain('Approved by');
});

it('asks for the decision, to approve or to reject, below all that is to be checked', async () => {
  const { ledger, as } = await startDashboard();
  await addUnapproved(ledger, ['A-1', 'A-2']);
  const text = textOf((await as('bola', '/batches/b-1/approve')).body);
  expect(text).toMatch(/The largest payments .* All rows, .* Decide I have checked .* Approve Reject… Why/);
});
