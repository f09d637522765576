import { sql } from 'kysely';
import { replacedEvent } from '../core/domain/history-event.ts';
import { cameToNothing } from '../core/domain/payout.ts';
import { type WaivedListing, waivedListings } from '../core/ledger/barriers.ts';
import { archivePath } from '../core/storage/archive-file.ts';
import { isPostgres, literals } from '../core/storage/dialect.ts';
import { isDamage } from '../core/storage/failure.ts';
import type { Db } from '../core/storage/ledger.ts';
import { type Place, placeOf } from '../core/storage/place.ts';
import { rowWaits } from '../sending/approved.sql.ts';
import {
  type DoneArchive,
  differingAmounts,
  doneArchives,
  whyNotAsWritten,
} from './archive/archive-facts.ts';
import { beginFileCheck, type FileCheck } from './file-check.ts';
import {
  type CheckName,
  checkNames,
  type LedgerProblem,
  type ProblemFact,
  problemsOf,
} from './ledger-problem.ts';
import { everyBatch, openSnapshot, openUnchanged } from './snapshot.ts';
import { readBackup } from './verify-backup.ts';
import { checkBatch, type ProvenBatch } from './verify-batch.ts';
import { checkComparisons } from './verify-payees.ts';
import { checkPeriods } from './verify-periods.ts';
import { strayRows, triggersOf } from './verify-schema.ts';
import { createTotalsCheck } from './verify-totals.ts';

export type VerifyCheck = {
  name: CheckName;
  ok: boolean;
  /** The first problems; `more` counts the rest. */
  problems: LedgerProblem[];
  more: number;
};

/** `waived`: decisions to send new batches of an adopted ledger without a complete list (P32). */
export type Verification = {
  ok: boolean;
  checks: VerifyCheck[];
  batches: ProvenBatch[];
  waived: WaivedListing[];
};

const mostShown = 30;

/**
 * Proves the ledger from its history alone (P27), and with it every archive beside it. It reads one snapshot, so that it
 * may run beside a daemon, in pages, so that memory stays flat. SQLite's own check of the file has a snapshot of its own.
 * It finds accidents and foreign edits; the owner of the file can forge a whole new history.
 */
export async function verifyLedger(
  where: string | Place,
  onProgress: (payouts: number) => void = () => undefined,
  options: { asideFrom?: number } = {},
): Promise<Verification> {
  const { db, close } = await openSnapshot(where);
  const file = isPostgres(db)
    ? null
    : beginFileCheck({ path: placeOf(where).path, unchanged: false }, options);
  try {
    const verdict = await prove({ db, file, part: false, onProgress });
    const found: LedgerProblem[] = [];
    for (const archive of await doneArchives(db)) {
      const { batches, problems } = await proveArchive(db, placeOf(where), archive);
      verdict.batches = withArchived(verdict.batches, batches);
      found.push(...problemsOf('archives', archive.file, problems));
    }
    note(verdict.checks, found);
    return { ...verdict, ok: verdict.checks.every((check) => check.ok) };
  } finally {
    file?.drop();
    await close();
  }
}

/** Proves an archive alone: all but the sums of months, of which it has a part. The file does not change. */
export async function verifyArchive(path: string): Promise<Verification> {
  const { db, close } = await openUnchanged(path);
  const file = beginFileCheck({ path, unchanged: true });
  try {
    return await prove({ db, file, part: true, onProgress: () => undefined });
  } finally {
    file.drop();
    await close();
  }
}

async function proveArchive(
  ledger: Db,
  { path }: Pick<Place, 'path'>,
  archive: DoneArchive,
): Promise<{ batches: ProvenBatch[]; problems: ProblemFact[] }> {
  const file = archivePath({ path }, archive.file);
  const changed = await whyNotAsWritten(file, archive);
  if (changed !== null) return { batches: [], problems: [changed] };
  const { checks, batches } = await verifyArchive(file);
  const problems = checks.flatMap((check) =>
    check.problems.map((problem): ProblemFact => ({ kind: 'in_archive', problem })),
  );
  return { batches, problems: [...problems, ...(await differingAmounts(ledger, file, archive.id))] };
}

/** The batches with what the archive proved of those that it has. */
function withArchived(batches: ProvenBatch[], archived: ProvenBatch[]): ProvenBatch[] {
  const proven = new Map(archived.map((one) => [one.batch, one]));
  return batches.map((one) => {
    const full = one.archived ? proven.get(one.batch) : undefined;
    return full ? { ...one, certificate: full.certificate } : one;
  });
}

