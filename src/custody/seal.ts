import { createHash } from 'node:crypto';
import { existsSync, realpathSync } from 'node:fs';
import { sql } from 'kysely';
import type { AdvisedReason } from '../core/domain/advice.ts';
import { barrierKeys } from '../core/ledger/barriers.ts';
import { metaOfKeys } from '../core/ledger/meta.ts';
import type { Db, Trx } from '../core/storage/ledger.ts';
import { everyBatch, everyHead } from './snapshot.ts';

/** Keys of `meta` that record the progress of a move. */
export const sealKeys = {
  /** In the source: the digest that the target must match, and where the target is. */
  digest: 'sealed_digest',
  target: 'sealed_target',
  /** In the source: the target matched and may open; it is never copied again. */
  handed: 'sealed_handed_over',
} as const;

/** Keys of `meta` in a backup, and in a restored ledger until it is adopted. */
export const backupKeys = {
  at: 'backup_at',
  /** Its newest history entry: the digests cover the entries up to this one. */
  history: 'backup_history',
  /** A prefix; the batch's id follows. */
  digest: 'backup_digest:',
} as const;

/** A ledger's seal: why it is one, the file that was to replace it, and whether that is this file. */
export type Seal = AdvisedReason & { target: string; here: boolean };

/** The seal of the ledger at `path`, read from its `meta`; undefined if it was never moved. */
export async function findSeal(db: Db | Trx, path: string): Promise<Seal | undefined> {
  const known = await metaOfKeys(db, [barrierKeys.sealed, sealKeys.target]);
  const sealed = known.get(barrierKeys.sealed);
  return sealed === undefined ? undefined : readSeal(sealed, known.get(sealKeys.target) ?? '', path);
}

/** Reads a seal's `AT CAUSE`. One that names its own file would send people in circles: it lists the ways out. */
export function readSeal(value: string, target: string, path: string): Seal {
  if (target === '' || placeOf(target) !== placeOf(path))
    return { why: value.replace(/^\S+ /, ''), advice: null, target, here: false };
  const why = `${path} is a sealed copy of a ledger that moved to this place`;
  return { why, advice: { kind: 'replace_sealed', path }, target, here: true };
}

/** One name for one file, even where a folder has two. */
function placeOf(path: string): string {
  return existsSync(path) ? realpathSync(path) : path;
}

/** One digest over a batch's history heads: SHA-256 over each in row order (P27). */
export function createBatchDigest(): { add(head: string): void; end(): string } {
  const hash = createHash('sha256');
  return { add: (head) => void hash.update(`${head}\n`), end: () => hash.digest('hex') };
}

export type BatchDigest = { batch: string; payouts: number; digest: string };

export async function* batchDigests(db: Db | Trx): AsyncGenerator<BatchDigest> {
  for await (const batch of everyBatch(db)) {
    const digest = createBatchDigest();
    let payouts = 0;
    for await (const heads of everyHead(db, batch)) {
      payouts += heads.length;
      for (const head of heads) digest.add(head);
    }
    yield { batch, payouts, digest: digest.end() };
  }
}

const counted = [
  'archives',
  'archived_amounts',
  'batches',
  'payouts',
  'attempts',
  'history',
  'webhooks',
  'unmatched_references',
  'inquiries',
  'collection_files',
  'collections',
  'collection_look_ups',
  'resend_requests',
  'runs',
  'run_rows',
  'listed',
  'periods',
  'period_rows',
  'period_transfers',
  'discrepancies',
  'discrepancy_events',
  'look_alikes',
  'halts',
  'approvals',
  'waived_listings',
  'batch_totals',
  'payee_comparisons',
  'payout_values',
  'payout_totals',
  'attempt_totals',
  'canaries',
  'account_names',
  'limit_days',
  'limit_uses',
  'workers',
  'file_moves',
  'rejected_files',
  'mends',
  'preparers',
  'alerts',
  'alert_messages',
  'events',
] as const;

/** The digest in which a moved ledger must be equal (P26): row counts, sums by currency and state, all heads. */
export async function ledgerDigest(db: Db | Trx): Promise<string> {
  const hash = createHash('sha256');
  for (const table of counted) {
    const { n } = await db
      .selectFrom(table)
      .select((on) => on.fn.countAll<bigint>().as('n'))
      .executeTakeFirstOrThrow();
    hash.update(`${table} ${n}\n`);
  }
  const sums = await db
    .selectFrom('payouts')
    .select(['currency', 'state'])
    .select((on) => [on.fn.countAll<bigint>().as('n'), sql<bigint>`sum(amount)`.as('sum')])
    .groupBy(['currency', 'state'])
    .orderBy('currency')
    .orderBy('state')
    .execute();
  for (const row of sums) hash.update(`${row.currency} ${row.state} ${row.n} ${row.sum}\n`);
  for await (const one of batchDigests(db)) hash.update(`${one.batch} ${one.payouts} ${one.digest}\n`);
  return hash.digest('hex');
}
