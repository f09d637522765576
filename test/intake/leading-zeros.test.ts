import { expect, it } from 'vitest';
import { csv, type Setting, setting } from './setting.ts';

const [whole, dropped] = ['0062001234', '62001234'];
const zar = (reference: string, account: string): string =>
  `${reference},${account},Thandi Nkosi,632005,100,ZAR,Salary,Acme`;

/** Has a file checked and taken in, and returns why its batch is held. */
async function reasonsOf(s: Setting, name: string, text: string) {
  const path = s.drop(name, text);
  const checked = await s.intake.check(path);
  const taken = await s.intake.takeIn(path, { origin: 'inbox' });
  if (taken.kind !== 'taken') throw new Error(JSON.stringify(taken));
  expect(checked.holdReasons, 'check says so before').toEqual(taken.holdReasons);
  return taken.holdReasons;
}

it.each([
  ['without its leading zeros', whole, dropped],
  ['with its leading zeros again', dropped, whole],
])('P23: a payment to an account %s is a possible duplicate in another file', async (_, first, second) => {
  const s = await setting();
  expect(await reasonsOf(s, 'a.csv', csv(zar('A-1', first)))).toEqual([]);
  const alike = { kind: 'alike', row: 2, reference: 'A-1', others: 0 };
  expect(await reasonsOf(s, 'b.csv', csv(zar('B-1', second)))).toMatchObject([alike]);
});

it('P23: two rows whose accounts differ only in leading zeros are a possible duplicate', async () => {
  const s = await setting();
  const reasons = await reasonsOf(s, 'a.csv', csv(zar('A-1', whole), zar('A-2', dropped)));
  expect(reasons).toMatchObject([{ kind: 'repeated_row', row: 3, earlier: 2, others: 0 }]);
});

it('P23: a file without references that a spreadsheet saved without leading zeros waits, however late', async () => {
  const s = await setting('intake: { reference_prefix: "ACME-" }');
  const text = (account: string): string =>
    csv(zar('', account)).replace('reference,', '').replaceAll('\n,', '\n');
  expect(await reasonsOf(s, 'a.csv', text(whole))).toEqual([]);
  await s.ledger.write((trx) => trx.updateTable('payouts').set({ state: 'success' }).execute());
  s.clock.advance(30 * 86_400_000);
  expect(await reasonsOf(s, 'b.csv', text(dropped))).toMatchObject([{ kind: 'alike', row: 2, others: 0 }]);
});

it('accounts that differ in other digits are two accounts', async () => {
  const s = await setting();
  expect(await reasonsOf(s, 'a.csv', csv(zar('A-1', whole), zar('A-2', '620012340')))).toEqual([]);
  expect(await reasonsOf(s, 'b.csv', csv(zar('B-1', '6200123400')))).toEqual([]);
});
