import Database from 'better-sqlite3';
import { afterEach, beforeEach, expect, it } from 'vitest';
import type { HistoryEvent } from '../../src/core/domain/history-event.ts';
import { chainEntry } from '../../src/core/ledger/history.ts';
import { record } from '../../src/core/ledger/record.ts';
import { certify } from '../../src/custody/certificate.ts';
import { verifyLedger } from '../../src/custody/verify-ledger.ts';
import { wordedChecks } from '../../src/words/verify-words.ts';
import { tamper } from '../support/intruder.ts';
import {
  addBatch,
  at,
  claimAt,
  makeLedger,
  payoutById,
  recordOutcome,
  replies,
  type TestLedger,
} from '../support/ledger.ts';
import { onPostgres } from '../support/on-postgres/standing.ts';
import { problemTexts } from './worded.ts';

let ledger: TestLedger;
let ids: bigint[];
beforeEach(async () => {
  ledger = await makeLedger();
  ids = await addBatch(ledger, ['R-1', 'R-2', 'R-3']);
  const claims = await claimAt(ledger, at(1), 2);
  const [first, second] = claims;
  if (first) await recordOutcome(ledger, at(2), first, replies.accepted());
  if (second) await recordOutcome(ledger, at(2), second, replies.unknown());
});
afterEach(() => ledger.remove());

/** Every problem found, as `check: problem`. */
async function problemsOf(): Promise<string[]> {
  const verdict = await verifyLedger(ledger.path);
  const found = problemTexts(verdict);
  expect(verdict.ok).toBe(found.length === 0);
  return found;
}

it('P27: proves an untouched ledger, and gives each batch its digest and certificate', async () => {
  const verdict = await verifyLedger(ledger.path);
  expect(verdict.checks.filter((check) => !check.ok)).toEqual([]);
  expect(verdict).toMatchObject({
    ok: true,
    batches: [
      {
        batch: 'b-1',
        payouts: 3,
        digest: expect.stringMatching(/^[0-9a-f]{64}$/),
        certificate: { at_most_once: true, sends: 2, decisions: 0 },
      },
    ],
  });
});

it.each([
  [
    'a changed state',
    `update payouts set state = 'success' where id = 1`,
    /projection: R-1: state is "success"/,
  ],
  ['a changed amount', `update payouts set amount = 99 where id = 3`, /orders: R-3: amount is 99 minor/],
  [
    'a changed account',
    `update payouts set account_number = '9999999999' where id = 3`,
    /orders: R-3: account_number/,
  ],
  ['a changed fee', `update payouts set fee = '9.00' where id = 1`, /projection: R-1: fee is "9.00"/],
  [
    'changed evidence',
    `update payouts set evidence = 'details' where id = 1`,
    /projection: R-1: evidence is "details"/,
  ],
  [
    'a lowered attempt count',
    `update payouts set attempt_count = 0 where id = 1`,
    /projection: R-1: attempt_count is 0/,
  ],
  [
    'a deleted history row',
    `delete from history where payout_id = 1 and seq = 2`,
    /history: R-1: history entry 2 is missing/,
  ],
  [
    'a history cut at its end',
    `delete from history where payout_id = 1 and seq = 3`,
    /history: R-1: history_seq is 3, its history has 2/,
  ],
  [
    'an edited detail',
    `update history set detail = '{}' where payout_id = 1 and seq = 3`,
    /history: R-1: history entry 3 \(accepted\) was changed/,
  ],
  [
    'an emptied time of sending',
    `update payouts set submitted_at = null where id = 1`,
    /attempts: R-1: submitted_at is empty, although an attempt may have left/,
  ],
  [
    'an extra attempt',
    `insert into attempts (payout_id, number, worker_id, began_at, day_id)
      values (3, 1, 'w-9', '${at(3)}', (select max(id) from limit_days))`,
    /attempts: R-3: attempt 1 has no intent/,
  ],
  [
    'an attempt taken away',
    `delete from attempts where payout_id = 1`,
    /attempts: R-1: 1 intents in its history, but 0 attempts/,
  ],
  [
    'an attempt whose outcome was turned round',
    `update attempts set outcome = 'refused' where payout_id = 2`,
    /attempts: R-2: attempt 1 has outcome refused/,
  ],
  [
    'a swapped head',
    `update payouts set history_head = (select history_head from payouts where id = 2) where id = 1`,
    /history: R-1: history_head/,
  ],
  [
    'a payout taken away whole',
    `delete from history where payout_id = 3; delete from payouts where id = 3`,
    /balances: b-1: it was taken in with 3 payouts and has 2/,
  ],
  [
    'a kept count that was changed',
    `update payout_totals set n = n + 1 where state = 'unknown'`,
    /totals: b-1: the figures count 2 of NGN 1500.00 unknown; it has 1/,
  ],
  [
    'a kept amount that was changed',
    `update payout_totals set amount = amount - 1 where state = 'ready'`,
    /totals: b-1: the figures count 1 of NGN 1499.99 ready; it has 1 of NGN 1500.00/,
  ],
  [
    'a kept figure of a state that nothing is in',
    `insert into payout_totals values ('b-1', 'ZAR', 'held', 1, 5)`,
    /totals: b-1: the figures count 1 of ZAR 0.05 held; it has 0/,
  ],
  [
    'a kept count of attempts that was changed',
    `update attempt_totals set n = n + 1 where outcome = 'accepted'`,
    /totals: the figures count 2 attempts that ended as accepted; the ledger has 1/,
  ],
  ['a state its phase forbids', `update batches set phase = 'cancelled'`, /phases: R-3: state is "ready"/],
  [
    'a hold that no claim would see',
    `update batches set hold_reasons = '[{"kind":"person"}]'`,
    /phases: b-1: held is 0, although its reasons hold all of it/,
  ],
  [
    'a hold without a reason',
    `update batches set held = 1`,
    /phases: b-1: held is 1, although no reason holds all of it/,
  ],
  [
    'hold reasons that nobody can read',
    `update batches set hold_reasons = 'person'`,
    /phases: b-1: hold_reasons cannot be read/,
  ],
  [
    'a changed body',
    `update batches set body_digest = 'x'; update payouts set body = replace(body, '1500.00', '1.00')`,
    /balances: b-1: body_digest/,
  ],
  [
    'a row of nobody',
    `update attempts set payout_id = 77 where payout_id = 1`,
    /foreign_keys: (attempts row 1|1 rows of attempts)/,
  ],
])('P27: finds %s, and names payout and field', async (_, statement, said) => {
  await tamper(ledger, statement);
  expect((await problemsOf()).join('\n')).toMatch(said);
});

