import { sql } from 'kysely';
import { formatMinor } from '../core/domain/money.ts';
import { dayOf } from '../core/domain/pay-day.ts';
import type { PayoutState } from '../core/domain/payout.ts';
import type { FileWait } from '../core/domain/waiting-file.ts';
import { getBatch } from '../core/ledger/batches.ts';
import { type ApprovalCause, addHoldReason } from '../core/ledger/hold-reasons.ts';
import type { RecordEvent } from '../core/ledger/projection.ts';
import { record } from '../core/ledger/record.ts';
import type { Db, Ledger, Trx } from '../core/storage/ledger.ts';
import { withheldBy, withholding } from '../watching/evidence/withheld.ts';
import { causesNow, unmarkedByPayees } from './approval-causes.sql.ts';
import { batchTotals, needApproval } from './approvals.sql.ts';
import { isApproved } from './approved.sql.ts';
import type { Brakes } from './brakes.ts';
import { canaryCounts, payoutsOf, standingCanaries } from './canaries.sql.ts';
import { type ClaimScope, throughDay, type Under } from './claim-request.ts';
import { stopForCanaries } from './claims.sql.ts';
import { finishHolds, holdBatch } from './holds.sql.ts';
import { headsOf, type Lane, lanesOf } from './lanes.sql.ts';
import { dailyUse, openDay } from './limits.sql.ts';
import { batchesAwaitingCheck, expireLooks } from './precheck.sql.ts';
import { readySuccessors } from './ready.sql.ts';
import { readyParts } from './ready-parts.sql.ts';

/** What is ready but kept back, and until when. */
export type KeptReady =
  /** `day`: before which it is not sent. `clock`: where ours says that day, what the service's says (P38); else null. */
  | {
      kind: 'date';
      day: string;
      batch: string;
      currency: string;
      count: number;
      amount: string;
      clock: 'earlier' | 'unheard' | null;
    }
  | { kind: 'daily_limit'; currency: string; count: number; amount: string; until: string }
  | {
      kind: 'canary';
      batch: string;
      count: number;
      failed: boolean;
      canary: Partial<Record<PayoutState, number>>;
    }
  /** Nothing of the batch was sent yet, and its file cannot be checked now (P34). */
  | { kind: 'file'; batch: string; count: number; why: FileWait }
  /** Nothing of the batch was sent yet, and the service has not answered what `service.extras` asks. `why`: if asked. */
  | { kind: 'check'; batch: string; count: number; why: string | null };

/** How much of a day's limit is used, in decimals. */
export type DailyLimit = {
  currency: string;
  day: string;
  limit: string;
  used: string;
  left: string;
  until: string;
};

