import { expect, it } from 'vitest';
import { batchOf, csv, flat, type Home, row } from '../support/cli.ts';
import { makeHome, stateOf } from '../support/decided.ts';

const note = ['release', '--mode', '--note', 'the bank statement shows all of it'];
/** The note of a person who read what is not proven now. */
const readNote = async (home: Home) => {
  const { evidence } = await home.json(['release', '--mode'], 4);
  return [...note, ...(evidence === null ? [] : ['--evidence', evidence])];
};
const nextYear = '2027-11-24T12:00:00.000000Z';

/** Two paid payouts, PAY-0003 that was never sent, and a stranger's transfer; then the ledger is adopted. */
async function adopted(spoil: (home: Home) => void): Promise<Home> {
  const home = await makeHome({}, { COUNTERFOIL_RECONCILIATION_MAX_PASSES: '2' });
  await home.json(['submit', home.put('pay.csv', batchOf(2))], 0);
  await home.sandbox.settleAll();
  await home.run(['reconcile', '--full']);
  await home.json(['submit', home.put('lost.csv', csv(row(3))), '--no-wait'], 0);
  spoil(home);
  await home.json(['restore', '--adopt', '--yes'], 4);
  return home;
}

/** The list's first page counts one transfer that no page shows. */
function countOneMore({ sandbox: { book } }: Home): void {
  const { size } = book;
  book.size = (...about) => size(...about) + 1;
}

const strangerOfNextYear = ({ sandbox }: Home): void => {
  sandbox.book.plant({ reference: 'WHO-1', created_at: nextYear });
};

it.each([
  [
    'a stranger’s row is dated next year',
    strangerOfNextYear,
    /1 row .* after the service’s own clock: .*WHO-1/,
  ],
  ['the total counts one more than is shown', countOneMore, /counts 3 transfers, its pages show 2, .*no row/],
])('P25, P32: where %s, a person ends the wait of an adopted ledger with a note', async (_, spoil, shown) => {
  const home = await adopted(spoil);
  expect((await home.json(['reconcile', '--full'], 4)).complete).toBe(false);
  await home.json(['submit', home.put('new.csv', csv(row(4)))], 4);
  expect(home.sandbox.requests.bodies('PAY-0004')).toBe(0);
  const said = flat((await home.run(['status'])).out);
  expect(said).toMatch(shown);
  expect(said).toMatch(/1 payout that may have been sent is not among the rows: PAY-0003/);
  expect(said).toContain('counterfoil release --mode --evidence');
  expect(said).not.toContain('the list changed');
  expect((await home.json(['release', '--mode'], 4)).halted.cause, 'not without a note').toContain('--note');

  const ended = await home.json(await readNote(home), 0);
  expect(ended).toMatchObject({ waived: true, halted: null, not_proven: expect.stringMatching(shown) });
  await home.json(['submit'], 4);
  expect(home.sandbox.requests.bodies('PAY-0004'), 'new batches go').toBe(1);
  expect(home.sandbox.requests.bodies('PAY-0003'), 'what may have been sent does not').toBe(0);
  expect(await stateOf(home, 'PAY-0003')).toBe('unknown');

  const decision = /without a complete list .*the bank statement shows all of it/;
  expect(flat((await home.run(['status'])).out)).toMatch(decision);
  expect(flat((await home.run(['doctor'])).out)).toMatch(decision);
  const proof = await home.run(['verify']);
  expect([proof.code, flat(proof.out)]).toEqual([0, expect.stringMatching(decision)]);
  expect((await home.json(['verify'], 0)).waived_listings).toMatchObject([
    { note: 'the bank statement shows all of it', not_proven: expect.stringMatching(shown) },
  ]);
});

it('P25, P32: what stays unknown after the note names its own end, and closes by it', async () => {
  const home = await adopted(countOneMore);
  await home.run(['reconcile', '--full']);
  await home.json(await readNote(home), 0);
  const asked = await home.run(['retry', 'PAY-0003']);
  expect(flat(`${asked.out} ${asked.err}`)).toContain('counterfoil settle PAY-0003');
  await home.json(['settle', 'PAY-0003', '--as', 'not-paid', '--note', 'the bank says so', '--yes'], 0);
  expect(await stateOf(home, 'PAY-0003')).toBe('failed');
  expect(home.sandbox.requests.bodies('PAY-0003')).toBe(0);
});

it('P25: no note ends the wait before a whole list was read, nor where no page of it came', async () => {
  const home = await adopted(countOneMore);
  expect((await home.json(await readNote(home), 4)).waived, 'nothing was read').toBe(false);
  await home.json(['reconcile', '--full'], 1, { COUNTERFOIL_TEST_SECRET_KEY: 'sk_test_refused' });
  expect((await home.json(await readNote(home), 4)).waived, 'no page came').toBe(false);
  await home.run(['reconcile', '--full']);
  expect((await home.json(await readNote(home), 0)).waived).toBe(true);
});

it('P25: a short cut that proves nothing allows no note', async () => {
  const home = await adopted(countOneMore);
  await home.json(['reconcile'], 4);
  expect((await home.json(await readNote(home), 4)).waived).toBe(false);
});

it('P25: a complete list read after the note is told no more, and verify still knows the decision', async () => {
  const home = await adopted(countOneMore);
  const { size } = home.sandbox.book;
  await home.run(['reconcile', '--full']);
  await home.json(await readNote(home), 0);
  home.sandbox.book.size = (...about) => size(...about) - 1;
  await home.run(['reconcile', '--full']);
  expect((await home.json(['status'], 4)).waived_listing).toBeNull();
  expect((await home.json(['verify'], 0)).waived_listings).toHaveLength(1);
});

it('P32: a note that was written about an earlier list ends no wait: the newer one is shown again', async () => {
  const home = await adopted(countOneMore);
  await home.run(['reconcile', '--full']);
  const shown = await readNote(home);
  await home.run(['reconcile', '--full']);
  expect(await readNote(home), 'another run that leaves the same open changes nothing').toEqual(shown);
  strangerOfNextYear(home);
  await home.run(['reconcile', '--full']);
  const late = await home.run(shown);
  expect([late.code, flat(late.out)]).toEqual([
    4,
    expect.stringContaining('other things are not proven now; read that first'),
  ]);
  expect(flat(late.out)).toMatch(/after the service’s own clock: .*WHO-1/);
  expect((await home.json(await readNote(home), 0)).waived).toBe(true);
});
