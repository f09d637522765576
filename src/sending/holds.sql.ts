import { isDeepStrictEqual } from 'node:util';
import type { Reason } from '../domain/advice.ts';
import { type Withheld, withheldBy, withholding } from '../evidence/withheld.ts';
import { releaseFile } from '../ledger/batch-files.ts';
import { type HoldReason, readReasons, setHoldReasons } from '../ledger/hold-reasons.ts';
import type { RecordEvent } from '../ledger/projection.ts';
import { type Recorded, record } from '../ledger/record.ts';
import type { Ledger, Trx } from '../storage/ledger.ts';
import type { Payout } from '../storage/tables/tables.ts';
import { limitsOf } from './daily-limit.ts';
import { holdNote } from './hold-facts.ts';
import { tooLarge } from './limits.sql.ts';
import { acceptPrecheck } from './precheck.sql.ts';

const chunk = 1000;
const shownKept = 10;

type Reasoned = { reference: string } & Reason;

/** What a release let go, and what it did not: how many, and the first of them with the reason. */
type Released = {
  moved: number;
  /** Stay held. */
  kept: number;
  first: Reasoned[];
  /** Retries that are unknown again, since the service shows a transfer. */
  doubted: number;
  firstDoubted: Reasoned[];
  /** The reasons that keep all of it held: only another command lifts them. */
  stays: HoldReason[];
};

/** Adds a reason to those that hold a batch; each is lifted by its own command. */
export async function addHoldReason(trx: Trx, batch: string, reason: HoldReason): Promise<void> {
  const reasons = await reasonsOf(trx, batch);
  if (!reasons.some((one) => isDeepStrictEqual(one, reason)))
    await setHoldReasons(trx, batch, [...reasons, reason]);
}

async function reasonsOf(trx: Trx, batch: string): Promise<HoldReason[]> {
  const row = await trx
    .selectFrom('batches')
    .select('hold_reasons')
    .where('id', '=', batch)
    .executeTakeFirst();
  return readReasons(row?.hold_reasons ?? '[]');
}

/**
 * Moves a batch's unsent payouts to `held`, in chunks, and returns how many moved. Each move is a compare-and-set, so it
 * leaves alone what is already on its way (P21). `finding`: writes what the reason follows from, in the first transaction,
 * so that nobody can accept a finding whose reason was never shown. Where it returns false, nothing is held.
 */
export async function holdBatch(
  ledger: Ledger,
  {
    batch,
    reason,
    at,
    source = 'person',
    finding = async () => true,
  }: {
    batch: string;
    reason: HoldReason;
    at: string;
    source?: string;
    finding?: (trx: Trx) => Promise<boolean>;
  },
): Promise<number> {
  let moved = 0;
  for (;;) {
    const done = await ledger.write(async (trx) => {
      if (moved === 0 && !(await finding(trx))) return 0;
      const rows = await trx
        .selectFrom('payouts')
        .select('id')
        .where('batch_id', '=', batch)
        .where('state', '=', 'ready')
        .limit(chunk)
        .execute();
      // The reason is written with the first payouts, so that a crash leaves nothing held without a reason.
      if (moved === 0) await addHoldReason(trx, batch, reason);
      const event = { kind: 'hold' as const, why: holdNote(reason) };
      await record(
        trx,
        at,
        rows.map((row) => ({ payoutId: row.id, source, event })),
      );
      return rows.length;
    });
    moved += done;
    if (done < chunk) return moved;
  }
}

/**
 * Releases a batch's held payouts. Those that could be paid twice, or are above a whole day's limit, stay held and say
 * why. While the batch waits for an approval, all of it stays held and only the other reasons go. It repeats until
 * nothing moves any more, since another process may hold what this one has passed.
 */
