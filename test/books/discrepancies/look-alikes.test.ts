import { afterEach, beforeEach, expect, it } from 'vitest';
import {
  addBatch,
  at,
  claimAt,
  makeLedger,
  payoutById,
  recordOutcome,
  replies,
  type TestLedger,
} from '../../support/ledger.ts';
import { listedTransfer, nightOf } from './setting.ts';

const hour = 3_600_000;
const day = 24 * hour;
let ledger: TestLedger;
let id: bigint;
beforeEach(async () => {
  ledger = await makeLedger();
  [id = 0n] = await addBatch(ledger, ['R-1']);
});
afterEach(() => ledger.remove());

async function send(outcome = replies.unknown()): Promise<void> {
  for (const claim of await claimAt(ledger, at(0), 10)) await recordOutcome(ledger, at(1), claim, outcome);
}
const stranger = (n: number, other = {}) =>
  listedTransfer(`OTHER-${n}`, { id: `T-${n}`, created_at: at(n * 1000), ...other });

it('an unknown payout and a transfer like it under another reference are offered to a person on both sides', async () => {
  await send();
  const { open } = await nightOf(ledger, { at: hour, rows: [stranger(1)] });
  const [foreign, lost] = open;
  expect(foreign).toMatchObject({ kind: 'missing_in_ledger', reference: 'OTHER-1' });
  expect(foreign?.evidence).toContain(
    'possible match, a payout with the same account, bank, currency and amount',
  );
  expect(foreign?.evidence).toContain(`R-1 (unknown, sent ${at(0)}, batch b-1)`);
  expect(foreign?.action).toMatch(/^It may be our R-1 under another reference: ask the service/);
  expect(lost).toMatchObject({ kind: 'unknown_outcome', reference: 'R-1' });
  expect(lost?.evidence).toContain(`OTHER-1 (transfer T-1, success, created ${at(1000)})`);
  expect(lost?.action).toMatch(/^It may be listed under another reference: OTHER-1 \(transfer T-1\)/);
  expect(lost?.action).toContain('Do not pay it another way');
});

it('nothing is matched by it: the payout keeps its state and has no transfer', async () => {
  await send();
  await nightOf(ledger, { at: hour, rows: [stranger(1)] });
  expect(await payoutById(ledger, id)).toMatchObject({ state: 'unknown', transfer_id: null, evidence: '' });
});

it('a payout that the service lost is offered the transfer that looks like it, in one and the same run', async () => {
  await send(replies.accepted('T-R-1'));
  const { open } = await nightOf(ledger, { at: hour, rows: [stranger(1)] });
  expect(open.map(({ kind }) => kind).toSorted()).toEqual(['missing_at_service', 'missing_in_ledger']);
  for (const found of open) expect(found.evidence).toContain('possible match');
});

it.each([
  ['another account', { account_number: '0123456780' }],
  ['another bank', { bank_code: '058' }],
  ['another amount', { amount: '1500.01' }],
  ['another currency', { currency: 'ZAR' }],
  ['more than three days away', { created_at: at(3 * day + 1) }],
  ['no readable time', { created_at: 'yesterday' }],
  ['another mode', { domain: 'live' }],
])('%s is no likeness', async (_, other) => {
  await send();
  const { open } = await nightOf(ledger, { at: 4 * day, rows: [stranger(1, other)] });
  for (const found of open) expect(found.evidence).not.toContain('possible match');
});

it('a payout that is listed as it should be is offered to nobody', async () => {
  await send(replies.accepted('T-R-1'));
  const { open } = await nightOf(ledger, { at: hour, rows: [listedTransfer('R-1'), stranger(1)] });
  expect(open.map(({ kind, evidence }) => [kind, evidence.includes('possible match')])).toEqual([
    ['missing_in_ledger', false],
  ]);
});

it('names a few at most, and says that there are more', async () => {
  await send();
  const rows = Array.from({ length: 6 }, (_, n) => stranger(n + 1));
  const { open } = await nightOf(ledger, { at: hour, rows });
  const lost = open.find(({ kind }) => kind === 'unknown_outcome');
  expect(lost?.action).toContain(
    'OTHER-1 (transfer T-1), OTHER-2 (transfer T-2), OTHER-3 (transfer T-3) and more.',
  );
  expect(lost?.evidence).not.toContain('OTHER-4');
});
