import { createHash } from 'node:crypto';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { decide } from '../../../src/books/discrepancies/discrepancy-decisions.sql.ts';
import type { WitnessStatus } from '../../../src/core/domain/payout.ts';
import { barrierKeys, raiseBarrier } from '../../../src/core/ledger/barriers.ts';
import { columnsOf, onlySaid } from '../../../src/core/ledger/contradiction-columns.ts';
import { addInquiry, closeInquiry } from '../../../src/core/ledger/inquiries.ts';
import { newestWebhook } from '../../../src/core/ledger/known.ts';
import { record } from '../../../src/core/ledger/record.ts';
import { systemClock } from '../../../src/core/runtime/clock.ts';
import { adoptLedger } from '../../../src/custody/adopt.ts';
import { createDecisions } from '../../../src/sending/decisions/decisions.ts';
import { holdBatch, releaseBatch } from '../../../src/sending/holds.sql.ts';
import { beginRun } from '../../../src/watching/listing/listings.sql.ts';
import { stage } from '../../../src/watching/listing/staging.sql.ts';
import { applyWebhooks } from '../../../src/watching/webhooks/apply-inbox.ts';
import { storeDeliveries } from '../../../src/watching/webhooks/webhook-inbox.sql.ts';
import { rowFaultText } from '../../../src/words/row-fault-words.ts';
import { listedTransfer, nightOf } from '../../books/discrepancies/setting.ts';
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

const hour = 3_600_000;
let ledger: TestLedger;

beforeEach(async () => {
  ledger = await makeLedger();
});
afterEach(() => ledger.remove());

const clockAt = (ms: number) => ({ ...systemClock(), now: () => Date.parse(at(ms)), iso: () => at(ms) });

function decisionsAt(ms: number) {
  const rules = { referencePrefix: '', payoutLimit: {} };
  return createDecisions({ ledger, clock: clockAt(ms), rules, say: rowFaultText });
}

const listed = (status: string, updatedMs = 50) =>
  listedTransfer('F', { status, created_at: at(50), updated_at: at(updatedMs) });

/** A payout that the service took and two whole lists show as failed; the second began an hour after the first. */
async function failedTwice(): Promise<{ id: bigint; run: string }> {
  const [id = 0n] = await addBatch(ledger, ['F']);
  const [claimed] = await claimAt(ledger, at(0));
  if (claimed) await recordOutcome(ledger, at(100), claimed, replies.accepted('T-F'));
  const night = { rows: [listed('failed')], full: true, listing: { order: 'newest_first' as const } };
  await nightOf(ledger, { at: hour, ...night });
  const { summary } = await nightOf(ledger, { at: 2 * hour, ...night });
  expect((await payoutById(ledger, id)).state).toBe('failed');
  return { id, run: summary.run };
}

/** What `retry` would say at this time, the look-up of it being begun a minute before. */
async function judged(id: bigint, ms: number) {
  return (await decisionsAt(ms).weigh([id], at(ms - 60_000))).cases[0]?.judgement;
}

async function offered(id: bigint, ms: number): Promise<string[]> {
  return (await decisionsAt(ms).rows.offer(ledger.db, [id])).map(({ reference }) => reference);
}

const detailsSayFailed = {
  kind: 'witness' as const,
  witness: {
    source: 'details' as const,
    status: 'failed' as const,
    transferId: 'T-F',
    trx: null,
    fee: null,
    message: null,
    settledAt: null,
  },
};

const paid = { kind: 'against_ledger', source: 'details', said: 'success', state: 'failed' } as const;

/** A details look-up of it that came to this; found: as failed; against the ledger: as paid. */
async function looked(id: bigint, ms: number, outcome: 'found' | 'error' | 'against_ledger'): Promise<void> {
  await ledger.write(async (trx) => {
    await addInquiry(trx, { payoutId: id, reason: 'asked', dueAt: at(ms), rung: 0n });
    const open = trx.selectFrom('inquiries').select('id').where('outcome', 'is', null);
    const row = await open.where('payout_id', '=', id).executeTakeFirstOrThrow();
    if (outcome === 'found')
      await record(trx, at(ms + 1), [{ payoutId: id, source: 'details', event: detailsSayFailed }]);
    const word =
      outcome === 'against_ledger' ? columnsOf(paid) : onlySaid(outcome === 'found' ? 'failed' : null);
    const times = { askedAt: at(ms), answeredAt: at(ms + 1), webhookMark: await newestWebhook(trx) };
    await closeInquiry(trx, row.id, { ...times, outcome, word, raw: null });
  });
}

