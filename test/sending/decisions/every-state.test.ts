import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { countOpen, listOpen } from '../../../src/books/discrepancies/discrepancies.sql.ts';
import { decide } from '../../../src/books/discrepancies/discrepancy-decisions.sql.ts';
import { payoutStates } from '../../../src/core/domain/payout.ts';
import { isClosedByPerson, isFinalByEvidence } from '../../../src/core/domain/transition.ts';
import { refusals } from '../../../src/faces/terminal/decisions/decided.ts';
import { remedyText } from '../../../src/faces/terminal/kit/remedy-text.ts';
import { findAttention } from '../../../src/sending/attention.sql.ts';
import { abandonClaims } from '../../../src/sending/claims.sql.ts';
import { holdBatch, releaseBatch } from '../../../src/sending/holds.sql.ts';
import type { Remedy } from '../../../src/watching/evidence/remedy.ts';
import type { WeighedCase } from '../../../src/watching/evidence/weigh.ts';
import { reasonText } from '../../../src/words/advice-text.ts';
import { messageText } from '../../../src/words/plain-words.ts';
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
import { shareOf } from '../../support/repeats.ts';
import { createTold, hour, shown } from './told.ts';

let ledger: TestLedger;
beforeEach(async () => {
  ledger = await makeLedger();
});
afterEach(() => ledger.remove());

const told = createTold(() => ledger);
const batch = (ms: number) => ({ batch: 'b-1', at: at(ms) });

async function weighed(id: bigint, ms: number): Promise<{ one: WeighedCase; digest: string }> {
  const { cases, digest } = await told.decisionsAt(ms).weigh([id], at(ms - 10));
  const [one] = cases;
  if (!one) throw new Error('the payout is there');
  return { one, digest };
}

async function settle(id: bigint, ms: number, as: 'success' | 'failed') {
  const { digest } = await weighed(id, ms);
  const order = { ids: [id], since: at(ms - 10), digest, person: 'ada', as, note: 'their letter' };
  return told.decisionsAt(ms).settle(order);
}

async function claimedOnly(): Promise<bigint> {
  const [id = 0n] = await addBatch(ledger, ['F']);
  await claimAt(ledger, at(0));
  return id;
}

async function sentThenLooked(status: string): Promise<bigint> {
  const id = await told.sent(replies.accepted('T-1'));
  await told.looked(id, 1000, shown(status));
  return id;
}

async function settled(as: 'success' | 'failed'): Promise<bigint> {
  const id = await told.sent(replies.unknown());
  await settle(id, 1000, as);
  return id;
}

async function waitingRetry(): Promise<bigint> {
  const id = await told.sent(replies.unknown());
  await told.orderAgain(id, 1000);
  return id;
}

/** Ways by which a payout comes to stand in each state; all are over before an hour has passed. */
const ways: Record<string, () => Promise<bigint>> = {
  'held, never sent': async () => (await addBatch(ledger, ['F'], { state: 'held' }))[0] ?? 0n,
  'held, a retry that waits': async () => {
    const id = await waitingRetry();
    await holdBatch(ledger, { ...batch(2000), reason: { kind: 'person' } });
    return id;
  },
  'ready, never sent': async () => (await addBatch(ledger, ['F']))[0] ?? 0n,
  'ready, a retry that waits': waitingRetry,
  sending: claimedOnly,
  'sending, its worker dead': async () => {
    const id = await claimedOnly();
    await ledger.write((trx) => abandonClaims(trx, 'w-1', at(1000)));
    return id;
  },
  pending: () => told.sent(replies.accepted('T-1')),
  success: () => sentThenLooked('success'),
  'success by a person': () => settled('success'),
  failed: () => sentThenLooked('failed'),
  'failed by a person': () => settled('failed'),
  refused: () => told.sent(replies.refused()),
  unknown: () => told.sent(replies.unknown()),
  cancelled: async () => {
    const [id = 0n] = await addBatch(ledger, ['F']);
    await told.decisionsAt(1000).cancel({ batch: 'b-1', person: 'ada' });
    return id;
  },
  returned: async () => {
    const id = await sentThenLooked('success');
    await told.looked(id, 2000, shown('returned'));
    return id;
  },
};

