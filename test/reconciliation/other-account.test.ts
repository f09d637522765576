import { afterEach, beforeEach, expect, it } from 'vitest';
import { accountOf, type Standpoint } from '../../src/domain/origin.ts';
import { standAt } from '../../src/ledger/origins.ts';
import { here } from '../sending/setting.ts';
import {
  addBatch,
  at,
  claimAt,
  makeLedger,
  recordOutcome,
  replies,
  type TestLedger,
} from '../support/ledger.ts';
import { nightOf } from './setting.ts';

const hour = 3_600_000;
const day = 24 * hour;
const year = 365 * day;
let ledger: TestLedger;
let elsewhere: Standpoint;
let sender: Standpoint;
beforeEach(async () => {
  ledger = await makeLedger();
  const keys = { secretKeys: ['sk_test_other'], encryptionKeys: [] };
  const account = accountOf('http://other.example', keys, 'secret');
  if (!account) throw new Error('no account');
  sender = await standAt(ledger, here.account);
  elsewhere = await standAt(ledger, account);
  await addBatch(ledger, ['R-1']);
});
afterEach(async () => {
  await ledger.remove();
});

async function sendAt(ms: number): Promise<void> {
  for (const claim of await claimAt(ledger, at(ms), 1))
    await recordOutcome(ledger, at(ms + 1), claim, replies.accepted('T-R-1'));
  await ledger.db.updateTable('attempts').set({ origin_id: sender.originId }).execute();
}

for (const [words, ms] of [
  ['', 0],
  [' under a clock a year ahead', year],
] as const)
  it(`P31: a pending payout that was sent to another account${words} is stale, not missing, and its action names that account`, async () => {
    await sendAt(ms);
    const kinds: string[][] = [];
    for (const night of [1, 2, 3])
      kinds.push((await nightOf(ledger, { at: night * day + hour, standpoint: elsewhere })).kinds);
    expect(kinds.at(-1)).toEqual(['stale_pending R-1']);
    expect(kinds.flat().filter((kind) => !kind.startsWith('stale_pending'))).toEqual([]);
    const { open } = await nightOf(ledger, { at: 4 * day, standpoint: elsewhere });
    expect(open[0]?.action).toContain('this configuration asks http://other.example');
  });
