import { counted } from '../../../core/domain/counted.ts';
import { formatMinor } from '../../../core/domain/money.ts';
import type { Mode, PayoutState } from '../../../core/domain/payout.ts';
import type { Payout } from '../../../core/storage/tables/tables.ts';
import type { Decided } from '../../../sending/decisions/retry-payout.ts';
import type { Weighed } from '../../../watching/evidence/weigh.ts';
import { reasonText, submitCommand } from '../../../words/advice-text.ts';
import { plainCause } from '../../../words/plain-words.ts';
import { stateWords } from '../../../words/state-words.ts';
import { evidenceJson, type QuietWatch } from '../../json/evidence-json.ts';
import { type Result, worst } from '../context/result.ts';
import { totalsText } from '../kit/describe.ts';
import { remedyText } from '../kit/remedy-text.ts';

/** What came of sending: `waits` says why something was not sent, `failed` what stopped it half-way. */
export type SaidSent = { kind: 'sent' } | { kind: 'waits'; why: string } | { kind: 'failed'; why: string };

type Outcome = {
  shown: Weighed;
  watch: QuietWatch;
  decided: readonly Decided[];
  states: readonly Pick<Payout, 'id' | 'state' | 'message'>[];
  sent: SaidSent;
  left: number;
};

export function decisionQuestion({ cases }: Weighed, willSend: boolean): string {
  const possible = cases.filter(({ judgement }) => judgement.kind !== 'no').map(({ payout }) => payout);
  const sums = Map.groupBy(possible, ({ currency }) => currency);
  const totals = [...sums].map(([currency, own]) => {
    const sum = own.reduce((total, { amount }) => total + amount, 0n);
    return [currency, formatMinor(sum, currency)] as const;
  });
  const what = `${possible.length} of ${counted(cases.length, 'payout')} again, ${totalsText(Object.fromEntries(totals))}`;
  return willSend ? `Send ${what}?` : `Order that ${what} go out with the next submit? Nothing is sent now.`;
}

/** The requested payouts that the service has: they need no decision. */
export function nothingNeeded({ cases }: Weighed): { reference: string; state: PayoutState; text: string }[] {
  return cases.flatMap((one) => {
    const { payout, judgement } = one;
    if (judgement.kind !== 'no' || !one.had) return [];
    const { reference, state } = payout;
    const is = judgement.why.replace(/^it /, '');
    return { reference, state, text: `${reference} ${is}. Nothing needs sending again.` };
  });
}

/** The requested payouts that must not be sent again, each with the reason and what to do instead. */
export function refusals({ cases }: Weighed): { reference: string; why: string }[] {
  return cases.flatMap((one) => {
    const { payout, judgement } = one;
    if (judgement.kind !== 'no' || one.had) return [];
    return [{ reference: payout.reference, why: `${reasonText(judgement)}. ${remedyText(one)}` }];
  });
}

export function describeDecided(outcome: Outcome, mode: Mode): Result {
  const { shown, watch, sent, left } = outcome;
  const done = doneOf(outcome);
  const had = nothingNeeded(shown);
  const refused = refusals(shown);
  const waits = sent.kind === 'waits' ? sent.why : '';
  const submit = `${submitCommand(mode)} sends it`;
  const lines = [
    ...done.map(({ reference, pays_again, state, message }) => {
      const what = pays_again === null ? `${reference} again` : `${reference} pays ${pays_again} again`;
      // A payout that was not sent has no answer yet.
      const goes = state === 'ready' && sent.kind === 'waits' && waits === '';
      if (state === 'ready' || state === 'held')
        return `${what}: ${stateWords[state]}${goes ? `; ${submit}` : ''}`;
      return `${what}: ${stateWords[state]}${message ? `  ${plainCause(message)}` : ''}`;
    }),
    ...had.map(({ text }) => text),
    ...refused.map(({ reference, why }) => `refused  ${reference}: ${why}`),
    ...heldBatches(shown, done),
    ...(waits === '' ? [] : [waits]),
    ...(left > 0 ? [`${left} more wait for a decision: run the command again`] : []),
  ];
  const needsPerson =
    left > 0 || waits !== '' || done.some(({ state }) => state === 'held' || state === 'unknown');
  return {
    code: worst(sent.kind === 'failed' ? 1 : 0, refused.length > 0 ? 3 : 0, needsPerson ? 4 : 0),
    ...(sent.kind === 'failed' && { problem: sent.why }),
    lines,
    json: {
      shape: 'retry',
      fields: {
        ...evidenceJson(shown, watch),
        decided: done,
        refused,
        ...(had.length > 0 && { nothing_needed: had }),
        waits: waits === '' ? null : waits,
      },
    },
  };
}

type Done = { reference: string; pays_again: string | null; state: PayoutState; message: string | null };

function doneOf({ decided, states }: Outcome): Done[] {
  const stateOf = new Map(states.map((one) => [one.id, one]));
  return decided.map((one) => {
    const { state, message } = stateOf.get(one.id) ?? { state: one.state, message: null };
    return { reference: one.reference, pays_again: one.predecessor, state, message };
  });
}

/**
 * The batches that hold decided payouts, each with the command that releases it. The batch is that of the payout, or of
 * the payout that it pays again.
 */
function heldBatches({ cases }: Weighed, done: readonly Done[]): string[] {
  const held = new Set(
    done.flatMap((one) => (one.state === 'held' ? [one.pays_again ?? one.reference] : [])),
  );
  return [
    ...new Set(
      cases.flatMap(({ payout, batch }) => {
        if (!held.has(payout.reference)) return [];
        const { id } = batch;
        // A successor in a batch that needs approvals waits for one of its own (P20).
        const needsApproval =
          batch.approval_needed === 1n && done.some((one) => one.pays_again === payout.reference);
        return [`held: ${id} waits for counterfoil ${needsApproval ? 'approve' : 'release'} ${id}`];
      }),
    ),
  ];
}
