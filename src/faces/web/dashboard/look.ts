import { createHash } from 'node:crypto';
import { findPaidTwice, type PaidTwice } from '../../../books/paid-twice.sql.ts';
import { type LastRun, lastRun } from '../../../books/run-verdicts.sql.ts';
import { dayOf } from '../../../core/domain/pay-day.ts';
import { foreignOrigins } from '../../../core/ledger/origins.ts';
import type { Clock } from '../../../core/runtime/clock.ts';
import type { Ledger } from '../../../core/storage/ledger.ts';
import type { Finding } from '../../../findings/finding.ts';
import type { KindsOn } from '../../../findings/kinds.ts';
import { dayAt } from '../../../sending/daily-limit.ts';
import { haltMarks } from '../../../sending/halts.sql.ts';
import type { SaidHalt } from '../../../words/halt-words.ts';
import type { Unready } from '../../admin/health.ts';
import { type FigureSource, type LedgerFigures, readFigures } from '../../admin/ledger-figures.sql.ts';
import { activeBatches, type BatchLook } from './batches.sql.ts';
import { type Acknowledged, countAcknowledged } from './discrepancies.sql.ts';
import type { Drop } from './files/drops.ts';
import { type DaysAhead, daysAhead } from './later.sql.ts';
import { createPaidLately, type PaidLately } from './paid-lately.sql.ts';
import { type UnendedRun, unendedRun } from './runs.sql.ts';

/** The facts of the first page. `unready`: why work does not move. */
export type DashboardFacts = {
  halt: SaidHalt | null;
  /** The marks of its causes: a release lifts only these. */
  haltMarks: string[];
  figures: LedgerFigures;
  lastRun: LastRun | null;
  /** The reconciliation that has not ended. */
  unended: UnendedRun | null;
  paid: PaidLately;
  paidTwice: PaidTwice;
  /** When the ledger began, ISO UTC. */
  birth: string;
  batches: { looks: BatchLook[]; more: number };
  later: DaysAhead;
  unready: Unready[];
  /** What somebody is at work on. */
  acknowledged: Acknowledged;
  /** What waits for a person. */
  findings: Finding<KindsOn<'today'>>[];
  /** The files that were dropped on the desk, and that nobody decided on. */
  drops: Drop[];
  /** Another one for every other look; times alone do not change it. */
  version: string;
};

export type LookDeps = {
  source: FigureSource;
  ledger: Ledger;
  clock: Pick<Clock, 'now' | 'monotonic'>;
  /** The zone whose day is today. */
  zone: string;
  /** When the ledger began, ISO UTC. */
  birth: string;
  /** The zone whose days are those of payment (P38). */
  payZone: string;
  findHalt(): Promise<SaidHalt | undefined>;
  findProblems(): Promise<Unready[]>;
  findWaiting(): Promise<Finding<KindsOn<'today'>>[]>;
  findDrops(): Promise<Drop[]>;
};

export type Looks = ReturnType<typeof createLooks>;

/** However many dashboards are open, the ledger is read once a second at most. */
const freshMs = 1000;
/** Looking for problems writes to the ledger, so that is done less often. */
const problemsFreshMs = 10_000;
const mostBatches = 30;
const mostDays = 31;

/** How many discrepancies of the last run people decided, while its verdict stands and none is open. */
export function decidedIn({ findings }: Pick<DashboardFacts, 'findings'>, run: string): number {
  const own = findings.flatMap((one) =>
    one.kind === 'run_unsound' && one.subject === run ? one.facts.decided : [],
  );
  return own[0] ?? 0;
}

/** Looks at the whole ledger by its kept figures. A look is at most a second old; after `forget` the next one is new. */
export function createLooks(deps: LookDeps) {
  const problems = kept(deps.clock, problemsFreshMs, deps.findProblems);
  const readPaid = createPaidLately(deps.source.db, deps.zone);
  const all = kept(deps.clock, freshMs, () => lookAgain(deps, problems.read, readPaid));
  return { look: all.read, forget: all.forget };
}

async function lookAgain(
  deps: LookDeps,
  findProblems: () => Promise<Unready[]>,
  readPaid: (now: string) => Promise<PaidLately>,
): Promise<DashboardFacts> {
  const { source, clock, zone, birth, payZone } = deps;
  const { db, account } = source;
  const now = new Date(clock.now()).toISOString();
  const today = dayAt(now, zone);
  const foreign = await foreignOrigins(db, account);
  const seen = {
    // First, so that no mark stands for a cause that is not shown.
    haltMarks: await haltMarks(db),
    halt: (await deps.findHalt()) ?? null,
    figures: await readFigures(source),
    lastRun: (await lastRun(db, foreign)) ?? null,
    unended: await unendedRun(db, deps.ledger),
    paid: await readPaid(now),
    paidTwice: await findPaidTwice(db, foreign),
    birth,
    batches: await activeBatches(db, today.beginsAt, mostBatches),
    later: await daysAhead(db, dayOf(clock.now(), payZone), mostDays),
    acknowledged: await countAcknowledged(db),
    unready: await findProblems(),
    findings: await deps.findWaiting(),
    drops: await deps.findDrops(),
  };
  return { ...seen, version: versionOf(seen) };
}

function versionOf({
  halt,
  haltMarks: marks,
  figures,
  lastRun: run,
  unended,
  paid,
  batches,
  later,
  acknowledged,
  unready,
  findings,
  drops,
}: Omit<DashboardFacts, 'version'>): string {
  const { clockSkewMs: _skew, ledgerBytes: _bytes, freeBytes: _free, ...telling } = figures;
  const names = unready.map(({ check }) => check);
  const counts = batches.looks.map(({ batch, state, counts: n }) => [
    batch.id,
    batch.hold_reasons,
    batch.precheck,
    batch.precheck_wait,
    state,
    n,
  ]);
  // Not their measures, which grow with time, nor the free bytes of a disk.
  const waiting = findings.map(({ kind, subject, since, mark, names: of }) => [
    kind,
    subject,
    since,
    mark,
    of,
  ]);
  const decided = run === null ? 0 : decidedIn({ findings }, run.run);
  const text = JSON.stringify(
    [
      halt,
      marks,
      telling,
      run,
      unended,
      paid,
      counts,
      batches.more,
      later,
      acknowledged,
      names,
      waiting,
      drops,
      decided,
    ],
    (_key, value: unknown) => (typeof value === 'bigint' ? value.toString() : value),
  );
  return createHash('sha256').update(text).digest('base64url').slice(0, 16);
}

/** Keeps an answer for a while. Those who ask meanwhile share one look; one that failed is not kept. */
function kept<T>(clock: Pick<Clock, 'monotonic'>, forMs: number, read: () => Promise<T>) {
  let last: { atMs: number; answer: Promise<T> } | undefined;
  return {
    read: (): Promise<T> => {
      const nowMs = clock.monotonic();
      if (last && nowMs - last.atMs < forMs) return last.answer;
      const answer = read();
      const mine = { atMs: nowMs, answer };
      last = mine;
      answer.catch(() => {
        if (last === mine) last = undefined;
      });
      return answer;
    },
    forget(): void {
      last = undefined;
    },
  };
}
