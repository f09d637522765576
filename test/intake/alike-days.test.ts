import { expect, it } from 'vitest';
import { batchOf, type Home } from '../support/cli.ts';
import { makeHome } from '../support/decided.ts';

const inDays = (days: number): string => new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10);

/** The same account and amount under another reference, for a day or at once. */
function again(first: number, payOn: string): string {
  const text = batchOf(1).replace('PAY-0001', `PAY-${first}`);
  const [head = '', row = ''] = text.trim().split('\n');
  return payOn === '' ? text : `${head},pay_on\n${row},${payOn}\n`;
}

async function holdsOf(
  home: Home,
  name: string,
  text: string,
): Promise<{ foreseen: boolean; held: boolean }> {
  const { files } = await home.json(['check', home.put(name, text)], 0);
  const done = JSON.parse((await home.run(['submit', home.put(name, text), '--no-wait', '--json'])).out);
  return { foreseen: files[0].duplicates.length > 0, held: done.batches[0].state === 'held' };
}

const alike = { foreseen: true, held: true };
const other = { foreseen: false, held: false };

it('P23, P38: a payment is a possible duplicate of what goes within the window of its own day, not of its file', async () => {
  const home = await makeHome();
  // The first command that writes makes the ledger.
  await home.json(['submit', home.put('other.csv', batchOf(1, 50)), '--no-wait'], 0);
  expect(await holdsOf(home, 'now.csv', again(1, ''))).toEqual(other);
  expect(
    await holdsOf(home, 'next-month.csv', again(2, inDays(30))),
    'the next salary, dropped early',
  ).toEqual(other);
  expect(await holdsOf(home, 'near-it.csv', again(3, inDays(33))), 'within five days of the third').toEqual(
    alike,
  );
  expect(await holdsOf(home, 'soon.csv', again(4, inDays(3))), 'within five days of now').toEqual(alike);
});
