import { closeSync, openSync } from 'node:fs';
import { expect, it, onTestFinished } from 'vitest';
import { batchOf, flat, type Home } from '../support/cli.ts';
import { droppedByAlice, makeHome } from '../support/decided.ts';
import { serving } from '../support/serving.ts';
import { shiftedClock } from '../support/shifted-clock.ts';

const dayMs = 86_400_000;
const zone = { COUNTERFOIL_SUBMISSION_TIMEZONE: 'UTC' };
/** `YYYY-MM-DD` so many days from today, UTC. */
const inDays = (days: number): string => new Date(Date.now() + days * dayMs).toISOString().slice(0, 10);
const dated = (count: number, payOn: string): string =>
  batchOf(count)
    .trim()
    .split('\n')
    .map((line, i) => `${line},${i === 0 ? 'pay_on' : payOn}\n`)
    .join('');
const statesOf = async (home: Home, batch: string) => {
  const { batches } = await home.json(['batches'], 0);
  return batches.find((one: { batch: string }) => one.batch === batch).payouts;
};

it('P38: a dated file waits as ready, says until when, and goes on its day', async () => {
  let serviceMs = 0;
  const home = await makeHome({ now: () => Date.now() + serviceMs }, zone);
  const clock = shiftedClock();
  const file = home.put('salaries.csv', dated(3, inDays(2)));
  const foreseen = await home.run(['submit', file, '--dry-run']);
  expect(flat(foreseen.out)).toMatch(
    /would wait: pay_on: 3 payouts \(NGN .*\) wait until \w+day \d+ \w+ \d{4}/,
  );
  const { batches } = await home.json(['submit', file], 0);
  const [{ batch }] = batches;
  expect(batches[0]).toMatchObject({ state: 'ready', payouts: { ready: 3 } });
  expect(home.sandbox.requests.posts).toBe(0);
  const said = await home.run(['submit']);
  expect(flat(said.out)).toContain('3 payouts, NGN');
  expect(flat(said.out)).toMatch(/wait until \w+day \d+ \w+ \d{4} \(pay_on\)/);
  const shown = await home.run(['show', 'PAY-0001']);
  expect(flat(shown.out)).toMatch(/not sent before \w+day/);

  // Our clock steps two days; the service's does not.
  clock.shift(2 * dayMs);
  const early = await home.start(['submit'], clock.env).done;
  expect(early.code, early.err).toBe(0);
  expect(home.sandbox.requests.posts, 'by one clock alone').toBe(0);
  expect(flat(early.out)).toContain("by the service's clock that day has not come");

  serviceMs = 2 * dayMs;
  expect((await home.start(['submit'], clock.env).done).code).toBe(0);
  expect(home.sandbox.requests.posts).toBe(3);
  expect(await statesOf(home, batch)).toMatchObject({ pending: 3 });
});

it('P38: rows that name no day take that of the command, and can be cancelled until then', async () => {
  const home = await makeHome({}, zone);
  const file = home.put('bonus.csv', batchOf(2));
  const { batches } = await home.json(['submit', file, '--pay-on', inDays(5)], 0);
  const [{ batch }] = batches;
  const { payout } = await home.json(['show', 'PAY-0001'], 0);
  expect(payout).toMatchObject({ state: 'ready', pay_on: inDays(5) });
  expect(JSON.stringify(await home.json(['status'], 0))).toContain(`"pay_on":"${inDays(5)}"`);
  await home.json(['cancel', 'PAY-0001', '--yes'], 0);
  await home.json(['cancel', batch, '--yes'], 0);
  expect(await statesOf(home, batch)).toEqual({ cancelled: 2 });
  expect(home.sandbox.requests.posts).toBe(0);
});

it('a past day is today with a warning; one that is no date, or over a year ahead, is refused', async () => {
  const home = await makeHome({}, zone);
  const past = await home.json(['check', home.put('past.csv', dated(1, inDays(-3)))], 0);
  expect(past.files[0].warnings).toContain(`row 2: pay_on ${inDays(-3)} is past: it is paid today`);
  for (const [value, problem] of [
    ['24/12/2026', 'expected a date as YYYY-MM-DD'],
    ['2026-02-30', 'is no day of the calendar'],
    [inDays(368), 'is more than 366 days ahead'],
  ] as const) {
    const { files } = await home.json(['check', home.put('bad.csv', dated(1, value))], 3);
    expect(files[0].problems).toMatchObject([{ row: 2, column: 'pay_on', value, problem }]);
  }
  await home.json(['submit', home.put('past.csv', dated(1, inDays(-3)))], 0);
  expect(home.sandbox.requests.posts).toBe(1);
  expect((await home.run(['submit', '--pay-on', 'tomorrow'])).code).toBe(2);
});

it('P2, P38: who approves reads what may go now and what waits for its day, and no more goes', async () => {
  const home = await makeHome({}, { ...zone, COUNTERFOIL_SUBMISSION_APPROVAL: 'always' });
  const text = dated(3, inDays(4)).replace(`,${inDays(4)}\n`, ',\n');
  const { batches } = await home.json(['submit', home.put('mixed.csv', text)], 4);
  await droppedByAlice(home);
  const approved = await home.run(['approve', batches[0].batch]);
  expect(flat(approved.out + approved.err)).toMatch(/1 payout may go now.*2 payouts, NGN .*wait until/);
  await home.run(['submit']);
  expect(home.sandbox.requests.posts).toBe(1);
});

it('P38: submit --pay-on says which file of the inbox did not get the day', async () => {
  const home = await makeHome({}, zone);
  const late = openSync(home.put('data/inbox/late.csv', batchOf(1, 7)), 'a');
  onTestFinished(() => closeSync(late));
  home.put('data/inbox/whole.csv', batchOf(2));
  const day = inDays(3);
  const { err } = await home.run(['submit', '--pay-on', day, '--quiet']);
  expect(err).toContain(`late.csv; it does not get the day ${day}: give --pay-on again`);
  expect(err).not.toContain('whole.csv');
  expect(home.sandbox.requests.posts).toBe(0);
});

it('P38: submit --pay-on takes nothing from an inbox that serve reads too', async () => {
  const home = await makeHome({}, { ...zone, COUNTERFOIL_SCHEDULES_INTAKE: '' });
  await serving(home);
  home.put('data/inbox/pay.csv', batchOf(2));
  const { code, err } = await home.run(['submit', '--pay-on', inDays(3)]);
  expect([code, flat(err)]).toEqual([
    2,
    expect.stringContaining('name the file, as in counterfoil submit FILE'),
  ]);
  expect(home.names('data/inbox')).toContain('pay.csv');
  const file = home.put('pay.csv', batchOf(2));
  expect(await home.json(['submit', file, '--pay-on', inDays(3)], 0)).toMatchObject({
    batches: [{ payouts: { ready: 2 } }],
  });
});