/** The present state of the brakes, as one process sees it. Each claim decides again in its own transaction (P2). */
export function createBrakes(deps: {
  ledger: Ledger;
  clock: { iso(): string };
  brakes: Brakes;
  /** The service's clock, as {@link Under} has it. Absent: this process does not ask it. */
  serviceNow?: () => number | null | undefined;
  /** Holds each batch that could be sent up to this day but whose file is not what was read (P34). */
  confirmFiles?(day: string): Promise<void>;
  /** The batches whose files `confirmFiles` could not check. */
  fileWaits?(day: string): Promise<{ batch: string; count: number; why: FileWait }[]>;
}) {
  const { ledger, clock, brakes } = deps;
  const { db } = ledger;
  const today = (): string => dayOf(clock.iso(), brakes.timezone);
  const { serviceNow = () => null } = deps;
  const under = (): Under => ({ brakes, at: clock.iso(), serviceNow: serviceNow() });

  /**
   * Makes the ledger agree with the brakes. Finishes interrupted holds and releases. Holds what needs an approval by today's rule. Halts for a canary that went
   * wrong. Begins today where a wrong clock was far ahead. A claim refuses all this anyway; here it gets its reason and
   * its way out.
   */
  async function settle(): Promise<void> {
    const { dailyLimit } = brakes;
    await finishHolds(ledger, { at: clock.iso(), dailyLimit });
    await holdNeedless();
    // By our clock alone: the service may be heard, and let the day begin, between this look and the claim (P34, P38).
    await deps.confirmFiles?.(today());
    if (brakes.looksAhead) await expireLooks(ledger, clock.iso());
    if ((await standingCanaries(db)).length > 0) await ledger.write((trx) => stopForCanaries(trx, under()));
    if (Object.keys(dailyLimit).length > 0 && (await dailyUse(db, under())).moved)
      await ledger.write((trx) => openDay(trx, under()));
    const heads = await headsOf(db, under());
    const parts = new Map(heads.map((head) => [`${head.currency} ${head.batch} ${head.marked}`, head]));
    for (const part of parts.values()) {
      if (!(await isUnapproved(db, part))) continue;
      const { batch } = part;
      const row = await getBatch(db, batch);
      const causes = await causesNow(db, brakes, { id: batch, totals: await batchTotals(db, batch) });
      const dropper = row?.dropped_by ?? '';
      const holdFor = (why: ApprovalCause) => ({ kind: 'approval' as const, why, dropper });
      const [reason = holdFor({ kind: 'unapproved' }), ...others] = causes.map(holdFor);
      // Approved meanwhile, it would wait for an approval that nobody can give a second time.
      const finding = async (trx: Trx): Promise<boolean> => {
        if (!(await isUnapproved(trx, part))) return false;
        if (!part.marked) await needApproval(trx, batch);
        for (const other of others) await addHoldReason(trx, batch, other);
        return true;
      };
      await holdBatch(ledger, { batch, reason, at: clock.iso(), source: 'brake', finding });
    }
  }

  /**
   * P20: holds what pays a payout again that is no longer unpaid, not on its day only. What is merely in doubt waits for the
   * answer that its claim needs.
   */
  async function holdNeedless(): Promise<void> {
    if ((await needless(db)).length > 0)
      await ledger.write(async (trx) => record(trx, clock.iso(), await needless(trx)));
  }

  async function needless(on: Db | Trx): Promise<RecordEvent[]> {
    const successors = await readySuccessors(on);
    const reasons = await withheldBy(on, successors);
    return successors.flatMap((one) => {
      const reason = reasons.get(one.id);
      return reason?.by === 'predecessor' && reason.advice?.kind === 'drop' ? [withholding(one, reason)] : [];
    });
  }

  /** True for ready payouts that need an approval first; the newest shows it, since approvals cover it last. */
  async function isUnapproved(
    on: Db | Trx,
    { batch, currency, marked }: Pick<Lane, 'batch' | 'currency' | 'marked'>,
  ): Promise<boolean> {
    const last = await on
      .selectFrom('payouts')
      .innerJoin('batches', 'batches.id', 'payouts.batch_id')
      .select(isApproved(brakes).as('approved'))
      .where('payouts.batch_id', '=', batch)
      .where('payouts.currency', '=', currency)
      .where('payouts.approval_needed', '=', marked ? 1n : 0n)
      .where('payouts.state', '=', sql.lit('ready' as const))
      .where('batches.phase', '=', 'loaded')
      .orderBy('payouts.id', 'desc')
      .limit(1)
      .executeTakeFirst();
    if (last === undefined) return false;
    return !Number(last.approved) || (await unmarkedByPayees(on, brakes, [batch])).size > 0;
  }

  /** What is ready but kept back: by its day, by the day's limit, by a canary, or by a file that cannot be checked. */
  async function waits(only: ClaimScope = {}): Promise<KeptReady[]> {
    const found = await lanesOf(db, { ...under(), ...only });
    const waiting: KeptReady[] = [];
    const said = serviceNow() === undefined ? 'unheard' : 'earlier';
    for (const lane of (found?.lanes ?? []).filter(({ waits: why }) => why === 'date')) {
      const { batch, currency, payOn: day } = lane;
      const { count, minor } = await sumOf([lane]);
      const amount = formatMinor(minor, currency);
      waiting.push({
        kind: 'date',
        day,
        batch,
        currency,
        count,
        amount,
        clock: day <= today() ? said : null,
      });
    }
    const limited = (found?.lanes ?? []).filter(({ waits: why }) => why === 'daily limit');
    const parts = found ? await readyParts(db, { ...under(), ...only }, found) : [];
    const limitedParts = parts.filter(({ waits: why }) => why === 'daily limit');
    for (const currency of new Set([...limited, ...limitedParts].map((one) => one.currency))) {
      const ofIt = <One extends { currency: string }>(all: readonly One[]): One[] =>
        all.filter((one) => one.currency === currency);
      const whole = await sumOf(ofIt(limited));
      const count = ofIt(limitedParts).reduce((sum, part) => sum + part.count, whole.count);
      const minor = ofIt(limitedParts).reduce((sum, part) => sum + part.minor, whole.minor);
      const amount = formatMinor(minor, currency);
      waiting.push({ kind: 'daily_limit', currency, count, amount, until: found?.use?.endsAt ?? '' });
    }
    const behind = (found?.lanes ?? []).filter(
      ({ throughId, waits: why }) => throughId !== null && why !== 'date',
    );
    for (const [batch, lanes] of Map.groupBy(behind, (lane) => lane.batch)) {
      const { count } = await sumOf(lanes, true);
      const failed = lanes.some(({ waits: why }) => why === 'failed canary');
      if (count > 0)
        waiting.push({
          kind: 'canary',
          batch,
          count,
          failed,
          canary: await canaryCounts(db, batch),
        });
    }
    for (const one of (await deps.fileWaits?.(throughDay(under()))) ?? [])
      if (!only.payouts && (!only.batches || only.batches.includes(one.batch)))
        waiting.push({ kind: 'file', ...one });
    const unchecked = brakes.looksAhead ? await batchesAwaitingCheck(db, throughDay(under())) : [];
    for (const one of unchecked)
      if (!only.payouts && (!only.batches || only.batches.includes(one.batch)))
        waiting.push({ kind: 'check', ...one });
    return waiting;
  }

  /** `isBehind`: only what the canary keeps back. */
  async function sumOf(lanes: readonly Lane[], isBehind = false): Promise<{ count: number; minor: bigint }> {
    let count = 0;
    let minor = 0n;
    for (const { batch, currency, payOn, marked, throughId } of lanes) {
      let query = db
        .selectFrom('payouts')
        .select((eb) => [eb.fn.countAll<bigint>().as('n'), eb.fn.sum<bigint | null>('amount').as('sum')])
        .where('batch_id', '=', batch)
        .where('currency', '=', currency)
        .where('pay_on', '=', payOn)
        .where('approval_needed', '=', marked ? 1n : 0n)
        .where('state', '=', sql.lit('ready' as const));
      if (isBehind && throughId !== null) query = query.where('id', '>', throughId);
      const row = await query.executeTakeFirstOrThrow();
      count += Number(row.n);
      minor += row.sum ?? 0n;
    }
    return { count, minor };
  }

  /** Payouts of canaries that are pending, and so worth a look-up; of each canary the longest unchanged first. */
  async function unsettled(limit: number): Promise<bigint[]> {
    const ids: bigint[] = [];
    for (const canary of await standingCanaries(db)) {
      if (canary.state === 'failed') continue;
      const rows = await payoutsOf(db, canary)
        .select('id')
        .where('state', '=', 'pending')
        .orderBy('updated_at')
        .limit(limit)
        .execute();
      ids.push(...rows.map(({ id }) => id));
    }
    return ids.slice(0, limit);
  }

  /** How much of each day's limit is used, over all processes. */
  async function daily(): Promise<DailyLimit[]> {
    if (Object.keys(brakes.dailyLimit).length === 0) return [];
    const { day, limits, used, left, endsAt } = await dailyUse(db, under());
    return [...limits].map(([currency, limit]) => ({
      currency,
      day,
      limit: formatMinor(limit, currency),
      used: formatMinor(used.get(currency) ?? 0n, currency),
      left: formatMinor(left.get(currency) ?? 0n, currency),
      until: endsAt,
    }));
  }

  /** True where payouts wait for a day that has come by our clock and not, as far as is known, by the service's (P38). */
  async function clocksDiffer(): Promise<boolean> {
    const found = await lanesOf(db, under());
    return (found?.lanes ?? []).some(({ waits: why, payOn }) => why === 'date' && payOn <= today());
  }

  return { under, settle, waits, unsettled, daily, clocksDiffer };
}