it.skipIf(onPostgres)('P27: finds that anything of what was written may be edited again', async () => {
  const raw = new Database(ledger.path);
  const found = raw.prepare(`select name from sqlite_master where type = 'trigger'`).pluck().all();
  const triggers = found.map(String);
  expect(triggers).toEqual(
    expect.arrayContaining(['approvals_no_delete', 'history_no_delete', 'payouts_body_frozen']),
  );
  for (const name of triggers) raw.exec(`drop trigger ${name}`);
  raw.close();
  const gone = (await problemsOf()).map((problem) => /^integrity: the trigger (\w+)/.exec(problem)?.[1]);
  expect(new Set(gone)).toEqual(new Set(triggers));
});

it('P1: an intent without a decision, chained as a program would, fails the certificate', async () => {
  const id = ids[1] ?? 0n;
  const payout = await payoutById(ledger, id);
  const attemptId = 99;
  const entry = chainEntry(payout.history_head, {
    payoutId: id,
    seq: payout.history_seq + 1n,
    at: at(9),
    event: 'intent',
    source: 'w-1',
    from: 'unknown',
    to: 'sending',
    detail: { attempt_count: 2, last_attempt_id: attemptId },
  });
  const value = (v: string | bigint | null): string => (typeof v === 'string' ? `'${v}'` : String(v));
  const cells = Object.values(entry).map((cell) => value(cell ?? null));
  await tamper(
    ledger,
    `insert into attempts (id, payout_id, number, worker_id, began_at, day_id)
      values (99, ${id}, 2, 'w-1', '${at(9)}', (select max(id) from limit_days))`,
    `insert into history (${Object.keys(entry).join(', ')}) values (${cells.join(', ')})`,
    `update payouts set state = 'sending', attempt_count = 2, last_attempt_id = 99,
      history_seq = history_seq + 1, history_head = '${entry.hash}' where id = ${id}`,
    `update payout_totals set n = n - 1, amount = amount - 150000 where state = 'unknown'`,
    `update payout_totals set n = n + 1, amount = amount + 150000 where state = 'sending'`,
  );
  const verdict = await verifyLedger(ledger.path);
  expect(wordedChecks(verdict.checks).filter((check) => !check.ok)).toMatchObject([
    { name: 'at_most_once', problems: [expect.stringMatching(/^R-2: sent again at .* without a decision/)] },
  ]);
  expect(verdict.batches[0]?.certificate).toEqual({
    at_most_once: false,
    sends: 3,
    decisions: 0,
    not_taken: 0,
  });
});

