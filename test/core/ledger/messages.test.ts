import { afterEach, beforeEach, expect, it } from 'vitest';
import type { LedgerEvent } from '../../../src/core/domain/transition.ts';
import type { Witness } from '../../../src/core/domain/witness.ts';
import { record } from '../../../src/core/ledger/record.ts';
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

let ledger: TestLedger;
let id: bigint;
beforeEach(async () => {
  ledger = await makeLedger();
  [id = 0n] = await addBatch(ledger, ['R-1']);
});
afterEach(() => ledger.remove());

const blank = { transferId: null, trx: null, fee: null, settledAt: null };
const says = (source: Witness['source'], status: Witness['status'], message: string | null): LedgerEvent => ({
  kind: 'witness',
  witness: { ...blank, source, status, message },
});
const hear = (...events: LedgerEvent[]) =>
  ledger.write((trx) =>
    record(
      trx,
      at(100),
      events.map((event) => ({ payoutId: id, source: 'test', event })),
    ),
  );
const message = async (): Promise<string | null> => (await payoutById(ledger, id)).message;
const send = async () => {
  const [claim] = await claimAt(ledger, at(0));
  if (!claim) throw new Error('nothing was ready');
  return () => recordOutcome(ledger, at(1), claim, replies.accepted('T-1'));
};

it('a paid payout no longer says what the service said when it took it', async () => {
  await (await send())();
  expect(await message()).toBe('ok');
  await hear(says('details', 'success', null));
  expect(await message()).toBeNull();
});

it('a late answer or a late pending puts no old message beside a final state', async () => {
  const answer = await send();
  await hear(says('details', 'success', 'Paid out'));
  await answer();
  await hear(says('webhook', 'pending', 'queued'));
  expect(await message()).toBe('Paid out');
});

it('the reason that a webhook gave stays when the details confirm its status without one', async () => {
  await (await send())();
  await hear(says('webhook', 'failed', 'Account closed'), says('details', 'failed', null));
  expect(await message()).toBe('Account closed');
});

it('"queued" of a pending webhook goes when the payout is paid', async () => {
  await (await send())();
  await hear(says('webhook', 'pending', 'queued'), says('listing', 'success', null));
  expect(await message()).toBeNull();
});

it.each(['the service', 'a person'])(
  'a payout that came back no longer says what %s said when it was paid',
  async (who) => {
    await (await send())();
    const note = 'bank statement of 3 May';
    await hear(
      who === 'a person' ? { kind: 'settle', as: 'success', note } : says('details', 'success', note),
      says('listing', 'success', null),
    );
    expect(await message()).toBe(note);
    const failed = { ...blank, source: 'listing' as const, status: 'failed' as const, message: null };
    await hear({ kind: 'turned', witness: failed, first: 'r-1', sure: true });
    expect((await payoutById(ledger, id)).state).toBe('returned');
    expect(await message()).toBeNull();
  },
);
