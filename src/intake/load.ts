import { createHash } from 'node:crypto';
import { setImmediate } from 'node:timers/promises';
import { batchId, batchName } from '../core/domain/ids.ts';
import type { Problem } from '../core/domain/problem.ts';
import type { RetryRow } from '../core/domain/retry-file.ts';
import {
  countPayouts,
  decideBatch,
  existingReferences,
  findByContentHash,
  finishSome,
  getBatch,
  insertBatch,
  insertPayouts,
  isLoading,
  type LoadedRow,
  loadingBatches,
} from '../core/ledger/batches.ts';
import type { PromisedFile } from '../core/ledger/file-tasks.ts';
import { type HoldReason, isOfRows } from '../core/ledger/hold-reasons.ts';
import { nothingBefore, recordComparison } from '../core/ledger/payee-comparisons.ts';
import { recordTakenFile } from '../core/ledger/rejected-files.ts';
import { linkSuccessors } from '../core/ledger/successors.ts';
import type { Clock } from '../core/runtime/clock.ts';
import type { Config } from '../core/settings/settings.ts';
import type { Ledger, Trx } from '../core/storage/ledger.ts';
import type { OsUser } from '../sending/approval.ts';
import { noteBatch } from '../sending/approvals.sql.ts';
import { payeeWarnings } from '../sending/payee-facts.ts';
import { countMarked } from '../sending/row-approvals.sql.ts';
import type { ComparedPayees, ComparedRows } from './compare-payees.ts';
import { dropSome } from './drop-batch.sql.ts';
import type { Dropper } from './dropper.ts';
import { type FindLikeness, fileReasons, ledgerLikeness } from './file-reasons.ts';
import { approvalHolds } from './foresight.ts';
import { frozen } from './frozen.ts';
import { batchLikeness, hasLikeness } from './likeness.sql.ts';
import { allExist } from './moves.ts';
import { batchRows, fileRowsOf, markAsking, payeesOf } from './payees.ts';
import { payeeOf } from './payees-before.ts';
import { rowsLeftIn } from './rejections.ts';
import {
  heldOriginals,
  type PaysAgain,
  type RetryRows,
  recordRetries,
  retryProblems,
  retryRows,
} from './retries.ts';
import { findSavedAgain, savedRows } from './saved-again.sql.ts';
import { formatTotals, type Scan } from './scan.ts';
import { type KeptRows, readFileAgain } from './second-pass.ts';
import { recordValues, uniqueColumns, valueAgainReason } from './values-again.sql.ts';
import { valuesByNow } from './values-since.sql.ts';

type Deps = { ledger: Ledger; config: Config; clock: Clock; retries: RetryRows };
export type Loaded =
  | { kind: 'loaded'; batch: string; holdReasons: HoldReason[]; warnings: string[] }
  | Changed;

/**
 * File or ledger differ from pass 1. `problems`: rows whose original payouts were decided by a person in the meantime.
 * `takenOver`: another process has the intake lock by now, and removed what was half loaded.
 */
type Changed = { kind: 'changed'; problems: Problem[]; takenOver: boolean };
const nothingLoaded: Changed = { kind: 'changed', problems: [], takenOver: false };

/** The file, the person who hands it in, and the files that are promised when its batch is decided. */
type Source = {
  path: string;
  kept: KeptRows;
  fileName: string;
  /** As it was dropped. */
  name: string;
  dropper: Dropper;
  /** The sheets of left-out rows, which the ledger is about to promise. */
  sheets: readonly string[];
  promised: (batch: string) => PromisedFile[];
  /** Records who prepared the file. */
  prepare(trx: Trx, about: { batch: string; at: string }): Promise<void>;
};

/** Small, so that no other process waits long for a commit. */
const rowsPerWrite = 2000;

/**
 * Pass 2: records the good rows of pass 1, in chunks, while the batch is in phase `loading`. One last
 * transaction decides holds; it sees every row of this and of other batches (P23). `changed`: file or ledger
 * differ from pass 1, and nothing was recorded.
 */
