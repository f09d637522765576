import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import fc from 'fast-check';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { type Config, loadConfig } from '../../src/config.ts';
import { classifyPair } from '../../src/domain/classify.ts';
import type { PayoutState, WitnessStatus } from '../../src/domain/payout.ts';
import { listOpen } from '../../src/ledger/discrepancies.ts';
import { beginRun } from '../../src/ledger/listings.ts';
import { type Ledger, openLedger } from '../../src/ledger/open.ts';
import { type PairCase, pairCases } from '../../src/ledger/pair-cases.ts';
import { pairListed } from '../../src/ledger/pairing.ts';
import { type StagedTransfer, stage } from '../../src/ledger/staging.ts';
import { createReconciliation, type LookedUp } from '../../src/reconciliation/reconcile.ts';

const birth = '2026-11-20T00:00:00.000Z';
const sent = '2026-11-21T10:00:00.000Z';
const answered = '2026-11-21T10:00:01.000Z';
const cut = '2026-11-21T12:00:00.000Z';
let folder: string;
let ledger: Ledger;
let now: number;

beforeEach(async () => {
  folder = mkdtempSync(join(tmpdir(), 'reconcile-'));
  ledger = await openLedger(join(folder, 'data', 'ledger.db'), { now: () => birth });
  now = Date.parse(cut) + 5_000;
  await ledger.db
    .insertInto('batches')
    .values({
      id: 'b',
      mode: 'test',
      name: 'b',
      file_name: 'b.csv',
      content_hash: 'h',
      phase: 'loaded',
      columns: '[]',
      delimiter: ',',
      row_count: 0n,
      hold_reasons: '[]',
      body_digest: 'd',
      created_at: birth,
    })
    .execute();
});
afterEach(async () => {
  await ledger.close();
  rmSync(folder, { recursive: true, force: true });
});

function configured(yaml: string): Config {
  mkdirSync(join(folder, 'config'), { recursive: true });
  const file = join(folder, 'config', 'counterfoil.yaml');
  writeFileSync(file, `service: { base_url: "http://127.0.0.1:1" }\nreconciliation: ${yaml}\n`);
  const loaded = loadConfig({ configFlag: file, cwd: folder, env: {} });
  if (loaded.kind !== 'ok') throw new Error(loaded.problems.join('\n'));
  return loaded.config;
}

