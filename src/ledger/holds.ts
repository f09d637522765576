import type { Mode } from '../domain/payout.ts';
import { setHoldReasons } from './batches.ts';
import type { Ledger, Trx } from './open.ts';
import { type RecordEvent, type Recorded, record } from './record.ts';
import { whyWithheld, withholder } from './withheld.ts';

const chunk = 1000;
const shownKept = 10;

/** What a release let go, and what must not be sent all the same: how many, and the first of them with the reason. */
type Released = { moved: number; kept: number; first: { reference: string; why: string }[] };

/**
 * Moves a batch's unsent payouts to `held`, in chunks; each is a compare-and-set, so that what is already on its way is
 * left alone (P21). Returns how many moved.
 */
export async function holdBatch(
  ledger: Ledger,
  { mode, batch, reason, at }: { mode: Mode; batch: string; reason: string; at: string },
): Promise<number> {
  let moved = 0;
  for (;;) {
    const done = await ledger.write(async (trx) => {
      const rows = await trx
        .selectFrom('payouts')
        .select('id')
        .where('mode', '=', mode)
        .where('batch_id', '=', batch)
        .where('state', '=', 'ready')
        .limit(chunk)
        .execute();
      // The reasons are there while anything may be held by them, so that a crash leaves nothing held without one.
      if (moved === 0) await setHoldReasons(trx, batch, [reason]);
      const event = { kind: 'hold' as const, why: reason };
      await record(
        trx,
        at,
        rows.map((row) => ({ payoutId: row.id, source: 'person', event })),
      );
      return rows.length;
    });
    moved += done;
    if (done < chunk) return moved;
  }
}

/**
 * Lets a batch's held payouts go, but for those that would be paid twice: these stay held and say so. Goes over the
 * batch until nothing moves any more, since another process may hold what this one has passed.
 */
export async function releaseBatch(
  ledger: Ledger,
  { mode, batch, at }: { mode: Mode; batch: string; at: string },
): Promise<Released> {
  let moved = 0;
  for (;;) {
    const pass: Released = { moved: 0, kept: 0, first: [] };
    for (let after: bigint | null = 0n; after !== null; ) after = await releaseSome(after, pass);
    moved += pass.moved;
    // The reasons go in the transaction that saw everything let go, so that a crash leaves nothing held without one.
    if (pass.moved + pass.kept < chunk || pass.moved === 0) return { ...pass, moved };
  }

  async function releaseSome(after: bigint, pass: Released): Promise<bigint | null> {
    const done = await ledger.write(async (trx) => {
      const rows = await trx
        .selectFrom('payouts')
        .select(['id', 'reference', 'attempt_count', 'successor_of', 'message'])
        .where('mode', '=', mode)
        .where('batch_id', '=', batch)
        .where('state', '=', 'held')
        .where('id', '>', after)
        .orderBy('id')
        .limit(chunk)
        .execute();
      const reasons = await whyWithheld(trx, mode, rows);
      const events = rows.flatMap(({ id, message }) => releaseOf(id, reasons.get(id), message));
      await record(trx, at, events);
      const last = rows.length < chunk;
      const free = rows.length - reasons.size;
      if (last && (after === 0n || pass.moved + free === 0)) await setHoldReasons(trx, batch, []);
      return { rows, reasons, free, next: last ? null : (rows.at(-1)?.id ?? null) };
    });
    pass.moved += done.free;
    pass.kept += done.reasons.size;
    for (const { id, reference } of done.rows) {
      const why = done.reasons.get(id);
      if (why !== undefined && pass.first.length < shownKept) pass.first.push({ reference, why });
    }
    return done.next;
  }
}

/** What must not be sent is held anew under its own reason, unless it says that already. */
function releaseOf(payoutId: bigint, why: string | undefined, message: string | null): RecordEvent[] {
  if (why !== undefined && why === message) return [];
  const released: RecordEvent = { payoutId, source: 'person', event: { kind: 'release' } };
  return why === undefined
    ? [released]
    : [released, { payoutId, source: withholder, event: { kind: 'hold', why } }];
}

/** What an answer made `ready` again waits with its batch, where that was held while the request was under way (P21). */
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
