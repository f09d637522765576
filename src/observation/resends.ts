import type { Mode } from '../domain/payout.ts';
import { loadKnown } from '../ledger/expected.ts';
import { addInquiry, closeInquiry, dueInquiries, resendsAsked } from '../ledger/inquiries.ts';
import type { Ledger } from '../ledger/open.ts';
import type { Clock } from '../runtime/clock.ts';
import type { ServiceClient } from '../service/types.ts';

export type ResendDeps = {
  ledger: Ledger;
  clock: Clock;
  service: ServiceClient;
  /** The throttle of the resend endpoints, shared by all processes on the ledger. False: no permit within the wait. */
  throttle: { take(signal?: AbortSignal): Promise<void> };
  rules: { mode: Mode; perRun: number };
};

/** How often one payout's webhook is asked for at most, over all runs. */
const budgetPerReference = 3;

export type Resends = {
  /** Asks for the webhooks of these payouts again, inside the throttle and budgets. Returns how many were asked. */
  ask(payoutIds: readonly bigint[], signal?: AbortSignal): Promise<number>;
  /** One request by name, for `resend`: payout or collection. Returns the service's word. */
  askByReference(
    kind: 'payout' | 'transaction',
    reference: string,
  ): Promise<{ ok: boolean; message: string }>;
};

/** Resend requests (endpoints 6): targeted recovery, never polling. */
export function createResends(deps: ResendDeps): Resends {
  async function askByReference(
    kind: 'payout' | 'transaction',
    reference: string,
  ): Promise<{ ok: boolean; message: string }> {
    await deps.throttle.take();
    const reply = await deps.service.resendWebhook(kind, reference);
    if (reply.kind === 'trouble') return { ok: false, message: `${reply.reason}: ${reply.message}` };
    return { ok: reply.httpStatus < 300, message: reply.raw.slice(0, 300) };
  }

  return {
    askByReference,
    async ask(payoutIds, signal) {
      const spent = await resendsAsked(deps.ledger.db, payoutIds);
      const wanted = payoutIds
        .filter((id) => (spent.get(id) ?? 0) < budgetPerReference)
        .slice(0, deps.rules.perRun);
      const at = deps.clock.iso();
      await deps.ledger.write(async (trx) => {
        for (const payoutId of wanted)
          await addInquiry(trx, { payoutId, kind: 'resend', reason: 'webhook missing', dueAt: at, rung: 0n });
      });
      const { mode } = deps.rules;
      const dues = await dueInquiries(deps.ledger.db, {
        mode,
        kind: 'resend',
        at,
        limit: deps.rules.perRun,
        payoutIds: wanted,
      });
      let asked = 0;
      for (const due of dues) {
        if (signal?.aborted) break;
        const known = (await loadKnown(deps.ledger.db, [due.payoutId])).get(due.payoutId);
        if (!known) continue;
        const askedAt = deps.clock.iso();
        const { ok, message } = await askByReference('payout', known.payout.reference);
        const outcome = ok ? 'asked' : message.startsWith('throttled') ? 'throttled' : 'error';
        await deps.ledger.write((trx) =>
          closeInquiry(trx, due.id, { askedAt, answeredAt: deps.clock.iso(), outcome, raw: message }),
        );
        if (outcome === 'throttled') break;
        asked += ok ? 1 : 0;
      }
      return asked;
    },
  };
}
