import { describe, expect, it, onTestFinished } from 'vitest';
import { barrierKeys, noteListAfterAdoption, raiseBarrier } from '../src/core/ledger/barriers.ts';
import {
  type HoldReason,
  readReasons,
  setHoldReasons,
  wasCancelled,
} from '../src/core/ledger/hold-reasons.ts';
import { approvalsOf, noteBatch, readApprovable, recordApproval } from '../src/sending/approvals.sql.ts';
import { findAttention } from '../src/sending/attention.sql.ts';
import { type Brakes, noBrakes } from '../src/sending/brakes.ts';
import { cancelUnsent } from '../src/sending/decisions/cancel-unsent.sql.ts';
import { halt, liftCanary, liftHalt, tooManyUnknown } from '../src/sending/halts.sql.ts';
import { finishRelease, holdBatch, holdReturned, releaseBatch } from '../src/sending/holds.sql.ts';
import { createBrakes } from '../src/sending/open-brakes.sql.ts';
import { beginRun } from '../src/watching/listing/listings.sql.ts';
import { stage } from '../src/watching/listing/staging.sql.ts';
import { haltInWords } from '../src/words/halt-words.ts';
import { createTold, hour, shown } from './sending/decisions/told.ts';
import {
  addBatch,
  at,
  claimAt,
  makeLedger,
  payoutById,
  recordOutcome,
  replies,
  states,
  type TestLedger,
} from './support/ledger.ts';
import { type Nonsense, rewordEverything } from './support/nonsense.ts';

/** Drives a ledger, and notes what was decided: never a word of why. */
type Scenario = (ledger: TestLedger, note: (what: string, fact: unknown) => void) => Promise<void>;

const batch = { batch: 'b-1', at: at(20) };
const kindsOf = (reasons: readonly HoldReason[]): string[] => reasons.map(({ kind }) => kind);

const namesAt = async (ledger: TestLedger, ms: number, brakes: Brakes = noBrakes): Promise<string[]> =>
  (await claimAt(ledger, at(ms), 9, 'w-1', brakes)).map(({ reference }) => reference);

async function batchOf(ledger: TestLedger) {
  return ledger.db.selectFrom('batches').selectAll().where('id', '=', 'b-1').executeTakeFirstOrThrow();
}

async function release(ledger: TestLedger, how: typeof finishRelease = releaseBatch) {
  const { stays, first, firstDoubted, ...counts } = await how(ledger, batch);
  const names = [...first, ...firstDoubted].map(({ reference }) => reference);
  return { ...counts, names, stays: kindsOf(stays) };
}

const holds: Scenario = async (ledger, note) => {
  await addBatch(ledger, ['A-1', 'A-2', 'A-3'], { state: 'held' });
  const { bodies } = await readApprovable(ledger.db, await batchOf(ledger));
  await ledger.write(async (trx) => {
    await trx.updateTable('batches').set({ body_digest: bodies }).execute();
    await setHoldReasons(trx, 'b-1', [{ kind: 'approval', why: { kind: 'always' }, dropper: 'alice' }]);
    await noteBatch(trx, { id: 'b-1', totals: new Map([['NGN', 450_000n]]), needsApproval: true });
  });
  note('released', await release(ledger));
  await holdBatch(ledger, { ...batch, reason: { kind: 'person' } });
  const row = await batchOf(ledger);
  const approvable = await readApprovable(ledger.db, row);
  const order = { batch: row, shown: approvable, by: 'bob', at: at(5) };
  const done = await ledger.write((trx) => recordApproval(trx, order));
  note('approved', done.kind === 'approved' ? kindsOf(done.others) : done.kind);
  note('approvals', (await approvalsOf(ledger.db)).get('b-1')?.length);
  note('released for the approval', await release(ledger, finishRelease));
  note('released by a person', await release(ledger));
  const [first] = await claimAt(ledger, at(30), 1);
  if (!first) throw new Error('nothing was claimed');
  const cancelled = await cancelUnsent(ledger, { ...batch, source: 'person:ada', why: 'the wrong month' });
  note('cancelled', { ...cancelled, why: null });
  note('was cancelled', wasCancelled((await batchOf(ledger)).hold_reasons));
  const recorded = await recordOutcome(ledger, at(40), first, replies.notSent());
  await ledger.write((trx) => holdReturned(trx, at(41), recorded));
  note('goes no more', await namesAt(ledger, 50));
  await cancelUnsent(ledger, { ...batch, source: 'person:ada', why: 'the rest' });
  note('why held', kindsOf(readReasons((await batchOf(ledger)).hold_reasons)));
};

