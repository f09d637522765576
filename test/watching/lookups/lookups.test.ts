import { expect, it } from 'vitest';
import type { AttemptOutcome } from '../../../src/core/domain/outcome.ts';
import type { ServiceClient } from '../../../src/core/service/types.ts';
import { weigh } from '../../../src/watching/evidence/weigh.ts';
import { applyWebhooks } from '../../../src/watching/webhooks/apply-inbox.ts';
import { answerText } from '../../../src/words/word-texts.ts';
import { addBatch, at, claimAt, payoutById, recordOutcome, replies } from '../../support/ledger.ts';
import { deliver, lookUpsOf } from './setting.ts';
import { client, clock, ledger, sandbox, withService } from './with-service.ts';

withService();

async function sent(outcome: AttemptOutcome): Promise<bigint> {
  await addBatch(ledger, ['R-1']);
  const [one] = await claimAt(ledger, at(0));
  if (!one) throw new Error('nothing was claimed');
  await recordOutcome(ledger, at(0), one, outcome);
  return one.payoutId;
}
const plant = (more: object = {}) =>
  sandbox.book.plant({
    reference: 'R-1',
    account_number: '0123456789',
    bank_code: '000013',
    amount: '1500.00',
    ...more,
  });
const ask = () => lookUpsOf(ledger, clock, client).askDue({ budget: 9 });

it('P14: the details look-up that a webhook asked for makes the payout final', async () => {
  const id = await sent(replies.accepted(String(plant({}).id)));
  await deliver(ledger, { trx: null });
  await applyWebhooks({ ledger, clock });
  expect((await payoutById(ledger, id)).state).toBe('pending');
  expect(await ask()).toBe(1);
  expect(await payoutById(ledger, id)).toMatchObject({
    state: 'success',
    evidence: 'response+webhook+details',
  });
  const questions = await ledger.db.selectFrom('inquiries').select(['outcome', 'raw']).execute();
  expect(questions, 'kept as the answer that settled it').toMatchObject([{ outcome: 'found' }]);
  expect(questions[0]?.raw).toContain('R-1');
  expect(await ask(), 'nothing is left to ask').toBe(0);
});

it('P15: details of another amount settle nothing', async () => {
  const id = await sent(replies.unknown());
  plant({ amount: '1501.00' });
  clock.set(60_000);
  expect(await ask()).toBe(1);
  expect((await payoutById(ledger, id)).state).toBe('unknown');
  const [row] = await ledger.db.selectFrom('inquiries').selectAll().orderBy('id').execute();
  expect(row && answerText(row)).toMatch(/^conflict: amount/);
});

it('P16, P19: not found keeps an unknown unknown, asked again at 1, 5, 15, 60 minutes and then hourly', async () => {
  const id = await sent(replies.unknown());
  const askedAtMinute: number[] = [];
  for (let minute = 0; minute <= 185; minute += 1) {
    clock.set(minute * 60_000);
    if ((await ask()) > 0) askedAtMinute.push(minute);
  }
  expect(askedAtMinute).toEqual([1, 5, 15, 60, 120, 180]);
  expect((await payoutById(ledger, id)).state).toBe('unknown');
  const rows = await ledger.db
    .selectFrom('inquiries')
    .select('outcome')
    .where('asked_at', 'is not', null)
    .execute();
  expect(new Set(rows.map((row) => row.outcome))).toEqual(new Set(['not_found']));
});

it('P19: a look-up without an answer is no word on the payout, and is asked again', async () => {
  const id = await sent(replies.unknown());
  await sandbox.stop();
  clock.set(60_000);
  await ask();
  expect((await payoutById(ledger, id)).state).toBe('unknown');
  const rows = await ledger.db.selectFrom('inquiries').select(['outcome', 'due_at']).orderBy('id').execute();
  expect(rows).toEqual([
    { outcome: 'error', due_at: at(60_000) },
    { outcome: null, due_at: at(300_000) },
  ]);
});

it('P14: a question that a webhook raised about a final payout is asked again until the answer says something', async () => {
  const id = await sent(replies.refused());
  await deliver(ledger);
  await applyWebhooks({ ledger, clock });
  expect((await payoutById(ledger, id)).state).toBe('refused');
  const json = { success: false, status: '99', message: 'try later' };
  const date = Date.parse(at(0));
  const vague = lookUpsOf(ledger, clock, {
    fetchTransferDetails: async () => ({ kind: 'reply', httpStatus: 200, json, raw: '{}', date }),
  });
  expect(await vague.askDue({ budget: 9 })).toBe(1);
  const open = await ledger.db
    .selectFrom('inquiries')
    .select('reason')
    .where('outcome', 'is', null)
    .execute();
  expect(open).toHaveLength(1);
});