export async function loadBatch(deps: Deps, source: Source, scan: Scan): Promise<Loaded> {
  const { ledger, config, clock } = deps;
  const { path, fileName, kept } = source;
  if (!scan.header) return nothingLoaded;
  const at = clock.iso();
  const id = await freeId(deps, fileName, at, scan.contentHash);
  const isNew = await ledger.write(async (trx) => {
    if (await findByContentHash(trx, scan.contentHash)) return false;
    await insertBatch(trx, {
      id,
      name: batchName(fileName),
      file_name: fileName,
      content_hash: scan.contentHash,
      columns: JSON.stringify(scan.header?.columns ?? []),
      delimiter: scan.header?.delimiter ?? ',',
      row_count: BigInt(scan.good.count),
      created_at: at,
      dropped_by: source.dropper.name,
      dropped_uid: uidOf(source.dropper),
      dropped_as: source.dropper.as?.name ?? '',
      dropped_as_uid: uidOf(source.dropper.as),
    });
    return true;
  });
  if (!isNew) return nothingLoaded;
  const bodies = createHash('sha256');
  const retried: RetryRow[] = [];
  const unique = uniqueColumns(scan.header.columns, config);
  const saved = savedRows(scan.header.columns);
  let loaded = 0;
  let hash: string | null = null;
  const load = async (take?: Parameters<ComparedRows['each']>[0]): Promise<void> => {
    hash = await readFileAgain(path, { config, scan, kept }, async (good) => {
      retried.push(...retryRows(good));
      saved.add(good);
      const rows = good.map((row) => frozen(row, config, scan.contentHash));
      bodies.update(rows.map((row) => `${row.body}\n`).join(''));
      const also = (trx: Trx) => recordValues(trx, id, good, unique);
      if (await added(ledger, { batch: id, at, also }, rows)) loaded += rows.length;
      await take?.(rows.map(payeeOf));
      await setImmediate();
    });
  };
  // The comparison reads the rows while they are loaded, and again only where it needs them twice. It is outside of the
  // transaction: it reads batches before this one, which nothing but the intake adds.
  const stored = batchRows(ledger.db, id);
  const payees = await payeesOf(deps, scan, {
    ...fileRowsOf(path, { config, scan, kept }),
    batch: id,
    each: (take) => (hash === null ? load(take) : stored.each(take)),
  });
  if (hash === null) await load();
  if (hash !== scan.bytesHash || loaded !== scan.good.count || !(await allExist(source.sheets))) {
    // Names the rows whose original got another successor in the meantime.
    return undone(ledger, id, retryProblems(await deps.retries.examine(ledger.db, retried)));
  }
  const marked = await markAsking(deps, id, payees);
  const again = await findSavedAgain(ledger.db, saved.end(), { zone: config.reports.timezone, own: id });
  const bodyDigest = bodies.digest('hex');
  const decided = await ledger.write((trx) =>
    decide(trx, deps, { ...source, id, at, scan, retried, again, bodyDigest, payees, marked }),
  );
  if (decided.kind === 'undecided') return undone(ledger, id, decided.problems);
  await finishLoading(deps, id);
  return decided;
}

/** Removes what was loaded. */
async function undone(ledger: Ledger, id: string, problems: Problem[]): Promise<Changed> {
  const takenOver = !(await isLoading(ledger.db, id));
  await drop(ledger, id);
  return { kind: 'changed', problems, takenOver };
}

/**
 * Adds rows in one transaction. Returns false when another batch has one of their references by now (P22), or when the
 * batch is gone: a process that stood still may have lost the intake lock to one that removed what it had half loaded.
 */
async function added(
  ledger: Ledger,
  { batch, at, also }: { batch: string; at: string; also(trx: Trx): Promise<void> },
  rows: readonly LoadedRow[],
): Promise<boolean> {
  try {
    return await ledger.write(async (trx) => {
      if (!(await isLoading(trx, batch))) return false;
      await insertPayouts(trx, batch, at, rows);
      await also(trx);
      return true;
    });
  } catch (error) {
    const keys = rows.map((row) => row.reference_key);
    const taken = await existingReferences(ledger.db, keys);
    // Any other error of the ledger must reach the caller (P12).
    if ([...taken.values()].every((by) => by.batch_id === batch)) throw error;
    return false;
  }
}

type Complete = Source & {
  id: string;
  at: string;
  scan: Scan;
  retried: RetryRow[];
  again: HoldReason[];
  bodyDigest: string;
  payees: ComparedPayees | null;
  /** How many rows wait for an approval of their own. */
  marked: number;
};

/**
 * Decides the batch. The rows that pay again are examined once more here, so that one of two simultaneous
 * retries wins (P20).
 */
