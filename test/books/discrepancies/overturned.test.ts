import { afterEach, beforeEach, expect, it } from 'vitest';
import { createTold, hour, shown } from '../../sending/decisions/told.ts';
import { at, makeLedger, payoutById, replies, type TestLedger } from '../../support/ledger.ts';
import { listedTransfer, nightOf } from './setting.ts';

let ledger: TestLedger;
beforeEach(async () => {
  ledger = await makeLedger();
});
afterEach(() => ledger.remove());

const told = createTold(() => ledger);

function night(ms: number, ...listed: string[]) {
  const rows = listed.map((status) =>
    listedTransfer('F', { id: 'T-1', status, created_at: '2026-11-21T10:00:00.050Z' }),
  );
  return nightOf(ledger, { at: ms, full: true, rows, details: 'no_answer' });
}

async function settle(id: bigint, ms: number, as: 'success' | 'failed', note = 'cash'): Promise<void> {
  const decisions = told.decisionsAt(ms);
  const { digest } = await decisions.weigh([id], at(ms));
  const order = { ids: [id], since: at(ms), digest, person: 'ada', note };
  expect(await decisions.settle({ ...order, as })).toMatchObject({ kind: 'decided' });
}

const stateOf = async (id: bigint) => (await payoutById(ledger, id)).state;

it.each([
  ['failed', 'success', '1500.00'],
  ['success', 'failed', '-1500.00'],
  ['failed', 'pending', ''],
] as const)(
  'P32: what a person settled as %s and details alone show as %s is told once',
  async (as, word, difference) => {
    const id = await told.sent(replies.unknown());
    await settle(id, hour, as);
    await told.looked(id, 2 * hour, shown(word));
    expect(await stateOf(id)).toBe(word);
    const { open } = await night(3 * hour, word);
    expect(open).toMatchObject([
      {
        kind: 'status_conflict',
        expected: as,
        actual: word,
        difference,
        state: 'open',
        evidence: `person:ada settled it as ${as} at ${at(hour)} (cash); then at ${at(2 * hour)}: details says ${word}`,
      },
    ]);
    expect((await night(4 * hour, word)).kinds, 'told once').toEqual([]);
  },
);

it('P14: a refusal that details alone overturn is told once', async () => {
  const id = await told.sent(replies.refused());
  await told.looked(id, hour, shown('success'));
  expect(await stateOf(id)).toBe('success');
  const { open } = await night(2 * hour, 'success');
  expect(open).toMatchObject([{ kind: 'status_conflict', expected: 'refused', actual: 'success' }]);
  expect((await night(3 * hour, 'success')).kinds).toEqual([]);
});

it('P32: what the list of a run overturned, the next run does not tell again', async () => {
  const id = await told.sent(replies.unknown());
  await settle(id, hour, 'failed');
  expect((await night(2 * hour, 'success')).kinds).toEqual(['status_conflict F']);
  expect(await stateOf(id)).toBe('success');
  expect((await night(3 * hour, 'success')).kinds).toEqual([]);
});

it('P32: a decision after a run told of another is told too when it is overturned', async () => {
  const id = await told.sent(replies.unknown());
  await settle(id, hour, 'failed');
  expect((await night(2 * hour, 'pending')).kinds).toEqual(['status_conflict F']);
  await settle(id, 3 * hour, 'failed', 'their letter');
  await told.looked(id, 4 * hour, shown('success'));
  const { open } = await night(5 * hour, 'success');
  expect(open).toMatchObject([
    { kind: 'status_conflict', actual: 'success', evidence: expect.stringContaining('(their letter)') },
  ]);
});

it('P32: what a person has decided again since it was overturned, is not told', async () => {
  const id = await told.sent(replies.unknown());
  await settle(id, hour, 'success');
  await told.looked(id, 2 * hour, shown('pending'));
  await settle(id, 3 * hour, 'success');
  expect((await night(4 * hour)).kinds).toEqual([]);
});