/** An authentic webhook about F, received and applied. */
async function heard(ms: number, status: WitnessStatus): Promise<void> {
  const money = { amount: '1500.00', currency: 'NGN', account_number: '0123456789', bank_code: '000013' };
  const told = { event: 'payout', reference: 'F', trx: 'X', statusMessage: status, ...money, domain: 'test' };
  const body = Buffer.from(JSON.stringify({ ...told, timestamp: at(ms) }));
  const digest = createHash('sha256').update(body).digest('hex');
  const rest = {
    kind: 'payout',
    reference: 'F',
    trx: 'X',
    headers: '{}',
    stale: false,
  } as const;
  await ledger.write((trx) => storeDeliveries(trx, [{ digest, receivedAt: at(ms), body, ...rest }]));
  await applyWebhooks({ ledger, clock: clockAt(ms) });
}

it('P20: what a short cut shows as paid is not paid again on an older whole list, nor once the conflict is resolved', async () => {
  const { id, run } = await failedTwice();
  expect(await offered(id, 2.5 * hour)).toEqual(['F-R2']);
  const before = (await decisionsAt(2.5 * hour).weigh([id], at(0))).digest;
  const window = { edge: at(-86_400_000), base: run };
  const rows = [listed('success', 3 * hour)];
  const listing = { complete: 'window' as const, window };
  await nightOf(ledger, { at: 3 * hour, rows, details: 'no_answer', listing });
  expect(await offered(id, 4 * hour)).toEqual([]);
  expect(await judged(id, 4 * hour)).toMatchObject({ kind: 'no', why: expect.stringMatching(/success/) });
  expect((await decisionsAt(4 * hour).weigh([id], at(0))).digest).not.toBe(before);
  await ledger.db.updateTable('discrepancies').set({ state: 'resolved' }).execute();
  expect(await judged(id, 4 * hour), 'the list still shows it').toMatchObject({ kind: 'no' });
});

it.each(['success', 'pending', 'returned'])(
  'P20: what a run that died had listed as %s is not paid again, though nothing was concluded from it',
  async (status) => {
    const { id } = await failedTwice();
    const run = await ledger.write((trx) => beginRun(trx, at(3 * hour)));
    await ledger.write((trx) => stage(trx, run, 1, [listed(status)]));
    expect(await offered(id, 4 * hour)).toEqual([]);
  },
);

it('P20: a short cut that shows it as failed once more changes neither the decision nor the digest of its evidence', async () => {
  const { id, run } = await failedTwice();
  const before = await decisionsAt(3 * hour).rows.offer(ledger.db, [id]);
  const window = { edge: at(-86_400_000), base: run };
  await nightOf(ledger, { at: 3 * hour, rows: [listed('failed')], listing: { complete: 'window', window } });
  expect(await decisionsAt(4 * hour).rows.offer(ledger.db, [id])).toEqual(before);
});

it('P20: nothing is paid again while a status_conflict of it is open, whatever else is known', async () => {
  const { id } = await failedTwice();
  await nightOf(ledger, { at: 3 * hour, rows: [listed('success')], full: true, details: 'no_answer' });
  await ledger.db.deleteFrom('listed').execute();
  expect(await judged(id, 4 * hour)).toMatchObject({
    kind: 'no',
    why: expect.stringMatching(
      /^discrepancy D-\w+ is open: the ledger says failed, the service said success/,
    ),
  });
});

it('P20: details that contradicted it stay said while later look-ups get no answer', async () => {
  const { id } = await failedTwice();
  await looked(id, 2.1 * hour, 'against_ledger');
  await looked(id, 2.2 * hour, 'error');
  expect(await offered(id, 2.5 * hour)).toEqual([]);
  expect(await judged(id, 2.5 * hour)).toMatchObject({
    why: expect.stringContaining('details says success'),
  });
});