async function decide(
  trx: Trx,
  deps: Deps,
  { id, at, scan, retried, again, bodyDigest, payees, marked, ...source }: Complete,
): Promise<Exclude<Loaded, Changed> | { kind: 'undecided'; problems: Problem[] }> {
  const isWhole = (await isLoading(trx, id)) && (await countPayouts(trx, id)) === scan.good.count;
  if (!isWhole || (await countMarked(trx, id)) !== marked) return { kind: 'undecided', problems: [] };
  const examined = await deps.retries.examine(trx, retried, true);
  const problems = retryProblems(examined);
  if (problems.length > 0) return { kind: 'undecided', problems };
  const plans = examined.filter((one): one is PaysAgain => one.kind === 'pays_again');
  const links = plans.map(({ row, replaces }) => ({ row, of: replaces.follows.id }));
  if (links.length > 0) await linkSuccessors(trx, id, links);
  const likeness = await ledgerLikeness(deps, likenessIn(trx, { id }), { db: trx, plans, batch: id });
  const alike = likeness.reasons.length > 0 ? likeness.reasons : again;
  const holdReasons = [...fileReasons(scan), ...heldOriginals(plans), ...alike];
  if (scan.valuesAgain.count === 0) {
    const { first, count } = await valuesByNow(trx, { id }, deps.config);
    holdReasons.push(...valueAgainReason(first, count));
  }
  const { totals } = scan.good;
  const dropper = source.dropper.name;
  const comparison = payees?.comparison ?? null;
  const approvals = approvalHolds(deps.config, { totals, retries: plans, payees: comparison, dropper });
  holdReasons.push(...approvals);
  const needsApproval = approvals.some((one) => !isOfRows(one));
  await noteBatch(trx, { id, totals, needsApproval });
  const { payees: rule } = deps.config.submission;
  const isMarked = (rule === 'approve_changed' || rule === 'approve_new') && approvals.some(isOfRows);
  const found = comparison ?? { ...nothingBefore, totalsNow: formatTotals(totals) };
  if (rule !== 'off') await recordComparison(trx, id, { ...found, ...(isMarked && { marked: rule }) });
  const files = source.promised(id);
  await decideBatch(trx, { id, at, holdReasons, bodyDigest, files });
  await source.prepare(trx, { batch: id, at });
  const { fileName, name } = source;
  const { contentHash } = scan;
  await recordTakenFile(trx, { owner: id, name, contentHash, at, left: rowsLeftIn(files, scan) });
  const batch = { id, fileName, dropper: source.dropper, bodies: bodyDigest, reasons: holdReasons };
  await recordRetries(trx, at, batch, retried, plans);
  return { kind: 'loaded', batch: id, holdReasons, warnings: payeeWarnings(comparison) };
}

function likenessIn(trx: Trx, batch: { id: string }): FindLikeness {
  // Usually no payout is alike, and one query shows that.
  return async (near) =>
    (await hasLikeness(trx, batch)) ? batchLikeness(trx, batch, near, 5) : { count: 0, first: [] };
}

function uidOf(account: OsUser | null): bigint | null {
  return account === null || account.uid === null ? null : BigInt(account.uid);
}

/** Returns an id that no batch has. */
async function freeId(
  { ledger, config }: Deps,
  fileName: string,
  at: string,
  contentHash: string,
): Promise<string> {
  for (let i = 0; i < 58; i += 6) {
    const id = batchId(fileName, at, contentHash.slice(i));
    if (!(await getBatch(ledger.db, id))) return id;
  }
  throw new Error(`no free batch id for ${fileName} in mode ${config.mode}`);
}

/**
 * Writes the first history entries of a decided batch in chunks until it is `loaded`. May be repeated after a
 * crash.
 */
async function finishLoading({ ledger, clock }: Omit<Deps, 'retries'>, id: string): Promise<void> {
  const batch = await getBatch(ledger.db, id);
  if (!batch) return;
  for (let done = false, after = 0n; !done; await setImmediate()) {
    const from = after;
    ({ done, after } = await ledger.write((trx) => finishSome(trx, batch, clock.iso(), rowsPerWrite, from)));
  }
}

async function drop(ledger: Ledger, id: string): Promise<void> {
  for (let done = false; !done; ) ({ done } = await ledger.write((trx) => dropSome(trx, id, rowsPerWrite)));
}

/**
 * Clears batches that a crash left in phase `loading`. An undecided one is deleted, since its file is still in the inbox; a
 * decided one is finished (P23). Only under the intake lock. Returns how many there were.
 */
export async function clearHalfLoaded(deps: Omit<Deps, 'retries'>): Promise<number> {
  const left = await loadingBatches(deps.ledger.db);
  for (const batch of left) {
    if (batch.body_digest === '') await drop(deps.ledger, batch.id);
    else await finishLoading(deps, batch.id);
  }
  return left.length;
}
