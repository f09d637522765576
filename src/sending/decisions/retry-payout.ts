import type { ServiceAccount } from '../../core/domain/origin.ts';
import type { PayoutState } from '../../core/domain/payout.ts';
import { addHoldReason, areHolding, type HoldReason, readReasons } from '../../core/ledger/hold-reasons.ts';
import type { RecordEvent } from '../../core/ledger/projection.ts';
import { record } from '../../core/ledger/record.ts';
import { insertSuccessors } from '../../core/ledger/successors.ts';
import type { Clock } from '../../core/runtime/clock.ts';
import type { Ledger, Trx } from '../../core/storage/ledger.ts';
import { type Weighed, type WeighedCase, weigh } from '../../watching/evidence/weigh.ts';
import type { SayFault } from './retry-findings.ts';
import { draftSuccessors, lastLink, overLimit } from './successor.ts';

export type DecisionDeps = {
  ledger: Ledger;
  clock: Clock;
  rules: {
    referencePrefix: string;
    payoutLimit: Record<string, string>;
    /** The account that this configuration reaches (P31); null where it has no key. */
    account?: ServiceAccount | null;
  };
  say: SayFault;
  /** Why payouts that are paid again now wait in their batches: the same payments came since in other files. */
  alike?: (trx: Trx, ids: readonly bigint[], at: string) => Promise<ReadonlyMap<string, HoldReason[]>>;
};

/** One payout that a person ordered to be sent: the same one again, or a successor. */
export type Decided = {
  id: bigint;
  /** The reference under which it is sent. */
  reference: string;
  predecessor: string | null;
  state: PayoutState;
};

export type Decision = { kind: 'decided'; decided: Decided[] } | { kind: 'changed'; now: Weighed };

export type RetryOrder = {
  ids: readonly bigint[];
  /** When the look-up for this decision began, ISO UTC. */
  since: string;
  digest: string;
  person: string;
};

/**
 * Records a person's order to send payouts again, in one transaction. Nothing changes unless the evidence is still what
 * the person saw (P20). Payouts that the evidence does not allow are left out.
 */
export async function decideRetry(deps: DecisionDeps, order: RetryOrder): Promise<Decision> {
  return deps.ledger.write(async (trx): Promise<Decision> => {
    const { ids, since } = order;
    const now = await weigh(trx, { ...groundOf(deps.rules), ids, since });
    if (now.digest !== order.digest) return { kind: 'changed', now };
    const at = deps.clock.iso();
    const again = now.cases.filter(({ judgement }) => judgement.kind === 'again');
    const anew = now.cases.filter(({ judgement }) => judgement.kind === 'successor');
    const ordered = [...again, ...anew].map(({ payout }) => payout.id);
    const alike = (await deps.alike?.(trx, ordered, at)) ?? new Map<string, HoldReason[]>();
    for (const [batch, reasons] of alike)
      for (const reason of reasons) await addHoldReason(trx, batch, reason);
    const held = new Set(alike.keys());
    const sent = await sendAgain(trx, at, again, { ...order, held });
    const paid = await payAnew(trx, at, anew, deps.rules, { ...order, held });
    return { kind: 'decided', decided: [...sent, ...paid] };
  });
}

/** The part of the rules by which evidence is weighed. */
export function groundOf({ referencePrefix: prefix, account = null }: DecisionDeps['rules']) {
  return { prefix, account };
}

/** `held`: the batches in which what is ordered waits. */
type Ordered = RetryOrder & { held: ReadonlySet<string> };

async function sendAgain(trx: Trx, at: string, cases: WeighedCase[], order: Ordered): Promise<Decided[]> {
  const events = cases.map(({ payout, batch }): RecordEvent => {
    const isHeld = order.held.has(batch.id) || areHolding(readReasons(batch.hold_reasons), payout);
    const to = isHeld ? 'held' : 'ready';
    const event = { kind: 'retry' as const, to, automatic: false, why: whyOf(order) } as const;
    return { payoutId: payout.id, source: `person:${order.person}`, event };
  });
  const recorded = await record(trx, at, events);
  const referenceOf = new Map(cases.map(({ payout }) => [payout.id, payout.reference]));
  return recorded.map(({ payoutId, to }) => ({
    id: payoutId,
    reference: referenceOf.get(payoutId) ?? '',
    predecessor: null,
    state: to,
  }));
}

/** Makes successors. They are new orders of money: their batch's hold and the limits apply to them as to any row. */
async function payAnew(
  trx: Trx,
  at: string,
  cases: WeighedCase[],
  rules: DecisionDeps['rules'],
  order: Ordered,
): Promise<Decided[]> {
  const held = new Set<string>(order.held);
  for (const [batch, own] of Map.groupBy(cases, (one) => one.batch.id)) {
    const reasons = readReasons(own[0]?.batch.hold_reasons ?? '[]');
    const above = overLimit(own, rules.payoutLimit);
    if (above) await addHoldReason(trx, batch, above);
    // P20: what was added to an approved batch was never approved itself.
    const needs = own.some((one) => one.batch.approval_needed === 1n || one.payout.approval_needed === 1n);
    if (needs) {
      const dropper = own[0]?.batch.dropped_by ?? '';
      await addHoldReason(trx, batch, {
        kind: 'approval',
        why: { kind: 'successor' },
        dropper,
        scope: 'successors',
      });
    }
    if (above || needs || own.some(({ payout }) => areHolding(reasons, payout))) held.add(batch);
  }
  const drafts = await draftSuccessors(trx, cases, {
    at,
    prefix: rules.referencePrefix,
    stateOf: ({ batch }) => (held.has(batch.id) ? 'held' : 'ready'),
  });
  const decidedBy = `person:${order.person}`;
  const rows = cases.flatMap((one, i) => {
    const payout = drafts[i];
    const why = whyOf(order);
    return payout
      ? [{ payout, of: one.payout.reference, predecessor: lastLink(one).reference, decidedBy, why }]
      : [];
  });
  const ids = await insertSuccessors(trx, at, rows);
  const events = rows.map(({ payout }): RecordEvent => {
    const by = `${payout.reference}, ${whyOf(order)}`;
    return { payoutId: payout.successor_of, source: decidedBy, event: { kind: 'replaced', by } };
  });
  await record(trx, at, events);
  return rows.map(({ payout, of: predecessor }) => ({
    id: ids.get(payout.reference) ?? 0n,
    reference: payout.reference,
    predecessor,
    state: payout.state,
  }));
}

function whyOf({ person, digest }: RetryOrder): string {
  return `decided by ${person} on evidence ${digest}`;
}