const withheld: Scenario = async (ledger, note) => {
  await addBatch(ledger, ['R-1', 'R-2']);
  const run = await ledger.write((trx) => beginRun(trx, at(0)));
  const transfer = {
    id: '7',
    trx: 'T7',
    reference: 'R-1',
    currency: 'NGN',
    amount: '1500.00',
    fee: null,
    account_name: 'ADA OBI',
    account_number: '0123456789',
    bank_code: '000013',
    domain: 'test',
    status: 'success',
    created_at: at(0),
    updated_at: at(0),
  };
  await ledger.write((trx) => stage(trx, run, 1, [transfer]));
  note('sent', await namesAt(ledger, 10));
  for (const _ of [1, 2]) {
    await holdBatch(ledger, { ...batch, reason: { kind: 'person' } });
    note('released', await release(ledger));
    note('for a person', (await findAttention(ledger.db)).withheld.count);
  }
};

const halts: Scenario = async (ledger, note) => {
  const canary: Brakes = { ...noBrakes, canary: 1, canaryHours: 4 };
  const say = async (what: string): Promise<void> =>
    note(what, (await haltInWords(ledger.db))?.kinds ?? 'nothing halts');
  await addBatch(ledger, ['A-1', 'A-2', 'A-3']);
  await addBatch(ledger, ['B-1', 'B-2'], { id: 'b-2' });
  for (const one of await claimAt(ledger, at(0), 2, 'w-1', canary))
    await recordOutcome(ledger, at(1), one, one.reference === 'A-1' ? replies.refused() : replies.unknown());
  note('behind their canaries', await namesAt(ledger, 2, canary));
  await say('canaries');
  const answer = { kind: 'account' as const, code: '13', message: 'blocked', reference: 'A-1' };
  for (const _ of [1, 2]) await ledger.write((trx) => halt(trx, { kind: 'person' }, at(3)));
  await ledger.write((trx) => halt(trx, answer, at(3)));
  await say('and a person');
  for (const id of ['b-1', 'b-2']) {
    note(`${id} released`, (await ledger.write((trx) => liftCanary(trx, id, { at: at(4) })))?.halt);
    await say(`after ${id}`);
  }
  note('halted', await namesAt(ledger, 5, canary));
  await ledger.write((trx) => liftHalt(trx, { at: at(6) }));
  await say('released');
  for (const one of await claimAt(ledger, at(7), 9, 'w-1', canary))
    await recordOutcome(ledger, at(8), one, replies.unknown());
  note('too many unknown', (await ledger.write((trx) => tooManyUnknown(trx, 3)))?.kind);
  const always: Brakes = { ...noBrakes, approval: 'always' };
  await addBatch(ledger, ['C-1'], { id: 'b-3' });
  await createBrakes({ ledger, clock: { iso: () => at(9) }, brakes: always }).settle();
};

const barriers: Scenario = async (ledger, note) => {
  await addBatch(ledger, ['R-1']);
  const barrier = { at: at(1), why: 'it was adopted', advice: { kind: 'list_whole' } } as const;
  for (const key of [barrierKeys.behind, barrierKeys.listing])
    await ledger.write((trx) => raiseBarrier(trx, key, barrier));
  note('stands', (await haltInWords(ledger.db))?.kinds);
  note('since', (await haltInWords(ledger.db))?.at);
  note('goes', await namesAt(ledger, 2));
  note('cancelled', (await cancelUnsent(ledger, { ...batch, source: 'person:ada', why: 'x' })).cancelled);
  await ledger.db.deleteFrom('meta').where('key', '=', barrierKeys.behind).execute();
  await ledger.write((trx) => noteListAfterAdoption(trx, { startedAt: at(2), now: at(3) }));
  note('goes after a listing', await namesAt(ledger, 4));
};