export async function releaseBatch(
  ledger: Ledger,
  {
    batch,
    at,
    dailyLimit = {},
    lifts = ({ kind }) => kind !== 'approval',
    source = 'person',
  }: {
    batch: string;
    at: string;
    dailyLimit?: Record<string, string>;
    /** True for the reasons that this release lifts; while another one is there, all of the batch stays held. */
    lifts?: (reason: HoldReason) => boolean;
    /** Who decided, for the history. */
    source?: string;
  },
): Promise<Released> {
  const limits = limitsOf(dailyLimit);
  let moved = 0;
  // The next pass does not see what became unknown.
  let doubted = 0;
  const firstDoubted: Reasoned[] = [];
  for (;;) {
    const pass: Released = { moved: 0, kept: 0, first: [], doubted: 0, firstDoubted, stays: [] };
    for (let after: bigint | null = 0n; after !== null; ) after = await releaseSome(after, pass);
    moved += pass.moved;
    doubted += pass.doubted;
    if (pass.stays.length > 0) return { ...pass, moved, doubted };
    // The transaction that saw everything released removes the reasons: a crash leaves nothing held without one.
    if (pass.moved + pass.kept + pass.doubted < chunk || pass.moved === 0) return { ...pass, moved, doubted };
  }

  async function releaseSome(after: bigint, pass: Released): Promise<bigint | null> {
    const done = await ledger.write(async (trx) => {
      const stays = (await reasonsOf(trx, batch)).filter((reason) => !lifts(reason));
      if (stays.length > 0) {
        await setHoldReasons(trx, batch, stays);
        return { rows: [], reasons: new Map<bigint, Withheld>(), free: 0, next: null, stays };
      }
      await acceptPrecheck(trx, batch);
      await releaseFile(trx, batch, { lookAgain: ledger.place.kind === 'sqlite' });
      const rows = await trx
        .selectFrom('payouts')
        .select([
          'id',
          'reference',
          'submitted_at',
          'successor_of',
          'withheld_by',
          'message',
          'currency',
          'amount',
        ])
        .where('batch_id', '=', batch)
        .where('state', '=', 'held')
        .where('id', '>', after)
        .orderBy('id')
        .limit(chunk)
        .execute();
      const reasons = new Map([...tooLarge(rows, limits), ...(await withheldBy(trx, rows))]);
      const events = rows.flatMap((row) => releaseOf(row, reasons.get(row.id), source));
      await record(trx, at, events);
      const last = rows.length < chunk;
      const free = rows.length - reasons.size;
      if (last && (after === 0n || pass.moved + free === 0)) await setHoldReasons(trx, batch, []);
      return { rows, reasons, free, next: last ? null : (rows.at(-1)?.id ?? null), stays };
    });
    pass.stays = done.stays;
    pass.moved += done.free;
    for (const row of done.rows) {
      const reason = done.reasons.get(row.id);
      if (reason) count(row, reason, pass);
    }
    return done.next;
  }
}

/** Counts a payout that a release did not let go: it stays held, or is unknown again. */
function count(row: HeldBack, reason: Withheld, pass: Released): void {
  const unknown = releaseOf(row, reason, 'person').at(-1)?.event.kind === 'doubted';
  if (unknown) pass.doubted++;
  else pass.kept++;
  const first = unknown ? pass.firstDoubted : pass.first;
  const { why, advice } = reason;
  if (first.length < shownKept) first.push({ reference: row.reference, why, advice });
}

type HeldBack = Pick<Payout, 'id' | 'reference' | 'submitted_at' | 'withheld_by' | 'message'>;

/**
 * The events of one payout in a release. One that must not be sent is held again under its own reason, unless it is held
 * for that already. Of a predecessor the state may have changed, and with it the way out that the message names.
 */
function releaseOf(
  row: Omit<HeldBack, 'reference'>,
  reason: Withheld | undefined,
  source: string,
): RecordEvent[] {
  if (reason && reason.by === row.withheld_by && (reason.by !== 'predecessor' || reason.why === row.message))
    return [];
  const released: RecordEvent = { payoutId: row.id, source, event: { kind: 'release' } };
  return reason === undefined ? [released] : [released, withholding(row, reason)];
}

/** Holds a payout that an answer made `ready` again, where its batch was held while the request was under way (P21). */
export async function holdReturned(trx: Trx, at: string, recorded: readonly Recorded[]): Promise<void> {
  const back = recorded.flatMap(({ payoutId, to }) => (to === 'ready' ? [payoutId] : []));
  if (back.length === 0) return;
  const rows = await trx
    .selectFrom('payouts')
    .innerJoin('batches', 'batches.id', 'payouts.batch_id')
    .select('payouts.id')
    .where('payouts.id', 'in', back)
    .where('batches.hold_reasons', '<>', '[]')
    .execute();
  const event = { kind: 'hold' as const, why: 'its batch was held while the request was under way' };
  await record(
    trx,
    at,
    rows.map(({ id }) => ({ payoutId: id, source: 'person', event })),
  );
}