it('P20: a webhook that says it was paid keeps a file from paying it again until the service was asked', async () => {
  const { id } = await failedTwice();
  await heard(2.1 * hour, 'success');
  expect(await offered(id, 2.2 * hour)).toEqual([]);
  await looked(id, 2.3 * hour, 'error');
  expect(await offered(id, 2.4 * hour), 'no answer is none').toEqual([]);
  expect(await judged(id, 2.4 * hour)).toMatchObject({ why: expect.stringContaining('a webhook received') });
  await nightOf(ledger, { at: 2.5 * hour, rows: [listed('failed')], full: true });
  expect(await offered(id, 2.6 * hour), 'the webhook is an open conflict').toEqual([]);
  await resolveAll();
  expect(await offered(id, 2.6 * hour), 'a whole list read since says that it failed').toEqual(['F-R2']);
});

/** A person has dealt with all that is open. */
async function resolveAll(): Promise<void> {
  const word = { verdict: 'resolve' as const, note: 'asked the service', person: 'ada', at: at(2.5 * hour) };
  await ledger.write((trx) => decide(trx, {}, word));
}

it.each([
  ['a look-up', (id: bigint) => looked(id, 2.3 * hour, 'found')],
  ['a whole list', () => nightOf(ledger, { at: 2.3 * hour, rows: [listed('failed')], full: true })],
])(
  'P33: a webhook that came while our clock was a year ahead is settled by %s after it was set right',
  async (_, settledBy) => {
    const { id } = await failedTwice();
    await heard(8_760 * hour, 'success');
    await looked(id, 2.1 * hour, 'error');
    expect(await offered(id, 2.2 * hour)).toEqual([]);
    await settledBy(id);
    await resolveAll();
    expect(await offered(id, 2.4 * hour)).toEqual(['F-R2']);
  },
);

it('P20: a file does not pay again what a look-up is due for', async () => {
  const { id } = await failedTwice();
  const question = { payoutId: id, kind: 'details' as const, reason: 'webhook_stale' as const };
  await ledger.write((trx) => addInquiry(trx, { ...question, dueAt: at(2.1 * hour), rung: 0n }));
  expect(await offered(id, 2.2 * hour)).toEqual([]);
});

/** Pays F again as F-R2, which waits because its batch is held. */
async function waiting(id: bigint): Promise<void> {
  const decisions = decisionsAt(2.5 * hour);
  const { digest } = await decisions.weigh([id], at(2.4 * hour));
  expect(await decisions.retry({ ids: [id], since: at(2.4 * hour), digest, person: 'x' })).toMatchObject({
    decided: [{ reference: 'F-R2' }],
  });
  const hold = {
    batch: 'b-1',
    reason: { kind: 'person' as const },
    at: at(2.5 * hour),
  };
  await holdBatch(ledger, hold);
}

async function sentOnRelease(ms: number): Promise<string[]> {
  await releaseBatch(ledger, { batch: 'b-1', at: at(ms) });
  return (await claimAt(ledger, at(ms + 1), 5)).map(({ reference }) => reference);
}

/** A failed payout whose successor went out, and a night in which list and details show it as paid all the same. */
async function paidTwice() {
  const { id } = await failedTwice();
  await looked(id, 2.5 * hour, 'found');
  const { digest } = await decisionsAt(2.5 * hour).weigh([id], at(2.4 * hour));
  await decisionsAt(2.5 * hour).retry({ ids: [id], since: at(2.4 * hour), digest, person: 'ada' });
  const [claimed] = await claimAt(ledger, at(2.6 * hour));
  if (claimed) await recordOutcome(ledger, at(2.6 * hour), claimed, replies.accepted('T-F-R2'));
  const rows = [
    listed('success', 3 * hour),
    listedTransfer('F-R2', { created_at: at(2.6 * hour), updated_at: at(2.6 * hour) }),
  ];
  return { rows, full: true, details: 'success' as const };
}

