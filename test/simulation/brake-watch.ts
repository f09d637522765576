import { readReasons } from '../../src/core/ledger/hold-reasons.ts';
import type { Brakes } from '../../src/sending/brakes.ts';
import type { BatchFile } from './batch-files.ts';
import type { Book } from './book.ts';
import { createCanaryWatch } from './canary-watch.ts';
import { createDateWatch, type DateWatch } from './date-watch.ts';
import { createDayBudget } from './day-budget.ts';
import type { Fall } from './fall.ts';
import { createHoldWatch, type HoldWatch } from './hold-watch.ts';
import type { Attempted, Inspector, Told } from './inspector.ts';
import type { Weather } from './weather.ts';
import type { World } from './world.ts';

/** An attempt with what its brakes depend on. */
export type Braked = {
  id: number;
  payout_id: number;
  reference: string;
  worker_id: string;
  began_at: string;
  batch_id: string;
  amount: number;
  successor_of: number | null;
  file_name: string;
  approval_needed: number;
};

/**
 * The oracle of the brakes: what a person or a rule holds back does not go (P2, P21). It has a book of its own of who
 * approved, held and released what, of what a day may send, and of each batch's canary.
 */
export type BrakeWatch = {
  /** The files that the office wrote. */
  expect(files: readonly BatchFile[]): void;
  /** A process begins that knows this rule of approvals. */
  knows(worker: string, approval: Brakes['approval']): void;
  committed(news: readonly Told[]): void;
  began(attempt: Attempted): void;
  leaving(attemptId: number): void;
  wentBack(): void;
  /** Somebody who did not drop it approves a batch up to this payout. */
  approves(batch: string, throughId: number): void;
  holding: HoldWatch['holding'];
  /** A reply came to a process; the machine's clock was set. */
  heard: DateWatch['heard'];
  stepped: DateWatch['stepped'];
  /** Somebody lets a batch go, having seen its reasons just now, or everything. */
  releasing(batch: string | null): void;
};

export function createBrakeWatch(deps: {
  world: World;
  weather: Weather;
  inspector: Inspector;
  book: Book;
  fall: Fall;
}): BrakeWatch {
  const { world, weather, inspector } = deps;
  const { brakes } = weather;
  const files = new Map<string, BatchFile>();
  const rules = new Map<string, Brakes['approval']>();
  const approved = new Set<string>();
  const canaries = createCanaryWatch(deps);
  const budget = createDayBudget(deps);
  const dates = createDateWatch(deps);
  /** Batches that a person has let go, or that lay in a copy as let go. */
  const released = new Set<string>();
  const holds = createHoldWatch(deps);

  const attempt = (id: number): Braked | undefined =>
    inspector.rows<Braked>(
      `select a.id, a.payout_id, p.reference, a.worker_id, a.began_at, p.batch_id, p.amount, p.successor_of, b.file_name,
         b.approval_needed
       from attempts a join payouts p on p.id = a.payout_id join batches b on b.id = p.batch_id where a.id = ?`,
      id,
    )[0];

  function began({ id }: Attempted): void {
    const one = attempt(id);
    if (!one) return;
    judgeApproval(one);
    judgeChange(one);
    judgeHold(one);
    canaries.began(one);
    dates.began(one);
    budget.began(one);
  }

  function judgeApproval(one: Braked): void {
    const file = files.get(one.file_name);
    const rule = rules.get(one.worker_id) ?? 'none';
    const total = (file?.rows ?? []).reduce((sum, { minor }) => sum + minor, 0);
    const asked =
      rule === 'always' || rule === 'callback' || (rule === 'above' && total > brakes.approvalAbove);
    if (!asked && one.approval_needed === 0) return;
    if (isApproved(one.batch_id, one.payout_id)) world.coverage.count('brake: sent with an approval');
    else
      world.violate(
        'P2: nothing goes before its approval',
        `attempt ${one.id} of ${one.batch_id}`,
        one.reference,
      );
  }

  function judgeHold(one: Braked): void {
    if (holds.isHeld(one.batch_id))
      world.violate(
        'P21: what a person holds does not go',
        `attempt ${one.id} of ${one.batch_id}`,
        one.reference,
      );
    const why = whyHeld(files.get(one.file_name));
    if (why === null) return;
    if (released.has(one.batch_id)) world.coverage.count('brake: held at intake, sent when released');
    else
      world.violate('P21: what is held goes when it is released', `${one.batch_id}: ${why}`, one.reference);
  }

  /** P37: a changed row of a batch that was compared goes once somebody else has approved what is changed. */
  function judgeChange({ file_name, reference, batch_id, payout_id }: Braked): void {
    const row = files.get(file_name)?.rows.find((one) => one.reference === reference);
    if (!row?.changed) return;
    const compared = inspector.rows<{ found: string }>(
      'select found from payee_comparisons where batch_id = ?',
      batch_id,
    );
    if (!compared.some(({ found }) => JSON.parse(found).accountChanged > 0)) return;
    if (isApproved(batch_id, payout_id)) world.coverage.count('brake: changed row sent with an approval');
    else
      world.violate('P37: a changed row waits for a second person', `it was sent of ${batch_id}`, reference);
  }

  function isApproved(batch: string, payout: number): boolean {
    const sql = 'select through_id from approvals where batch_id = ? and through_id >= ?';
    const rows = inspector.rows<{ through_id: number }>(sql, batch, payout);
    return rows.some(({ through_id }) => approved.has(`${batch} ${through_id}`));
  }

  function whyHeld(file: BatchFile | undefined): string | null {
    if (!file) return null;
    if (file.twins) return 'two of its rows look alike';
    const limit = brakes.payoutLimit;
    return limit !== null && file.rows.some(({ minor }) => minor > limit)
      ? 'one is above the payout limit'
      : null;
  }

  return {
    expect: (all) => {
      for (const file of all) files.set(file.name, file);
      dates.expect(all);
    },
    knows: (worker, approval) => void rules.set(worker, approval),
    committed(news) {
      canaries.committed(news);
      holds.committed();
    },
    began,
    leaving: (id) => {
      const one = attempt(id);
      if (one) budget.leaving(one);
    },
    wentBack() {
      released.clear();
      holds.wentBack();
      const sql = "select id, hold_reasons from batches where phase = 'loaded'";
      for (const { id, hold_reasons } of inspector.rows<{ id: string; hold_reasons: string }>(sql)) {
        const kinds = readReasons(hold_reasons).map(({ kind }) => kind);
        if (kinds.every((kind) => kind === 'approval' || kind === 'releasing')) released.add(id);
      }
      canaries.wentBack();
      budget.wentBack();
    },
    approves: (batch, throughId) => void approved.add(`${batch} ${throughId}`),
    holding: holds.holding,
    heard: dates.heard,
    stepped: dates.stepped,
    releasing(batch) {
      canaries.releasing(batch);
      holds.releasing(batch);
      if (batch !== null) released.add(batch);
    },
  };
}
