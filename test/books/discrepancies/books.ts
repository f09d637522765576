import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { listOpen } from '../../../src/books/discrepancies/discrepancies.sql.ts';
import type { LookedUp } from '../../../src/books/discrepancies/questions.ts';
import { createReconciliation } from '../../../src/books/discrepancies/reconciliation.ts';
import type { StagedTransfer } from '../../../src/core/domain/listed-transfer.ts';
import type { PayoutState, WitnessStatus } from '../../../src/core/domain/payout.ts';
import { type Config, loadConfig } from '../../../src/core/settings/settings.ts';
import type { Ledger } from '../../../src/core/storage/ledger.ts';
import { noBrakes } from '../../../src/sending/brakes.ts';
import { openDay } from '../../../src/sending/limits.sql.ts';
import { stage } from '../../../src/watching/listing/staging.sql.ts';
import { withAction } from '../../../src/words/discrepancy-words.ts';
import { batchRow } from '../../support/batch-row.ts';
import { openNewLedger } from '../../support/new-ledger.ts';

const birth = '2026-11-20T00:00:00.000Z';
const sent = '2026-11-21T10:00:00.000Z';
const answered = '2026-11-21T10:00:01.000Z';
const cut = '2026-11-21T12:00:00.000Z';
let folder: string;
/** The ledger of the test that runs. */
export let ledger: Ledger;
let now: number;

/** A ledger with one batch; before each test. */
export async function openBooks(): Promise<void> {
  folder = mkdtempSync(join(tmpdir(), 'reconcile-'));
  ledger = await openNewLedger(join(folder, 'data', 'ledger.db'), { now: () => birth });
  now = Date.parse(cut) + 5_000;
  await ledger.db.insertInto('batches').values(batchRow('b', birth)).execute();
}

export async function closeBooks(): Promise<void> {
  await ledger.close();
  rmSync(folder, { recursive: true, force: true });
}

/** A second later than the last that happened, ISO UTC. */
export function nextInstant(): string {
  now += 1_000;
  return new Date(now).toISOString();
}

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
export async function payout(
  n: number,
  { state = 'pending', evidence = 'response', outcome = 'accepted', fee = null }: Sent = {},
) {
  const final = ['success', 'failed', 'returned'].includes(state);
  const { id } = await ledger.db
    .insertInto('payouts')
    .values({
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
      turned_away_until: null,
      updated_at: answered,
    })
    .returning('id')
    .executeTakeFirstOrThrow();
  const day_id = await ledger.write((trx) => openDay(trx, { brakes: noBrakes, at: sent }));
  const attempt = await ledger.db
    .insertInto('attempts')
    .values({
      payout_id: id,
      number: 1n,
      worker_id: 'w',
      began_at: sent,
      day_id,
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

type Night = {
  complete?: boolean;
  followUp?: boolean;
  word?: LookedUp['word'];
  /** What the details show of everything that is asked about. */
  status?: WitnessStatus;
  yaml?: string;
  oldest?: string;
};
export async function reconcile(rows: StagedTransfer[], night: Night = {}) {
  const asked: { lookUps: bigint[]; resends: bigint[] } = { lookUps: [], resends: [] };
  nextInstant();
  const { summary } = await createNight();
  const open = (await listOpen(ledger.db, {})).map(withAction);
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

export async function stateOf(id: bigint) {
  return ledger.db
    .selectFrom('payouts')
    .select(['state', 'evidence'])
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
}
