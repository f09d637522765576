import { expect, it } from 'vitest';
import type { Ledger } from '../../src/ledger/open.ts';
import { addBatch } from '../support/ledger.ts';
import { csv, row, setting } from './setting.ts';

/** The ledger, with something that happens just before its `nth` transaction. */
function before(ledger: Ledger, nth: number, happens: () => Promise<unknown>): Ledger {
  let count = 0;
  const write: Ledger['write'] = async (work) => {
    if (++count === nth) await happens();
    return ledger.write(work);
  };
  return { ...ledger, write };
}

it('P22: a reference that somebody takes while the file is read leaves nothing of the file behind', async () => {
  const s = await setting();
  const file = s.drop('pay.csv', csv(row('R-1'), row('R-2', '200', '0000014579')));
  // The first transaction opens the batch, the second adds its rows.
  const ledger = before(s.ledger, 2, () => addBatch(s.ledger, ['R-2']));
  const taken = await s.built({ ledger }).takeIn(file, { origin: 'named' });
  expect(taken).toMatchObject({
    kind: 'refused',
    problems: [{ problem: expect.stringContaining('changed while') }],
  });
  expect(await s.ledger.db.selectFrom('payouts').select('reference').execute()).toEqual([
    { reference: 'R-2' },
  ]);
  expect(await s.ledger.db.selectFrom('batches').select('id').execute()).toEqual([{ id: 'b-1' }]);
});

it('P12: a ledger that fails while rows are added is no reason to refuse the file', async () => {
  const s = await setting();
  const file = s.drop('pay.csv', csv(row('R-1')));
  const full = before(s.ledger, 2, () => Promise.reject(new Error('disk full')));
  await expect(s.built({ ledger: full }).takeIn(file, { origin: 'inbox' })).rejects.toThrow('disk full');
  expect(s.names('inbox')).toEqual(['pay.csv']);
  expect(await s.intake.takeIn(file, { origin: 'inbox' })).toMatchObject({ kind: 'taken', rows: 1 });
});