function note(checks: readonly VerifyCheck[], found: readonly LedgerProblem[]): void {
  for (const problem of found) {
    const entry = checks.find(({ name }) => name === problem.check);
    if (!entry) continue;
    entry.ok = false;
    if (entry.problems.length < mostShown) entry.problems.push(problem);
    else entry.more += 1;
  }
}

/** `part`: an archive, which has a part of each month. */
type Proof = { db: Db; file: FileCheck | null; part: boolean; onProgress(payouts: number): void };

async function prove({ db, file, part, onProgress }: Proof): Promise<Verification> {
  const checks = checkNames.map((name): VerifyCheck => ({ name, ok: true, problems: [], more: 0 }));
  const report = (found: readonly LedgerProblem[]): void => note(checks, found);
  const batches: ProvenBatch[] = [];
  let payouts = 0;
  let waived: WaivedListing[] = [];
  let unreadable: LedgerProblem[] = [];
  try {
    waived = await waivedListings(db);
    const backup = await readBackup(db);
    // An archive has no figures: they stay in the ledger, for what was archived too.
    const totals = part ? null : createTotalsCheck(db);
    for await (const id of everyBatch(db)) {
      const proven = await checkBatch(db, { id, backup, totals }, report);
      batches.push(proven);
      payouts += proven.payouts;
      onProgress(payouts);
    }
    report(await checkLonelySuccessors(db));
    // An archive has the tables of its time; its payouts and approvals stay in the ledger too.
    if (!part) {
      report(await checkUnapproved(db));
      report(await checkComparisons(db));
    }
    report(backup.missing());
    report((await totals?.end()) ?? []);
    report(await checkPeriods(db, part));
  } catch (error) {
    if (!isDamage(error)) throw error;
    unreadable = problemsOf('integrity', null, [{ kind: 'unreadable', said: error.message }]);
  }
  // PostgreSQL checks its files itself.
  report(file ? await file.found : await strayRows(db));
  report(missingGuards(await triggersOf(db)));
  report(unreadable);
  return { ok: checks.every((check) => check.ok), checks, batches, waived };
}

const kept = [
  'history',
  'periods',
  'period_rows',
  'period_transfers',
  'discrepancy_events',
  'approvals',
  'waived_listings',
];
const guards = [
  ...kept.flatMap((table) => [`${table}_no_update`, `${table}_no_delete`]),
  'period_rows_no_more',
  'period_transfers_no_more',
  'payouts_body_frozen',
  'payouts_pay_on_frozen',
  'payouts_payee_frozen',
  'payouts_approval_frozen',
  'payouts_archived_unsent',
];

function missingGuards(there: ReadonlySet<string>): LedgerProblem[] {
  const missing = guards.filter((name) => !there.has(name));
  return missing.flatMap((trigger) => problemsOf('integrity', null, [{ kind: 'trigger_missing', trigger }]));
}

/** Finds payouts that were sent although their row needed an approval, and none covers them (P37). */
async function checkUnapproved(db: Db): Promise<LedgerProblem[]> {
  const { rows } = await sql<{ reference: string }>`select payouts.reference from payouts
    where payouts.attempt_count > 0 and ${rowWaits} limit 1000`.execute(db);
  return rows.flatMap(({ reference }) => problemsOf('orders', reference, [{ kind: 'unapproved' }]));
}

/** Finds successors that were paid without a decision: their predecessor's history does not mention them (P20). */
async function checkLonelySuccessors(db: Db): Promise<LedgerProblem[]> {
  const unordered = await sql<{ reference: string; of: string }>`
    select s.reference, o.reference as "of" from payouts s join payouts o on o.id = s.successor_of
    where not exists (select 1 from history h where h.payout_id = o.id and h.event = ${replacedEvent}
      and (h.from_state in (${literals(cameToNothing)})
        or (h.from_state = 'cancelled' and o.successor_of is not null))) limit 1000`.execute(db);
  // A file may correct the account; a successor made by `retry` goes to the same account.
  const others = await sql<{ reference: string; of: string }>`
    select s.reference, o.reference as "of" from payouts s join payouts o on o.id = s.successor_of
    where s.amount <> o.amount or s.currency <> o.currency or (s.batch_id = o.batch_id
      and (s.account_number <> o.account_number or s.bank_code <> o.bank_code)) limit 1000`.execute(db);
  const foundOf = (kind: 'successor_unordered' | 'successor_differs', { rows }: typeof others) =>
    rows.flatMap(({ reference, of }) => problemsOf('successors', reference, [{ kind, of }]));
  return [...foundOf('successor_unordered', unordered), ...foundOf('successor_differs', others)];
}
