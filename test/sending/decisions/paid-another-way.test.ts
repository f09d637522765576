import { afterEach, beforeEach, expect, it } from 'vitest';
import { evidenceLines } from '../../../src/faces/terminal/decisions/evidence-lines.ts';
import { noPaint } from '../../../src/faces/terminal/kit/ink.ts';
import { terminalOf } from '../../../src/faces/terminal/kit/terminal.ts';
import { makeLedger, payoutById, replies, type TestLedger } from '../../support/ledger.ts';
import { createTold, hour, shown } from './told.ts';

let ledger: TestLedger;
beforeEach(async () => {
  ledger = await makeLedger();
});
afterEach(() => ledger.remove());

const { decisionsAt, sent, looked, orderAgain } = createTold(() => ledger);
const note = 'paid by hand from the bank on 3 May';

/** F, whose outcome nobody knew, is settled as not paid. */
async function settled(): Promise<bigint> {
  const id = await sent(replies.unknown());
  const decisions = decisionsAt(hour);
  const { digest } = await decisions.weigh([id], hour.toString());
  const order = { ids: [id], since: '', digest, person: 'ada', as: 'failed' as const, note };
  expect(await decisions.settle(order)).toMatchObject({ kind: 'decided' });
  return id;
}
const offers = (id: bigint, ms: number) => decisionsAt(ms).rows.offer(ledger.db, [id]);

it('P20: no file offers or pays again what a person settled as not paid, though the service says failed since', async () => {
  const id = await settled();
  await looked(id, 2 * hour, shown('failed'));
  expect(await payoutById(ledger, id)).toMatchObject({ state: 'failed', evidence: 'details+person' });
  expect(await offers(id, 2 * hour + 5)).toEqual([]);
  const weighed = await decisionsAt(2 * hour + 5).weigh([id], '');
  const row = { row: 2, of: 'F', evidence: weighed.digest, reference: 'F-R2' };
  const money = { accountNumber: '0123456789', bankCode: '000013', amount: 150_000n, currency: 'NGN' };
  const [examined] = await decisionsAt(2 * hour + 5).rows.examine(ledger.db, [{ ...row, ...money }]);
  expect(examined).toMatchObject({
    kind: 'bad',
    problems: [{ column: 'retry_of', problem: expect.stringContaining(`by ada ("${note}")`) }],
  });
});

it('P20: retry shows the note with what is known, and may pay it again all the same', async () => {
  const id = await settled();
  await looked(id, 2 * hour, shown('failed'));
  const lines = evidenceLines(await decisionsAt(2 * hour + 5).weigh([id], ''), {
    watch: { now: '', quietPeriodMinutes: 1 },
    terminal: terminalOf(
      { paint: noPaint, columns: 200 },
      { reports: { bom: true, delimiter: ',', timezone: 'UTC', maskAccounts: false, keepDays: 0 } },
      '',
    ),
  });
  expect(lines.join('\n')).toMatch(/settled {4}as not paid by person:ada \d+ \w+ [\d :]+: paid by hand/);
  expect(await orderAgain(id, 2 * hour)).toMatchObject({ decided: [{ reference: 'F-R2' }] });
});

it('P19: the note counts also where the service paid it after all and took the money back', async () => {
  const id = await settled();
  await looked(id, 2 * hour, shown('success'));
  await looked(id, 3 * hour, shown('returned'));
  expect(await payoutById(ledger, id)).toMatchObject({ state: 'returned', evidence: 'details' });
  expect(await offers(id, 3 * hour + 5)).toEqual([]);
});

it('P20: what nobody settled is offered as before', async () => {
  const id = await sent(replies.refused());
  expect(await offers(id, hour)).toMatchObject([{ reference: 'F-R2' }]);
});