const listed = (status: string, other: object = {}) => [
  listedTransfer('F', { id: 'T-1', status, created_at: at(50), updated_at: at(hour), ...other }),
];
const night = (ms: number, rows: ReturnType<typeof listed>) =>
  nightOf(ledger, { at: ms, rows, full: true, receives: true });

/** What may be learnt of it then. */
const evidence: Record<string, (id: bigint, ms: number) => Promise<unknown>> = {
  nothing: async () => {},
  'details pending': (id, ms) => told.looked(id, ms, shown('pending')),
  'details success': (id, ms) => told.looked(id, ms, shown('success')),
  'details failed': (id, ms) => told.looked(id, ms, shown('failed')),
  'details returned': (id, ms) => told.looked(id, ms, shown('returned')),
  'details of another amount': (id, ms) => told.looked(id, ms, shown('success', { amount: '15.00' })),
  'details of an earlier time': (id, ms) => told.looked(id, ms, shown('failed', { created_at: at(-hour) })),
  'details that do not find it': (id, ms) => told.lookedInVain(id, ms),
  'no answer': (id, ms) => told.unanswered(id, ms),
  'a list that shows it paid': (_, ms) => night(ms, listed('success')),
  'a list that shows it pending': (_, ms) => night(ms, listed('pending')),
  'a list that shows it failed': (_, ms) => night(ms, listed('failed')),
  'a list that shows another amount': (_, ms) => night(ms, listed('success', { amount: '15.00' })),
  'a list that shows it twice': (_, ms) =>
    night(ms, [...listed('success'), ...listed('success', { id: 'T-2' })]),
  'a list that lacks it': (_, ms) => night(ms, []),
  'a webhook: success': (_, ms) => told.heard(ms, 'success'),
  'a webhook: failed': (_, ms) => told.heard(ms, 'failed'),
  'a webhook of another amount': (_, ms) => told.heard(ms, 'success', { amount: '15.00' }),
  'a person: paid': (id, ms) => settle(id, ms, 'success'),
  'a person: not paid': (id, ms) => settle(id, ms, 'failed'),
};

const commandOf: Record<Remedy, string> = {
  wait: 'counterfoil show F',
  release: 'counterfoil release b-1',
  submit: 'counterfoil submit',
  retry: 'counterfoil retry F',
  cancel: 'counterfoil cancel F',
  settle: 'counterfoil settle F --as paid|not-paid --note',
  resolve: 'counterfoil discrepancies resolve D-',
};

/** A run that gets no list and no answers: it reports what the ledger knows already. Returns what keeps it at exit 4. */
async function silentNight(ms: number): Promise<string[]> {
  const night = { listing: { complete: false }, details: 'no_answer', receives: true } as const;
  const { summary } = await nightOf(ledger, { at: ms, ...night });
  return Object.keys(summary.discrepancies.open);
}

/** Whether something about it keeps an exit code at 4, or its end open. */
async function waits(id: bigint): Promise<string[]> {
  const { state } = await payoutById(ledger, id);
  const { unknown, withheld } = await findAttention(ledger.db);
  const open = Object.keys(await countOpen(ledger.db));
  const isOpen = ['held', 'ready', 'sending', 'pending', 'unknown'].includes(state);
  return [...(isOpen ? [state] : []), ...(unknown.count + withheld.count > 0 ? ['attention'] : []), ...open];
}

