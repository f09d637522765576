import { expect, it } from 'vitest';
import { type Setting, setting } from './setting.ts';

const day = 86_400_000;
const yaml = 'intake: { reference_prefix: "ACME-" }';
const text = `account_number,account_name,bank_code,amount,currency,narration,sender_name,dept
0123456785,Adaeze Okonkwo,058,6611,NGN,Salary,Acme,ops
0123456796,Bola Eze,058,7000,NGN,Salary,Acme,ops
`;
const mapped = (add: (i: number) => string): string =>
  text.replaceAll(/^.+$/gm, (line) => `${line},${add(line.startsWith('account') ? 0 : 1)}`);

/** Takes the file, pays it, and has the second one checked and taken in a month later. */
async function twice(second: string, first = text, change?: (s: Setting) => Promise<unknown>) {
  const s = await setting(yaml);
  const a = await s.intake.takeIn(s.drop('a.csv', first), { origin: 'inbox' });
  if (a.kind !== 'taken') throw new Error(JSON.stringify(a));
  await s.ledger.write((trx) => trx.updateTable('payouts').set({ state: 'success' }).execute());
  await change?.(s);
  s.clock.advance(30 * day);
  const checked = await s.intake.check(s.drop('b.csv', second));
  const b = await s.intake.takeIn(s.drop('b.csv', second), { origin: 'inbox' });
  if (b.kind !== 'taken') throw new Error(JSON.stringify(b));
  expect(checked.holdReasons, 'check says so before').toEqual(b.holdReasons);
  return { batch: a.batch, reasons: b.holdReasons };
}

it.each([
  ['amounts with decimals', text.replaceAll(',6611,', ',6611.00,')],
  ['amounts with a zero before', text.replaceAll(',7000,', ',07000,')],
  ['a column payee_id', mapped((i) => (i === 0 ? 'payee_id' : 'E1'))],
  [
    'the columns turned round',
    text.replace(',6611,', ',6611.0,').replaceAll(/^.+$/gm, (l) => l.split(',').toReversed().join(',')),
  ],
])('P23: the same rows without references, saved again with %s, wait for a person', async (_, second) => {
  const { batch, reasons } = await twice(second);
  expect(reasons).toMatchObject([
    { kind: 'alike', row: 2, batch, others: 1, reference: expect.stringMatching(/^ACME-\w+-2$/) },
  ]);
});

it.each([
  ['narration', text.replaceAll('Salary', 'Salary December')],
  ['other column', text.replaceAll(',ops', ',december')],
  ['amount of the last row', text.replace(',7000,', ',7000.01,')],
  ['row more', `${text}0123456796,Bola Eze,058,1,NGN,Salary,Acme,ops\n`],
])('a month later a file with another %s is another payment', async (_, second) => {
  expect((await twice(second)).reasons).toEqual([]);
});

it('rows with references of their own tell two payments apart', async () => {
  const named = (prefix: string): string => {
    let n = 0;
    return mapped((i) => (i === 0 ? 'reference' : `ACME-${prefix}-${++n}`));
  };
  expect((await twice(named('B').replace(',6611,', ',6611.00,'), named('A'))).reasons).toEqual([]);
});

it('a batch that was cancelled whole may be saved again', async () => {
  const cancel = (s: Setting) =>
    s.ledger.write((trx) => trx.updateTable('payouts').set({ state: 'cancelled' }).execute());
  expect((await twice(text.replace(',6611,', ',6611.00,'), text, cancel)).reasons).toEqual([]);
});