let rowNumber = 1n;
type Sent = { state?: PayoutState; evidence?: string; outcome?: 'accepted' | 'unknown'; fee?: string | null };
async function payout(
  n: number,
  { state = 'pending', evidence = 'response', outcome = 'accepted', fee = null }: Sent = {},
) {
  const final = ['success', 'failed', 'returned'].includes(state);
  const { id } = await ledger.db
    .insertInto('payouts')
    .values({
      mode: 'test',
      batch_id: 'b',
      row_number: ++rowNumber,
      reference: `ACME-${n}`,
      reference_key: `acme-${n}`,
      account_number: '0123456789',
      account_name: 'A',
      bank_code: '058',
      amount: 1000n,
      currency: 'NGN',
      narration: 'n',
      sender_name: 's',
      type: null,
      body: '{}',
      cells: '[]',
      state,
      attempt_count: 1n,
      last_attempt_id: null,
      transfer_id: outcome === 'accepted' ? String(n) : null,
      trx: null,
      fee,
      message: null,
      submitted_at: sent,
      settled_at: null,
      final_at: final ? answered : null,
      evidence,
      not_before: null,
      updated_at: answered,
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  const attempt = await ledger.db
    .insertInto('attempts')
    .values({
      payout_id: id,
      number: 1n,
      worker_id: 'w',
      began_at: sent,
      ended_at: answered,
      outcome,
      http_status: null,
      code: null,
      message: null,
      transfer_id: null,
      raw: null,
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  await ledger.db.updateTable('payouts').set({ last_attempt_id: attempt.id }).where('id', '=', id).execute();
  return id;
}

function listed(n: number, other: Partial<StagedTransfer> = {}): StagedTransfer {
  return {
    id: String(n),
    trx: `TRX${n}`,
    reference: `ACME-${n}`,
    currency: 'NGN',
    amount: '10.00',
    fee: '1.00',
    account_name: 'A',
    account_number: '0123456789',
    bank_code: '058',
    domain: 'test',
    status: 'success',
    created_at: '2026-11-21T10:00:00.500000Z',
    updated_at: '2026-11-21T10:05:00.000000Z',
    ...other,
  };
}

type Night = {
  complete?: boolean;
  followUp?: boolean;
  word?: LookedUp['word'];
  /** What the details show of everything that is asked about. */
  status?: WitnessStatus;
  yaml?: string;
  oldest?: string;
};
async function reconcile(rows: StagedTransfer[], night: Night = {}) {
  const asked: { lookUps: bigint[]; resends: bigint[] } = { lookUps: [], resends: [] };
  now += 1_000;
  const { summary } = await createNight();
  const open = await listOpen(ledger.db, { mode: 'test' });
  return { summary, asked, open, kinds: open.map((one) => `${one.kind} ${one.subject}`).sort() };

  async function createNight() {
    const listing = {
      walk: async (run: string) => {
        await ledger.write((trx) => stage(trx, run, 1, rows));
        return {
          complete: night.complete ?? true,
          passes: 2,
          listed: rows.length,
          cut,
          oldestCreatedAt: night.oldest ?? birth,
          otherDomainSeen: false,
        };
      },
    };
    const followUp = {
      lookUp: async (ids: bigint[]) => {
        asked.lookUps.push(...ids);
        const word = night.word ?? (night.status ? 'found' : 'not_found');
        const answer: LookedUp = { word, status: night.status ?? null };
        return new Map(ids.map((id) => [id, answer]));
      },
      askResend: async (ids: bigint[]) => asked.resends.push(...ids),
    };
    const clock = {
      now: () => now,
      iso: () => new Date(now).toISOString(),
      monotonic: () => now,
      sleep: async () => {},
    };
    const config = configured(night.yaml ?? '{}');
    const reconciliation = createReconciliation({ ledger, config, clock, listing, followUp });
    return { summary: await reconciliation.run({ full: false, followUp: night.followUp ?? true }) };
  }
}

async function stateOf(id: bigint) {
  return ledger.db
    .selectFrom('payouts')
    .select(['state', 'evidence'])
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
}

it('P14: an agreeing row of the list makes a pending payout final, once', async () => {
  const id = await payout(1);
  const first = await reconcile([listed(1)]);
  expect(await stateOf(id)).toEqual({ state: 'success', evidence: 'response+listing' });
  expect(first.summary).toMatchObject({
    complete: true,
    listed: 1,
    matched: 1,
    lookups: 0,
    discrepancies: { open: {}, opened: 0 },
  });
  await reconcile([listed(1)]);
  expect(await ledger.db.selectFrom('history').selectAll().execute()).toHaveLength(1);
});

it('one night finds exactly what was planted, and asks for look-ups of just the open ones', async () => {
  await payout(1);
  await payout(2);
  const gone = await payout(3);
  await payout(4, { state: 'failed', evidence: 'response+details' });
  const lost = await payout(5, { state: 'unknown', outcome: 'unknown', evidence: '' });
  await payout(6, { state: 'unknown', outcome: 'unknown', evidence: '' });
  await payout(7, { state: 'returned', evidence: 'listing' });
  const night = await reconcile([
    listed(1),
    listed(2, { amount: '9.00' }),
    listed(4),
    listed(6, { amount: '11.00' }),
    listed(7, { status: 'refunded' }),
    listed(88),
    listed(89, { created_at: '2026-11-01T00:00:00Z' }),
  ]);
  expect(night.kinds).toEqual([
    'amount_conflict ACME-2',
    'missing_at_service ACME-3',
    'missing_in_ledger transfer:88',
    'reference_collision ACME-6',
    'returned_after_success ACME-7',
    'status_conflict ACME-4',
    'unknown_outcome ACME-5',
    'unknown_outcome ACME-6',
    'webhook_missing ACME-4',
  ]);
  expect(night.open.find((one) => one.kind === 'amount_conflict')).toMatchObject({
    difference: '-1.00',
    expected: '10.00',
  });
  expect(night.open.find((one) => one.subject === 'ACME-5')?.action).toContain(
    'before 2026-11-22T10:00:01.000Z',
  );
  expect(night.asked.lookUps).toEqual(expect.arrayContaining([gone, lost]));
  expect(night.summary.lookups).toBe(4);
});

it('missing_at_service needs a complete listing, the grace passed and a look-up that does not find it', async () => {
  await payout(3);
  expect((await reconcile([], { complete: false })).kinds).toEqual([]);
  expect((await reconcile([], { followUp: false })).kinds).toEqual([]);
  expect((await reconcile([], { word: 'no_answer' })).kinds).toEqual([]);
  expect((await reconcile([], { yaml: '{ missing_grace_minutes: 120 }' })).kinds).toEqual([]);
  expect((await reconcile([], { yaml: '{ missing_grace_minutes: 0 }' })).kinds).toEqual([
    'missing_at_service ACME-3',
  ]);
});

it('missing_at_service stays open while its look-up gets no answer: silence closes nothing', async () => {
  await payout(3);
  expect((await reconcile([])).kinds).toEqual(['missing_at_service ACME-3']);
  const silent = await reconcile([], { word: 'no_answer' });
  expect(silent.kinds).toEqual(['missing_at_service ACME-3']);
  expect(silent.summary.discrepancies.resolved).toBe(0);
});

it('a discrepancy keeps its id, closes by evidence, says what closed it, and opens again', async () => {
  await payout(2);
  const [first] = (await reconcile([listed(2, { amount: '9.00' })])).open;
  const again = await reconcile([listed(2, { amount: '9.00' })]);
  expect(again.open).toMatchObject([{ id: first?.id, first_seen_at: first?.first_seen_at }]);
  expect(again.summary.discrepancies).toMatchObject({ opened: 0, resolved: 0 });
  const healed = await reconcile([listed(2)]);
  expect(healed.summary.discrepancies).toMatchObject({ resolved: 1, open: {} });
  const [closed] = await listOpen(ledger.db, { mode: 'test', states: ['resolved'] });
  expect(closed).toMatchObject({
    resolved_by: 'evidence',
    note: `closed by evidence of run ${healed.summary.run}; listed as transfer 2, success 10.00 NGN; ledger: success by response+listing`,
  });
  const back = await reconcile([listed(2, { amount: '9.00' })]);
  expect(back.summary.discrepancies).toMatchObject({ opened: 1 });
});

it('a run that could not see them closes no missing and no duplicate', async () => {
  await payout(2);
  await payout(3);
  await reconcile([listed(2), listed(22, { reference: 'ACME-2' })]);
  const blind = await reconcile([listed(2)], { complete: false });
  expect(blind.kinds).toEqual(['duplicate_at_service ACME-2', 'missing_at_service ACME-3']);
  expect((await reconcile([listed(2), listed(3)])).kinds).toEqual([]);
});

it('webhook_missing at grace 0 is reported by the run that first sees the final state, and a resend is asked', async () => {
  const id = await payout(1);
  const night = await reconcile([listed(1)], { yaml: '{ webhook_grace_minutes: 0 }' });
  expect(night.kinds).toEqual(['webhook_missing ACME-1']);
  expect(night.asked.resends).toEqual([id]);
});

it('stale_pending at 0 hours is reported at once, but not for what is missing', async () => {
  await payout(1);
  await payout(3);
  const night = await reconcile([listed(1, { status: 'pending' })], { yaml: '{ stale_pending_hours: 0 }' });
  expect(night.kinds).toEqual(['missing_at_service ACME-3', 'stale_pending ACME-1']);
});

it('a listed row under the service’s own reference is paired by its transfer id', async () => {
  await payout(1);
  const night = await reconcile([listed(1, { reference: 'SERVICE-OWN' })]);
  expect(night.summary.matched).toBe(1);
  expect(night.kinds).toEqual([]);
});

it('SQL pairing passes on every pair that classify would speak about', async () => {
  // The first value is the common one, so that most pairs differ in one field alone.
  const pick = <T>(usual: T, ...others: T[]) =>
    fc.oneof(
      { weight: 12, arbitrary: fc.constant(usual) },
      { weight: 2, arbitrary: fc.constantFrom(usual, ...others) },
    );
  const one = fc.record({
    state: pick<PayoutState>('success', 'pending', 'failed', 'unknown', 'returned', 'refused'),
    evidence: pick('response+listing', 'response'),
    outcome: pick('accepted' as const, 'unknown' as const),
    fee: pick<string | null>(null, '1.00', '2'),
    amount: pick('10.00', '10', '9.99', 'ten'),
    currency: pick('NGN', 'ZAR'),
    account_number: pick('0123456789', '0123456780'),
    domain: pick<string | null>('test', null, 'live'),
    status: pick('success', 'pending', 'failed', 'reversed'),
    created_at: pick('2026-11-21T10:00:00.5Z', '2026-11-21T09:00:00Z'),
    twice: pick(false, true),
  });
  let n = 0;
  await fc.assert(
    fc.asyncProperty(fc.array(one, { minLength: 1, maxLength: 30 }), async (all) => {
      now += 1_000;
      const run = await ledger.write((trx) => beginRun(trx, 'test', new Date(now).toISOString()));
      const rows: StagedTransfer[] = [];
      for (const { state, evidence, outcome, fee, twice, ...shown } of all) {
        await payout(++n, { state, evidence, outcome, fee });
        rows.push(listed(n, shown));
        if (twice) rows.push(listed(n, { ...shown, id: `${n}-2` }));
      }
      await ledger.write((trx) => stage(trx, run, 1, rows));
      expect(await pairListed(ledger, run, 'test')).toBe(all.length);
      const cases = async () => {
        const found: PairCase[] = [];
        for await (const some of pairCases(ledger.db, run, 'test', 7)) found.push(...some);
        return found;
      };
      const passed = new Set((await cases()).map(({ payout: p }) => p.id));
      // Everything, by making every pair look unheard of by the listing, then judged with its true evidence.
      const truth = await ledger.db.selectFrom('payouts').select(['id', 'evidence']).execute();
      await ledger.db.updateTable('payouts').set({ evidence: '' }).execute();
      const every = await cases();
      expect(every).toHaveLength(all.length);
      for (const { payout: p, rows: own } of every) {
        const evidence = truth.find((row) => row.id === p.id)?.evidence ?? '';
        await ledger.db.updateTable('payouts').set({ evidence }).where('id', '=', p.id).execute();
        const judged = classifyPair({ ...p, evidence }, own, true);
        if (judged.witness || judged.found.length > 0) expect(passed.has(p.id)).toBe(true);
      }
    }),
    { numRuns: 25, seed: 7 },
  );
});
