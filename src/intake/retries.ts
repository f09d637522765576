import { type Problem, wholeFile } from '../core/domain/problem.ts';
import { type ExaminedRow, mostRetries, type RetryRow } from '../core/domain/retry-file.ts';
import type { ApprovalCause, HoldReason } from '../core/ledger/hold-reasons.ts';
import { beginSuccessors } from '../core/ledger/successors.ts';
import type { Db, Trx } from '../core/storage/ledger.ts';
import type { Dropper } from './dropper.ts';
import { type BadRow, short } from './file-rows.ts';
import type { GoodRow } from './rows.ts';

/**
 * Judges, in order, rows that pay others again (P20). `recorded`: in the transaction that decides their
 * batch.
 */
export type RetryRows = {
  examine(db: Db | Trx, rows: readonly RetryRow[], recorded?: boolean): Promise<ExaminedRow[]>;
  /** Judges rows of a file that is only checked: asks the service nothing and writes nothing. */
  foresee(db: Db | Trx, rows: readonly RetryRow[]): Promise<ExaminedRow[]>;
  /**
   * Gathers evidence about the payouts that these rows pay again, before they are judged. It applies stored
   * webhooks, and asks the service where it can. It asks no more once `signal` is aborted. Never inside a
   * transaction.
   */
  prepare?(rows: readonly RetryRow[], signal?: AbortSignal): Promise<void>;
};

/** Returns judges that only foresee, for a check. */
export function foreseeing({ foresee }: RetryRows): RetryRows {
  return { examine: foresee, foresee };
}

/**
 * Thrown when a stop arrives while the service is asked about a file's rows, or while another process takes files in.
 * Nothing of the file was recorded.
 */
export class Interrupted extends Error {
  constructor() {
    super('interrupted before the file was judged: it stays where it was, and nothing of it was recorded');
  }
}

export type PaysAgain = Extract<ExaminedRow, { kind: 'pays_again' }>;

/** Returns the rows that name a payout that they pay again. */
export function retryRows(good: readonly GoodRow[]): RetryRow[] {
  const named: RetryRow[] = [];
  for (const { row, parsed, retry } of good)
    if (retry) named.push({ ...parsed, row, ...retry, reference: parsed.reference ?? '' });
  return named;
}

/**
 * Judges the rows of a file chunk by chunk. `excess` is the problem of a file with too many such rows. Throws
 * {@link Interrupted}: a file must not be refused because a question was cut short.
 */
export function retryCheck(retries: RetryRows, db: Db, signal?: AbortSignal) {
  let count = 0;
  return async (chunk: { good: GoodRow[]; bad: BadRow[] }): Promise<Checked> => {
    const rows = retryRows(chunk.good);
    if (rows.length === 0) return { ...chunk, plans: new Map(), excess: null };
    const before = count;
    count += rows.length;
    if (count > mostRetries)
      return { ...chunk, plans: new Map(), excess: before > mostRetries ? null : tooMany };
    await retries.prepare?.(rows, signal);
    if (signal?.aborted) throw new Interrupted();
    const examined = new Map((await retries.examine(db, rows)).map((one) => [one.row, one]));
    const plans = new Map<number, PaysAgain>();
    const good: GoodRow[] = [];
    const bad = [...chunk.bad];
    for (const row of chunk.good) {
      const one = examined.get(row.row);
      if (one?.kind === 'bad') {
        bad.push({ row: row.row, cells: row.cells, problems: problemsOf(one) });
      } else good.push(row);
      if (one?.kind === 'pays_again') plans.set(row.row, one);
    }
    return { good, bad: bad.sort((a, b) => a.row - b.row), plans, excess: null };
  };
}

type Checked = {
  good: GoodRow[];
  bad: BadRow[];
  /** What the good rows pay again, by row. */
  plans: Map<number, PaysAgain>;
  excess: Problem | null;
};

const tooMany = wholeFile(
  `more than ${mostRetries} rows have retry_of; so many are decided at once`,
  'split the file',
);

/** Returns the problems of rows that may not pay again what they name. */
export function retryProblems(examined: readonly ExaminedRow[]): Problem[] {
  return examined.flatMap((one) => (one.kind === 'bad' ? problemsOf(one) : []));
}

function problemsOf({ row, problems }: Extract<ExaminedRow, { kind: 'bad' }>): Problem[] {
  return problems.map((problem) => ({ row, ...problem, value: short(problem.value) }));
}

/** Returns the reason to hold a batch: it pays a payout again whose own batch is held (P20). */
export function heldOriginals(plans: readonly PaysAgain[]): HoldReason[] {
  const first = plans.find(({ replaces }) => replaces.held);
  if (!first) return [];
  const { reference, batch } = first.replaces;
  return [{ kind: 'original_held', row: first.row, reference, batch }];
}

/**
 * Returns why a batch needs an approval: it pays a payout again whose own batch needs one. Otherwise a second
 * file would evade it (P20).
 */
export function approvedOriginals(plans: readonly PaysAgain[]): ApprovalCause | null {
  const first = plans.find(({ replaces }) => replaces.approved);
  if (!first) return null;
  const { reference, batch } = first.replaces;
  return { kind: 'original', row: first.row, reference, batch };
}

/** Writes the decision that these rows make into the histories of both payouts (P20). */
export async function recordRetries(
  trx: Trx,
  at: string,
  batch: { id: string; bodies: string; reasons: readonly HoldReason[]; dropper: Dropper; fileName: string },
  rows: readonly RetryRow[],
  plans: readonly PaysAgain[],
): Promise<void> {
  if (plans.length === 0) return;
  const person = batch.dropper.name;
  const evidenceOf = new Map(rows.map(({ row, evidence }) => [row, evidence]));
  const decided = plans.map(({ row, replaces }) => ({
    row,
    of: replaces.follows.id,
    predecessor: replaces.follows.reference,
    why: `decided by ${person} on evidence ${evidenceOf.get(row)}, by row ${row} of ${batch.fileName}`,
  }));
  const decidedBy = `person:${person}`;
  const { id, bodies, reasons } = batch;
  await beginSuccessors(trx, at, { id, bodies, reasons, decidedBy }, decided);
}