it('P20: a failed payout that the list shows as paid after its successor was sent is reported as paid twice', async () => {
  const night = await paidTwice();
  const { rows } = night;
  const { kinds, open } = await nightOf(ledger, { at: 4 * hour, ...night });
  expect(kinds).toEqual(['paid_twice F', 'status_conflict F']);
  expect(open.find(({ kind }) => kind === 'paid_twice')?.evidence).toMatch(
    /^the service shows it as paid, the ledger as failed by response.*after a successor was made of it/,
  );
  const again = await nightOf(ledger, { at: 5 * hour, ...night, rows: [listed('failed'), ...rows.slice(1)] });
  expect(again.kinds.filter((kind) => kind.startsWith('status_conflict'))).toEqual([]);
  expect(
    (await nightOf(ledger, { at: 6 * hour, ...night, rows: [listed('failed'), ...rows.slice(1)] })).kinds,
  ).toEqual([]);
});

it('P20: a second payment stays reported while the list shows it, though a person has resolved what the statuses contradict', async () => {
  const night = await paidTwice();
  await nightOf(ledger, { at: 4 * hour, ...night });
  const conflicts = ledger.db.updateTable('discrepancies').where('kind', '=', 'status_conflict');
  await conflicts.set({ state: 'resolved', resolved_by: 'person', note: 'it was paid' }).execute();
  for (const ms of [5 * hour, 6 * hour])
    expect((await nightOf(ledger, { at: ms, ...night })).kinds).toEqual(['paid_twice F']);
});

it('P20: a successor that waited is not sent when the list shows its predecessor as paid meanwhile, until a person has settled that', async () => {
  const { id } = await failedTwice();
  await waiting(id);
  await nightOf(ledger, { at: 25 * hour, rows: [listed('success')], details: 'success', full: true });
  expect(await sentOnRelease(26 * hour)).toEqual([]);
  const batch = { batch: 'b-1', at: at(26 * hour) };
  expect(await releaseBatch(ledger, batch)).toMatchObject({
    kept: 1,
    first: [
      {
        reference: 'F-R2',
        why: expect.stringMatching(/^F, which .* but an open status_conflict says otherwise/),
      },
    ],
  });
  await ledger.db.updateTable('discrepancies').set({ state: 'resolved' }).execute();
  expect(await sentOnRelease(27 * hour)).toEqual(['F-R2']);
});

it('P20: a successor that waited is not sent while the details or a webhook contradict its predecessor', async () => {
  const { id } = await failedTwice();
  await waiting(id);
  await looked(id, 3 * hour, 'against_ledger');
  expect(await sentOnRelease(4 * hour)).toEqual([]);
  await looked(id, 5 * hour, 'error');
  expect(await sentOnRelease(6 * hour), 'an answer that stayed away settles nothing').toEqual([]);
  await looked(id, 7 * hour, 'found');
  await heard(8 * hour, 'success');
  expect(await sentOnRelease(9 * hour)).toEqual([]);
  await looked(id, 10 * hour, 'found');
  expect(await sentOnRelease(11 * hour)).toEqual(['F-R2']);
});

it.each(['0123456789', '0999999999'])(
  'P25: what a lost copy of the ledger paid under a new reference to account %s is not sent again',
  async (account) => {
    const [id = 0n] = await addBatch(ledger, ['F']);
    const [claimed] = await claimAt(ledger, at(0));
    if (claimed) await recordOutcome(ledger, at(100), claimed, replies.refused());
    await ledger.write((trx) =>
      raiseBarrier(trx, barrierKeys.behind, { at: at(1000), why: 'restored', advice: null }),
    );
    await adoptLedger(ledger, () => at(2000));
    expect(await judged(id, 3000), 'nobody has looked yet').toMatchObject({
      kind: 'no',
      advice: { kind: 'list_or_settle' },
    });
    const paid = listedTransfer('F-R2', { account_number: account, created_at: at(500) });
    await nightOf(ledger, { at: hour, full: true, rows: [paid] });
    expect(await judged(id, 3 * hour)).toMatchObject({ kind: 'no', why: expect.stringContaining('F-R2') });
  },
);
