import { afterEach, beforeEach, expect, it } from 'vitest';
import { createTold, shown } from '../decisions/told.ts';
import { at, makeLedger, replies, type TestLedger } from '../support/ledger.ts';
import { listedTransfer, nightOf } from './setting.ts';

let ledger: TestLedger;
beforeEach(async () => {
  ledger = await makeLedger();
});
afterEach(() => ledger.remove());

const told = createTold(() => ledger);
const night = async (ms: number, status: string) => {
  const row = listedTransfer('F', { id: 'T-1', status, created_at: at(50) });
  return (await nightOf(ledger, { at: ms, rows: [row], full: true })).kinds;
};

async function paid(): Promise<bigint> {
  const id = await told.sent(replies.accepted('T-1'));
  await told.heard(1000, 'success');
  await told.looked(id, 2000, shown('success'));
  return id;
}

it('P18: a webhook that told first of a return is no contradiction once the details show it (a false alarm)', async () => {
  const id = await paid();
  await told.heard(3000, 'returned');
  await told.looked(id, 4000, shown('returned'));
  expect(await night(10_000, 'returned')).toEqual(['returned_after_success F']);
});

it('P18: a webhook that nothing else bears out is a contradiction', async () => {
  const id = await paid();
  await told.heard(3000, 'returned');
  await told.looked(id, 4000, shown('success'));
  expect(await night(10_000, 'success')).toEqual(['webhook_conflict F']);
});
