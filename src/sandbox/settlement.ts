import type { PayoutWebhooks } from './announce.ts';
import type { FaultFor } from './faults.ts';
import { createPending, createSchedule } from './schedule.ts';
import type { BookedTransfer } from './transfer.ts';
import type { Book, TransferPatch } from './transfer-book.ts';

export type Settlement = ReturnType<typeof createSettlement>;

/** Settles pending transfers after `settleMs`, and moves their money; a return takes as long again. */
export function createSettlement(deps: {
  book: Book;
  faultFor: FaultFor;
  webhooks: PayoutWebhooks;
  settleMs: number;
}) {
  const { book, faultFor, webhooks, settleMs } = deps;
  const pending = createPending();
  const schedule = createSchedule(pending);

  function change(transfer: BookedTransfer, patch: TransferPatch): void {
    book.change(transfer.id, patch);
    webhooks.changed(transfer);
  }

  function settle(transfer: BookedTransfer): void {
    // A test may have set another end meanwhile; the service does not change it.
    if (transfer.status !== 'pending') return;
    const fault = faultFor(transfer.reference);
    if (fault === 'never_settles') return;
    if (fault === 'fail' || fault === 'status_conflict') {
      change(transfer, { status: 'failed' });
      return;
    }
    change(transfer, { status: 'success', moneyMoved: true, ...book.bankIdentifiers() });
    if (fault === 'return')
      schedule.after(settleMs, () => change(transfer, { status: 'failed', returned: true }));
  }

  return {
    /** Settles the transfer after the delay, or never if its fault says so. */
    begin(transfer: BookedTransfer): void {
      if (faultFor(transfer.reference) !== 'never_settles') schedule.after(settleMs, () => settle(transfer));
    },
    /** Settles now what is due later, one stage at a time: a return follows its success in the next. */
    flush: schedule.flush,
    waiting: pending.count,
    idle: pending.idle,
    stop: schedule.stop,
  };
}