it('P19: what was to be asked under a clock that ran ahead is asked once the clock is right again', async () => {
  const year = 365 * 86_400_000;
  await addBatch(ledger, ['R-1']);
  const [one] = await claimAt(ledger, at(year));
  if (!one) throw new Error('nothing was claimed');
  await recordOutcome(ledger, at(year), one, replies.unknown());
  expect(await ask()).toBe(1);
});

it('P4: a look-up begun before the latest attempt ended is no answer about it', async () => {
  const id = await sent(replies.turnedAway());
  const asked = Promise.withResolvers<void>();
  const answered = Promise.withResolvers<void>();
  const slow: ServiceClient = {
    ...client,
    fetchTransferDetails: async (reference) => {
      const reply = await client.fetchTransferDetails(reference);
      asked.resolve();
      await answered.promise;
      return reply;
    },
  };
  const late = lookUpsOf(ledger, clock, slow).askNow([id]);
  await asked.promise;
  // Meanwhile another process sends it, and is turned away again.
  clock.set(1000);
  const [second] = await claimAt(ledger, at(1000));
  if (!second) throw new Error('nothing was claimed');
  await recordOutcome(ledger, at(2000), second, replies.turnedAway());
  clock.set(3000);
  answered.resolve();
  expect((await late).get(id)).toMatchObject({ word: 'no_answer' });
});

it('P14: details that contradict a final state are written down as a conflict and change nothing', async () => {
  const transfer = plant({});
  const id = await sent(replies.accepted(String(transfer.id)));
  await lookUpsOf(ledger, clock, client).lookUp([id]);
  sandbox.book.change(transfer.id, { status: 'failed' });
  await lookUpsOf(ledger, clock, client).lookUp([id]);
  expect((await payoutById(ledger, id)).state).toBe('success');
  const rows = await ledger.db.selectFrom('inquiries').selectAll().orderBy('id').execute();
  expect(rows.map(answerText).at(-1)).toMatch(/^conflict: details says failed/);
});

it('P20: a word from before the clock was set back is not the fresh answer of a look-up that got none', async () => {
  const year = 365 * 86_400_000;
  const { id: booked } = plant({ status: 'failed' });
  const id = await sent(replies.accepted(String(booked)));
  clock.set(year);
  await lookUpsOf(ledger, clock, client).lookUp([id]);
  expect((await payoutById(ledger, id)).state).toBe('failed');
  clock.set(60_000);
  const before = await weigh(ledger.db, { ids: [id], since: at(60_000) });
  expect(before.cases[0]?.judgement, 'nobody has asked since').toMatchObject({ kind: 'no' });
  await sandbox.stop();
  expect([...(await lookUpsOf(ledger, clock, client).lookUp([id])).values()]).toEqual(['no_answer']);
  const { cases } = await weigh(ledger.db, { ids: [id], since: at(60_000) });
  expect(cases[0]?.judgement).toMatchObject({ kind: 'no', why: expect.stringContaining('nothing confirms') });
});

it('P18: a look-up that a webhook about a finished payout asked for is asked again when it got no answer', async () => {
  const transfer = plant({});
  const id = await sent(replies.accepted(String(transfer.id)));
  await lookUpsOf(ledger, clock, client).lookUp([id]);
  sandbox.book.change(transfer.id, { status: 'failed' });
  await deliver(ledger, { statusMessage: 'failed' });
  await applyWebhooks({ ledger, clock });
  const silent: ServiceClient = {
    ...client,
    fetchTransferDetails: async () => ({
      kind: 'trouble',
      reason: 'timeout',
      message: 'no answer',
      httpStatus: null,
      retryAfterMs: null,
    }),
  };
  expect(await lookUpsOf(ledger, clock, silent).askDue({ budget: 9 })).toBe(1);
  expect(await ask(), 'not at once').toBe(0);
  clock.set(5 * 60_000);
  expect(await ask()).toBe(1);
  const rows = await ledger.db.selectFrom('inquiries').select('outcome').orderBy('id').execute();
  expect(rows.map((row) => row.outcome)).toEqual(['found', 'error', 'against_ledger']);
  clock.set(10 * 60_000);
  expect(await ask(), 'once answered it is over').toBe(0);
});