const unknowns: Scenario = async (ledger, note) => {
  const told = createTold(() => ledger);
  const id = await told.sent(replies.unknown());
  const judged = async (ms: number): Promise<void> => {
    note(`at ${ms / hour} hours`, (await payoutById(ledger, id)).state);
    note('may be retried', (await told.judged(id, ms))?.kind);
    const due = ledger.db.selectFrom('inquiries').select(['reason', 'due_at', 'rung']);
    note('asked', await due.where('outcome', 'is', null).execute());
  };
  await told.unanswered(id, hour);
  await judged(hour);
  await told.lookedInVain(id, 25 * hour);
  await told.lookedInVain(id, 26 * hour);
  await judged(26.5 * hour);
  await told.heard(27 * hour, 'success', {}, true);
  await told.unanswered(id, 27.5 * hour);
  await judged(27.6 * hour);
  await told.lookedInVain(id, 28 * hour);
  note('sent again', (await told.orderAgain(id, 28.5 * hour)).kind);
  await judged(28.6 * hour);
  note('goes', await told.claimed(28.7 * hour));
};

const failures: Scenario = async (ledger, note) => {
  const told = createTold(() => ledger);
  const id = await told.sent(replies.accepted('T-1'));
  const judged = async (ms: number): Promise<void> => {
    note(`at ${ms / hour} hours`, (await payoutById(ledger, id)).state);
    note('may be paid again', (await told.judged(id, ms))?.kind);
  };
  await told.looked(id, hour, shown('failed'));
  await judged(1.1 * hour);
  await told.heard(2 * hour, 'success');
  await told.unanswered(id, 2.5 * hour);
  note(
    'asked',
    await ledger.db.selectFrom('inquiries').select('reason').where('outcome', 'is', null).execute(),
  );
  await judged(3 * hour);
  await told.looked(id, 4 * hour, shown('failed'));
  await judged(4.1 * hour);
  note('paid again', (await told.orderAgain(id, 4.5 * hour)).kind);
  await told.looked(id, 5 * hour, shown('success'));
  note('goes', await told.claimed(6 * hour));
  note('released', await release(ledger));
};

/** What a run of a scenario decided: what it noted, where every payout stands, and what was asked and recorded. */
async function decisionsOf(scenario: Scenario, nonsense: Nonsense | null): Promise<unknown> {
  const ledger = await makeLedger();
  onTestFinished(() => ledger.remove());
  if (nonsense) await rewordEverything(ledger, nonsense);
  const notes: unknown[] = [];
  await scenario(ledger, (what, fact) => void notes.push([what, fact]));
  const { db } = ledger;
  const events = await db
    .selectFrom('history')
    .select(['payout_id', 'event', 'source', 'to_state'])
    .execute();
  return { notes, states: await states(ledger), events };
}

describe('no decision reads a sentence', () => {
  const scenarios: [string, Scenario][] = [
    ['holds, approvals and a cancelled batch', holds],
    ['what the service shows already', withheld],
    ['canaries and halts', halts],
    ['barriers', barriers],
    ['an unknown outcome', unknowns],
    ['a failure that a webhook contradicts', failures],
  ];

  it.each(scenarios)('%s: the same with every text of the ledger reworded', async (_, scenario) => {
    const plain = await decisionsOf(scenario, null);
    expect(await decisionsOf(scenario, 'one text')).toEqual(plain);
    expect(await decisionsOf(scenario, 'a text each')).toEqual(plain);
  });

  it('rewords what is written, and sees a decision that reads it', async () => {
    const planted: Scenario = async (ledger, note) => {
      await addBatch(ledger, ['R-1']);
      await holdBatch(ledger, { ...batch, reason: { kind: 'person' } });
      const { message } = await ledger.db.selectFrom('payouts').select('message').executeTakeFirstOrThrow();
      if (message?.startsWith('held by a person')) note('released', await release(ledger));
    };
    expect(await decisionsOf(planted, 'one text')).not.toEqual(await decisionsOf(planted, null));
    expect(await decisionsOf(planted, 'a text each')).not.toEqual(await decisionsOf(planted, null));
  });
});