/** Does what a remedy says, through the code of its command; what came of it. */
const doIt: Record<Remedy, (id: bigint, ms: number) => Promise<unknown>> = {
  wait: async (id, ms) => {
    const open = ledger.db.selectFrom('attempts').select('id').where('outcome', 'is', null);
    const { id: attemptId } = await open.executeTakeFirstOrThrow();
    await recordOutcome(ledger, at(ms), { payoutId: id, attemptId }, replies.refused());
    expect((await payoutById(ledger, id)).state).not.toBe('sending');
  },
  release: async (id, ms) => {
    const { moved, first, firstDoubted } = await releaseBatch(ledger, batch(ms));
    const why = [...first, ...firstDoubted].map(reasonText).join('; ');
    if (moved === 0) expect(why, 'kept, and with a way out').toMatch(/counterfoil (settle|retry|cancel)/);
    else expect((await payoutById(ledger, id)).state).toBe('ready');
  },
  submit: async (id, ms) => {
    const [claimed] = await claimAt(ledger, at(ms));
    if (claimed) return;
    const { one } = await weighed(id, ms);
    const said = one.payout.state === 'held' ? messageText(one.payout) : remedyText(one);
    expect(said, 'kept, and with a way out').toMatch(/counterfoil (settle|retry|cancel)/);
  },
  retry: async (id, ms) => {
    const { digest } = await weighed(id, ms);
    const order = { ids: [id], since: at(ms - 10), digest, person: 'ada' };
    expect(await told.decisionsAt(ms).retry(order)).toMatchObject({ decided: [expect.anything()] });
  },
  cancel: async (_, ms) => {
    expect(await told.decisionsAt(ms).cancel({ batch: 'b-1', person: 'ada' })).toMatchObject({
      cancelled: 1,
    });
  },
  settle: async (id, ms) => {
    expect(await settle(id, ms, 'failed')).toMatchObject({ decided: [{ state: 'failed' }] });
    expect(isClosedByPerson(await payoutById(ledger, id))).toBe(true);
    expect(await waits(id), 'at once').toEqual([]);
    expect(await silentNight(ms + 48 * hour), 'in later runs').toEqual([]);
    await releaseBatch(ledger, batch(ms + 49 * hour));
    expect(await told.claimed(ms + 50 * hour), 'never sent').toEqual([]);
    expect((await weighed(id, ms + 51 * hour)).one.judgement.kind, 'no licence to pay again').toBe('no');
  },
  resolve: async (_, ms) => {
    const ids = (await listOpen(ledger.db, {})).map((one) => one.id);
    const word = { verdict: 'resolve' as const, note: 'known', person: 'ada', at: at(ms) };
    await ledger.write((trx) => decide(trx, { ids }, word));
    expect(await countOpen(ledger.db)).toEqual({});
  },
};

it('the table has every state', () => {
  const named = new Set(Object.keys(ways).map((name) => name.split(/,| by /)[0]));
  expect(named).toEqual(new Set<string>(payoutStates));
});

describe.each(Object.keys(ways))('P32: %s', (way) => {
  // Of all ways together every evidence has its turn.
  const turn = Object.keys(ways).indexOf(way);
  it.each(shareOf(Object.keys(evidence), 5, turn))(
    'with %s has a command that ends it, which every refusal names',
    async (kind) => {
      const id = (await ways[way]?.()) ?? 0n;
      await evidence[kind]?.(id, 2 * hour);
      await silentNight(30 * hour);
      const open = await waits(id);
      const { one } = await weighed(id, 31 * hour);
      const { payout, remedies } = one;
      const text = remedyText(one);
      for (const remedy of remedies) expect(text).toContain(commandOf[remedy]);
      for (const { why } of refusals({ cases: [one], digest: '' })) expect(why).toContain(text);
      if (open.length > 0) expect(remedies, `waits: ${open.join(', ')}`).not.toEqual([]);
      const isSending = one.attempts.some(({ outcome }) => outcome === null);
      if (!isSending && !isFinalByEvidence(payout)) expect(remedies).toContain('settle');
      expect(remedies.includes('wait')).toBe(isSending);
      const [last] = remedies.toReversed();
      if (last) await doIt[last](id, 32 * hour);
    },
  );

  const some = ['nothing', 'details success', 'details failed', 'no answer', 'a webhook of another amount'];
  it.each(shareOf(some, 5, turn))(
    'with %s: the nearest command does what it says, before any run has seen it',
    async (kind) => {
      const id = (await ways[way]?.()) ?? 0n;
      await evidence[kind]?.(id, 2 * hour);
      const { one } = await weighed(id, 31 * hour);
      const [first] = one.remedies;
      if (first) await doIt[first](id, 32 * hour);
    },
  );

  it('is closed by a person before any run has seen what contradicts it', async () => {
    const id = (await ways[way]?.()) ?? 0n;
    await told.heard(hour, 'success', { amount: '15.00' });
    await told.looked(id, 2 * hour, shown('success', { amount: '15.00' }));
    const { one } = await weighed(id, 3 * hour);
    if (one.remedies.includes('settle')) await doIt.settle(id, 3 * hour);
    else expect(one.remedies).toEqual(['wait']);
  });
});
