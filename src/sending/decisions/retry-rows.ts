import { foldReference } from '../../core/domain/ids.ts';
import { hasComeToNothing } from '../../core/domain/payout.ts';
import type { ExaminedRow, Replaced, RetryClaim, RetryRow } from '../../core/domain/retry-file.ts';
import { findBarrier } from '../../core/ledger/barriers.ts';
import { areHolding, readReasons } from '../../core/ledger/hold-reasons.ts';
import type { Db, Trx } from '../../core/storage/ledger.ts';
import { linesOf } from '../../watching/evidence/lineage.sql.ts';
import type { Since } from '../../watching/evidence/sends.ts';
import { evidenceDigest, type WeighedCase, weigh } from '../../watching/evidence/weigh.ts';
import { findReferences, unsentOf } from './cancel-unsent.sql.ts';
import { type CellFault, differences, isInConflict, obstacle, type RowFault } from './retry-findings.ts';
import { type DecisionDeps, groundOf } from './retry-payout.ts';
import { lastLink, successorReferences } from './successor.ts';

/**
 * How old the service's report of a failure may be when a file that pays the payout again is taken in. Intake asks the
 * service where it can. This age counts only for a process that has no service to ask, or gets no answer.
 */
const takenMs = 3_600_000;
/** What is only offered or foreseen may rest on an answer of any age: intake asks the service again. */
const anyAge: Since = null;

/** Under which reference, and on which evidence, a payout may be paid again. */
type Offer = { id: bigint; reference: string; claim: RetryClaim };

/**
 * P20 by file: which payouts may be paid again, and whether the rows of a file do that. A person who puts such a file
 * into the inbox decides just as with `retry`: each row repeats the digest of the evidence. Nothing is asked here. A
 * process that has the service asks it about `originals` first.
 */
export function createRetryRows({ ledger, clock, rules, say }: DecisionDeps) {
  const { referencePrefix: prefix } = rules;
  const ground = groundOf(rules);
  const ago = (ms: number): string => new Date(clock.now() - ms).toISOString();

  /** Those of these payouts that a file put into the inbox now could pay again. */
  async function offer(db: Db | Trx, ids: readonly bigint[]): Promise<Offer[]> {
    if (await findBarrier(db)) return [];
    const { cases } = await weigh(db, { ...ground, ids, since: anyAge });
    const free = cases.filter((one) => obstacle(one, anyAge) === null && !isInConflict(one));
    const references = await successorReferences(db, free, prefix);
    return free.map((one) => ({
      id: one.payout.id,
      reference: references.get(one.payout.id) ?? '',
      claim: { of: one.payout.reference, evidence: evidenceDigest([one]) },
    }));
  }

  /**
   * Returns what each row would do, or why not, in their order. In the transaction that records the rows, this is the
   * compare-and-set: they are recorded under the references that it found right.
   */
  const examine = (db: Db | Trx, rows: readonly RetryRow[], recorded = false): Promise<ExaminedRow[]> =>
    examineSince(db, rows, { since: ago(takenMs), recorded });

  /** Returns what {@link examine} would say if the service were asked and said nothing new. */
  const foresee = (db: Db | Trx, rows: readonly RetryRow[]): Promise<ExaminedRow[]> =>
    examineSince(db, rows, { since: anyAge, recorded: false });

  const bad = ({ row }: RetryRow, cells: readonly CellFault[]): ExaminedRow => {
    const problems = cells.map(({ column, value, fault }) => ({ column, value, ...say(fault) }));
    return { kind: 'bad', row, problems };
  };
  const refused = (row: RetryRow, fault: RowFault): ExaminedRow =>
    bad(row, [{ column: 'retry_of', value: row.of, fault }]);

  async function examineSince(
    db: Db | Trx,
    rows: readonly RetryRow[],
    { since, recorded }: { since: Since; recorded: boolean },
  ): Promise<ExaminedRow[]> {
    if (rows.length === 0) return [];
    const barrier = await findBarrier(db);
    if (barrier) return rows.map((row) => refused(row, { kind: 'barrier', reason: barrier }));
    const ids = await repeated(db, rows);
    const { cases } = await weigh(db, { ...ground, ids, since });
    const caseOf = new Map(cases.map((one) => [one.payout.reference_key, one]));
    const open = cases.filter((one) => obstacle(one, since) === null);
    const references = recorded ? null : await successorReferences(db, open, prefix);
    const lines = await linesOf(db, ids);
    return rows.map((row): ExaminedRow => {
      const one = caseOf.get(foldReference(row.of));
      if (!one) return refused(row, { kind: 'no_payout', mode: ledger.mode });
      const inTheWay = obstacle(one, since);
      if (inTheWay) return refused(row, inTheWay);
      const reference = references ? (references.get(one.payout.id) ?? '') : row.reference;
      const faults = differences(row, one, reference);
      if (faults.length > 0) return bad(row, faults);
      const line = lines.get(one.payout.id) ?? new Set([one.payout.id]);
      return { kind: 'pays_again', row: row.row, reference, replaces: replacedBy(row, one, line) };
    });
  }

  /** The payouts that these rows pay again, as far as the service can be asked about them, by id. */
  async function originals(rows: readonly RetryRow[]): Promise<bigint[]> {
    const standing = await unsentOf(ledger.db, await repeated(ledger.db, rows));
    return standing.flatMap(({ id, state }) => (hasComeToNothing(state) ? [id] : []));
  }

  return { offer, examine, foresee, originals };
}

/** The ids of the payouts that these rows pay again. */
async function repeated(db: Db | Trx, rows: readonly RetryRow[]): Promise<bigint[]> {
  const references = rows.map(({ of }) => of);
  const { payouts } = await findReferences(db, references);
  return payouts.map(({ id }) => id);
}

function replacedBy(row: RetryRow, one: WeighedCase, line: ReadonlySet<bigint>): Replaced {
  const { payout, batch } = one;
  const changed = [
    ...(row.accountNumber === payout.account_number ? [] : ['account_number']),
    ...(row.bankCode === payout.bank_code ? [] : ['bank_code']),
  ];
  const { id, reference, state } = payout;
  const held = areHolding(readReasons(batch.hold_reasons), payout);
  const approved = batch.approval_needed === 1n || payout.approval_needed === 1n;
  const follows = lastLink(one);
  return { id, reference, state, batch: batch.id, follows, held, approved, line, changed };
}
