import { counted } from '../../../core/domain/counted.ts';
import type { PayoutState } from '../../../core/domain/payout.ts';
import type { JsonOf } from '../../../core/shapes/json-shapes.ts';
import type { Weighed, WeighedCase } from '../../../watching/evidence/weigh.ts';
import { firstOf } from '../../../words/row-messages.ts';
import { stateWords } from '../../../words/state-words.ts';
import { evidenceJson, type QuietWatch } from '../../json/evidence-json.ts';
import type { Result } from '../context/result.ts';
import { remedyText } from '../kit/remedy-text.ts';
import type { Terminal } from '../kit/terminal.ts';
import { wrapAll } from '../kit/wrap.ts';
import { evidenceFacts, evidenceLines } from './evidence-lines.ts';
import { evidenceTable } from './evidence-table.ts';

/** What a person decides about the payouts; `filters` choose them where none is named. */
export type SettleOrder = {
  as: 'success' | 'failed';
  note: string;
  filters: { batch?: string; kind?: string };
};

export type Settled = { reference: string; state: PayoutState };
/** A payout that was not settled; `isDone`: it has ended as the person says. */
export type Left = Settled & { why: string; isDone: boolean };

type Seen = { shown: Weighed; watch: QuietWatch; terminal: Terminal; open: readonly WeighedCase[] };

const named = { success: 'paid', failed: 'not paid' } as const;

/** What each verdict means for the ledger; printed before the question. */
const meanings = {
  success: 'as paid: it counts as paid on your decision, and is never sent again',
  failed:
    'as not paid: it counts as not paid on your decision, and nothing is sent. To pay it, use a new reference in a new file. If the service shows it later, it is reopened and reported',
} as const;

/** What a person sees before the question: one payout whole, or many as a table with what will not be settled. */
export function before(
  { shown, watch, terminal, open }: Seen,
  left: readonly Left[],
  { as }: SettleOrder,
): string[] {
  const [one] = open;
  const meaning = `  settling   ${meanings[as]}`;
  if (shown.cases.length === 1 && one)
    return [...evidenceFacts(shown, terminal), ...wrapAll([...beside(one), meaning], terminal.width, 11), ''];
  const table = evidenceTable({ ...shown, cases: [...open] }, { watch, terminal });
  return [...table, '', ...leftLines(left), ...wrapAll([meaning], terminal.width, 11), ''];
}

export function settleQuestion(open: readonly WeighedCase[], { as }: SettleOrder): string {
  const [one] = open;
  const what = open.length === 1 && one ? one.payout.reference : counted(open.length, 'payout');
  return `Settle ${what} as ${named[as]}?`;
}

/** Nothing may be settled: 0 where all have ended so, else 2. */
export function nothingSettled({ shown, watch }: Seen, left: readonly Left[]): Result {
  const refused = left.filter(({ isDone }) => !isDone);
  const [first, ...others] = refused;
  const json = { shape: 'settle', fields: jsonOf({ shown, watch }, [], left) } as const;
  if (!first) return { code: 0, lines: left.map(({ why }) => why), json };
  const more = others.length > 0 ? ` (and ${others.length} more)` : '';
  return { code: 2, problem: `${first.why}${more}`, lines: left.length > 1 ? leftLines(left) : [], json };
}

/** 0 where each payout is closed as the person says; 4 where some need another decision; 2 where nothing was done. */
export function settledResult(
  about: Seen & { settled: readonly Settled[]; left: readonly Left[]; person: string; order: SettleOrder },
): Result {
  const { shown, watch, terminal, settled, left, person, order } = about;
  const refused = left.filter(({ isDone }) => !isDone);
  const fields = { ...jsonOf({ shown, watch }, settled, left), note: order.note };
  const [one] = settled;
  if (!one) {
    const problem = refused[0]?.why ?? 'nothing was settled';
    return {
      code: 2,
      problem,
      lines: evidenceLines(shown, { watch, terminal }),
      json: { shape: 'settle', fields: { ...fields, error: problem } },
    };
  }
  const single = shown.cases.length === 1;
  const done = single
    ? `${one.reference}: ${stateWords[one.state]}, decided by ${person}.`
    : `${counted(settled.length, 'payout')} settled as ${named[order.as]}, decided by ${person}.`;
  const next = single ? `counterfoil show ${one.reference}` : 'counterfoil discrepancies';
  return {
    code: refused.length > 0 ? 4 : 0,
    screen: {
      blocks: [
        [
          done,
          ...leftLines(left),
          `Later evidence from the service reopens ${settled.length === 1 ? 'it' : 'them'}.`,
        ],
      ],
      end: { Next: next },
    },
    json: { shape: 'settle', fields },
  };
}

/** What was not settled, one line for each reason. */
function leftLines(left: readonly Left[]): string[] {
  if (left.length === 0) return [];
  const reasons = Map.groupBy(left, ({ reference, why }) => why.replaceAll(reference, 'REFERENCE'));
  const lines = [...reasons].map(([why, all]) => {
    const [only] = all;
    if (all.length === 1 && only) return `  ${only.why}`;
    return `  ${firstOf(all.map(({ reference }) => reference))}: ${why}`;
  });
  return [`${counted(left.length, 'payout')} not settled:`, ...lines];
}

function jsonOf(
  { shown, watch }: Pick<Seen, 'shown' | 'watch'>,
  settled: readonly Settled[],
  left: readonly Left[],
): JsonOf<'settle'> {
  const [only] = [...settled, ...left];
  return {
    ...evidenceJson(shown, watch),
    settled,
    not_settled: left.map(({ reference, state, why }) => ({ reference, state, why })),
    ...(shown.cases.length === 1 && only && { reference: only.reference, state: only.state }),
  };
}

/** Returns why the payout is not settled, and what to do instead. */
export function refusal(one: WeighedCase, as: PayoutState): string {
  const { reference, state, evidence } = one.payout;
  const help = remedyText(one);
  if (one.remedies.includes('wait')) return `${reference} is being sent right now. Nothing was done: ${help}`;
  const by = evidence === '' ? '' : ` by ${evidence}`;
  const nothing = state === as ? 'Nothing needs settling' : 'Nothing was done';
  return `${reference} is ${stateWords[state]}${by}, and nothing contradicts that. ${nothing}: ${help}`;
}

/** Returns a warning when the service contradicts the person now, so that they decide knowingly. */
function beside({ verdict }: WeighedCase): string[] {
  if (verdict !== 'pending') return [];
  return ['  WARNING    the service shows it pending now: while it does so, the next run opens it again'];
}