it('P20: a decision orders one send, and the certificate counts it', async () => {
  const id = ids[1] ?? 0n;
  const retry = { kind: 'retry' as const, to: 'ready' as const, automatic: false, why: 'a person' };
  await ledger.write((trx) => record(trx, at(5), [{ payoutId: id, source: 'person', event: retry }]));
  const claims = await claimAt(ledger, at(6), 1);
  for (const one of claims) await recordOutcome(ledger, at(7), one, replies.accepted('482'));
  expect(await problemsOf()).toEqual([]);
  const { batches } = await verifyLedger(ledger.path);
  expect(batches[0]?.certificate).toEqual({ at_most_once: true, sends: 3, decisions: 1, not_taken: 0 });
});

it('P4: what was proven not taken frees the next send without a decision', async () => {
  const [third] = await claimAt(ledger, at(3), 1);
  if (third) await recordOutcome(ledger, at(4), third, replies.notSent());
  const [again] = await claimAt(ledger, at(5), 1);
  if (again) await recordOutcome(ledger, at(6), again, replies.accepted('483'));
  expect(await problemsOf()).toEqual([]);
  const { batches } = await verifyLedger(ledger.path);
  expect(batches[0]?.certificate, 'no send').toEqual({
    at_most_once: true,
    sends: 3,
    decisions: 0,
    not_taken: 0,
  });
});

const entry = (seq: bigint, event: HistoryEvent, from: 'unknown' | 'held' | 'ready', attempt?: number) => ({
  seq,
  at: at(Number(seq)),
  event,
  from_state: from,
  to_state: event === 'retry' ? ('ready' as const) : ('unknown' as const),
  detail: JSON.stringify(attempt === undefined ? {} : { last_attempt_id: attempt }),
});

it('P25: a send after an adoption needs a decision, and an older decision is none', () => {
  const adopted = [entry(1n, 'adopted', 'held'), entry(2n, 'intent', 'ready', 1)];
  expect(certify(adopted, []).problems).toHaveLength(1);
  const decided = [
    entry(1n, 'adopted', 'held'),
    entry(2n, 'retry', 'unknown'),
    entry(3n, 'intent', 'ready', 1),
  ];
  expect(certify(decided, [])).toEqual({ sends: 1, decisions: 1, notTaken: 0, problems: [] });
  const older = [
    entry(1n, 'retry', 'unknown'),
    entry(2n, 'adopted', 'ready'),
    entry(3n, 'intent', 'ready', 1),
  ];
  expect(certify(older, []).problems).toHaveLength(1);
  const twice = [...decided, entry(4n, 'intent', 'ready', 2)];
  expect(certify(twice, []).problems, 'one decision, one send').toHaveLength(1);
});

it('P8: two transfers after a 429 and two sends that may have been taken refute no word of the service', () => {
  const turnedAway = { ...entry(2n, 'turned_away', 'ready'), at: at(2) };
  const attempt = { id: 1n, outcome: 'turned_away', ended_at: at(2) } as const;
  const asked = [
    entry(1n, 'intent', 'ready', 1),
    turnedAway,
    entry(3n, 'intent', 'ready', 2),
    entry(4n, 'retry', 'unknown'),
    entry(5n, 'intent', 'ready', 3),
  ];
  expect(certify(asked, [attempt], 2)).toEqual({ sends: 3, decisions: 1, notTaken: 1, problems: [] });
  expect(certify(asked, [attempt], 3).problems, 'the service took all three').toHaveLength(1);
  expect(certify(asked.slice(0, 3), [attempt], 2).problems, 'it took the first after all').toHaveLength(1);
});

it('P20: finds a second successor, and one whose predecessor was paid', async () => {
  await tamper(
    ledger,
    `update payouts set successor_of = 1, amount = 7 where id = 3; update batches set row_count = 2`,
  );
  const found = (await problemsOf()).join('\n');
  expect(found).toMatch(/successors: R-3: it pays R-1 again, but the history of R-1 does not order that/);
  expect(found).toMatch(/successors: R-3: it pays R-1 again, but another amount/);
});

it('reads one moment while others write', async () => {
  const writing = addBatch(
    ledger,
    Array.from({ length: 300 }, (_, i) => `N-${i}`),
    { id: 'b-2' },
  );
  const [verdict] = await Promise.all([verifyLedger(ledger.path), writing]);
  expect(verdict.ok).toBe(true);
});

it('bounds what it prints of many problems', async () => {
  await addBatch(
    ledger,
    Array.from({ length: 50 }, (_, i) => `N-${i}`),
    { id: 'b-2' },
  );
  await tamper(ledger, `update payouts set fee = '1' where batch_id = 'b-2'`);
  const projection = (await verifyLedger(ledger.path)).checks.find((check) => check.name === 'projection');
  expect([projection?.problems.length, projection?.more]).toEqual([30, 20]);
});
