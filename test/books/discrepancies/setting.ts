import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { listOpen } from '../../../src/books/discrepancies/discrepancies.sql.ts';
import type { LookedUp } from '../../../src/books/discrepancies/questions.ts';
import { createReconciliation } from '../../../src/books/discrepancies/reconciliation.ts';
import type { StagedTransfer } from '../../../src/core/domain/listed-transfer.ts';
import type { Standpoint } from '../../../src/core/domain/origin.ts';
import type { WitnessStatus } from '../../../src/core/domain/payout.ts';
import type { SaidFields } from '../../../src/core/ledger/contradiction-columns.ts';
import { systemClock } from '../../../src/core/runtime/clock.ts';
import { type Config, loadConfig } from '../../../src/core/settings/settings.ts';
import type { LookUpOutcome } from '../../../src/core/storage/tables/said-columns.ts';
import type { ListingResult } from '../../../src/watching/listing/completeness.ts';
import { stage } from '../../../src/watching/listing/staging.sql.ts';
import { withAction } from '../../../src/words/discrepancy-words.ts';
import { here } from '../../sending/setting.ts';
import { at, claimAt, recordOutcome, replies, type TestLedger } from '../../support/ledger.ts';

/** A transfer as the service lists an order of the test ledger's batches. */
export function listedTransfer(reference: string, other: Partial<StagedTransfer> = {}): StagedTransfer {
  return {
    id: `T-${reference}`,
    trx: null,
    reference,
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
    ...other,
  };
}

/** as the service lists them, R-1 with the amount given. */
export const bothListed = (amount = '1500.00'): StagedTransfer[] => [
  listedTransfer('R-1', { amount }),
  listedTransfer('R-2'),
];

/** Sends what is ready, each accepted under the id that {@link listedTransfer} gives it. */
export async function sendAll(ledger: TestLedger): Promise<void> {
  for (const claim of await claimAt(ledger, at(0), 10))
    await recordOutcome(ledger, at(1), claim, replies.accepted(`T-${claim.reference}`));
}

export type Night = {
  /** Milliseconds after the ledger's birth; the run begins and ends then. */
  at: number;
  rows?: StagedTransfer[];
  listing?: Partial<ListingResult>;
  full?: boolean;
  /** What the details say of whatever is asked; not found unless given. */
  details?: WitnessStatus | 'no_answer';
  /** Happens while the list is being read. */
  meanwhile?: () => Promise<unknown>;
  /** Happens while the look-ups are made, when there are any. */
  asking?: () => Promise<unknown>;
  submission?: string;
  /** Where it asks from; the others sent from there too unless given. */
  standpoint?: Standpoint;
  /** Whether the configuration expects webhooks; not unless given. */
  receives?: boolean;
};

/** One run over a list given row by row. */
export async function nightOf(ledger: TestLedger, night: Night) {
  const clock = { ...systemClock(), now: () => Date.parse(at(night.at)), iso: () => at(night.at) };
  const rows = night.rows ?? [];
  const listing = {
    walk: async (run: string): Promise<ListingResult> => {
      await night.meanwhile?.();
      await ledger.write((trx) => stage(trx, run, 1, rows));
      const seen = { listed: rows.length, oldestCreatedAt: at(-1000), otherDomainSeen: false };
      return { complete: true, passes: 2, cut: at(night.at), ...seen, ...night.listing };
    },
  };
  const answer = answerOf(night.details);
  const followUp = {
    lookUp: async (ids: bigint[]) => {
      await night.asking?.();
      return new Map(ids.map((id) => [id, answer]));
    },
    askResend: async () => 0,
  };
  const config = configured(ledger.folder, night);
  const reconciliation = createReconciliation({
    ...{ ledger, config, clock, listing, followUp },
    standpoint: night.standpoint ?? here,
  });
  const summary = await reconciliation.run({ full: night.full ?? false, followUp: true });
  const open = (await listOpen(ledger.db, {})).map(withAction);
  return { summary, open, kinds: open.map(({ kind, reference }) => `${kind} ${reference}`).sort() };
}

function answerOf(details: Night['details']): LookedUp {
  if (details === 'no_answer') return { word: 'no_answer', status: null };
  return details ? { word: 'found', status: details } : { word: 'not_found', status: null };
}

function configured(folder: string, { submission = '{}', receives = false }: Night): Config {
  mkdirSync(join(folder, 'config'), { recursive: true });
  const file = join(folder, 'config', 'counterfoil.yaml');
  const receiver = `receiver: { enabled: ${receives} }`;
  const service = 'service: { base_url: "http://127.0.0.1:1" }';
  writeFileSync(file, `${service}\n${receiver}\nsubmission: ${submission}\n`);
  const loaded = loadConfig({ configFlag: file, cwd: folder, env: {} });
  if (loaded.kind !== 'ok') throw new Error(loaded.problems.join('\n'));
  return loaded.config;
}

/** Stores a details look-up of the payout as answered. */
export async function answered(
  { db }: TestLedger,
  reference: string,
  ms: number,
  outcome: LookUpOutcome,
  word: Partial<SaidFields> = {},
): Promise<void> {
  const payout = await db
    .selectFrom('payouts')
    .select(['id', 'history_seq'])
    .where('reference', '=', reference)
    .executeTakeFirstOrThrow();
  await db
    .insertInto('inquiries')
    .values({
      payout_id: payout.id,
      kind: 'details',
      reason: 'asked',
      due_at: at(ms),
      rung: 0n,
      rung_due_at: null,
      attempt_id: null,
      clock_off_ms: null,
      probe: null,
      asked_at: at(ms),
      answered_at: at(ms),
      outcome,
      ...word,
      raw: null,
      history_seq: payout.history_seq,
    })
    .execute();
}
