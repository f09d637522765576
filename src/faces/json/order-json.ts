import type { NotReleasedJson } from '../../core/shapes/batch-shapes.ts';
import type { JsonOf } from '../../core/shapes/json-shapes.ts';
import type { Discrepancy } from '../../core/storage/tables/tables.ts';
import type { Released } from '../../sending/released.ts';
import type { ApprovalOutcome } from '../../verbs/approve.ts';
import type { CancelOutcome } from '../../verbs/cancel.ts';
import type { DecisionOutcome } from '../../verbs/decide-discrepancies.ts';
import type { HoldOutcome } from '../../verbs/hold.ts';
import type { ReleaseOutcome } from '../../verbs/release.ts';
import type { ResendOutcome } from '../../verbs/resend.ts';
import { reasonText } from '../../words/advice-text.ts';
import { haltCauseText, sayHalt } from '../../words/halt-words.ts';
import { holdTexts, sightOfAll } from '../../words/hold-words.ts';
import { rejectedJson } from '../../words/rejected-words.ts';

/** What a command prints, and the API answers, after an order. */

export function approveJson(
  { batch, others, released, approval }: ApprovalOutcome,
  sight = sightOfAll,
): JsonOf<'approve'> {
  const { by, at, digest } = approval;
  const json = { batch, approved_by: by, approved_at: at, digest };
  if (released === null) return { ...json, released: 0, hold_reasons: holdTexts(others, batch, sight) };
  const hold_reasons = holdTexts(released.stays, batch, sight);
  return { ...json, released: released.moved, ...notReleasedJson(released), hold_reasons };
}

export function holdJson({ batch, moved, underWay, ended }: HoldOutcome): JsonOf<'hold'> {
  const sending = underWay.sending ?? 0;
  return { batch, held: moved, sending, under_way: underWay, released_since: ended };
}

export function releaseJson(done: ReleaseOutcome, sight = sightOfAll): JsonOf<'release'> {
  const { batch, released, canary, unanswered, sending, halt } = done;
  return {
    batch,
    released: released.moved,
    sending,
    ...notReleasedJson(released),
    hold_reasons: holdTexts(released.stays, batch, sight),
    canary: canary ? haltCauseText(canary.causes) : null,
    unanswered,
    halted: sayHalt(halt) ?? null,
  };
}

function notReleasedJson({ kept, first, doubted, firstDoubted }: Released): NotReleasedJson {
  return { kept, kept_first: said(first), unknown: doubted, unknown_first: said(firstDoubted) };
}

/** Payouts, each with the reason in words. */
export function said(first: Released['first']): { reference: string; why: string }[] {
  return first.map(({ reference, ...reason }) => ({ reference, why: reasonText(reason) }));
}

export function cancelJson(done: CancelOutcome): JsonOf<'cancel'> {
  const { cancelled, withdrawn, listed } = done.done;
  if (done.kind === 'payout') return { reference: done.reference, state: done.state, cancelled, withdrawn };
  return { batch: done.batch, state: done.state, cancelled, withdrawn, listed, under_way: done.underWay };
}

export function decidedJson({ verdict, changed, already, open, files }: DecisionOutcome): JsonOf<'ack'> {
  return { verdict, changed, already: already.map(alreadyText), open, files: files.map(rejectedJson) };
}

function alreadyText({ id, state, resolved_by, note }: Discrepancy): string {
  const by = state === 'resolved' ? ` by ${resolved_by === 'person' ? 'a person' : 'evidence'}` : '';
  return `${id} is ${state}${by} already${note === '' ? '' : `: ${note}`}`;
}

export const notAskedYet =
  'not asked yet: the rate limit or the service delays it. It stays on the list: counterfoil serve, or the next reconcile, asks for it';

export function resendJson({ asked }: ResendOutcome): JsonOf<'resend'> {
  return {
    asked: asked.map(({ reference, answer }) => {
      return { reference, ok: answer?.outcome === 'asked', message: answer?.message ?? notAskedYet };
    }),
  };
}
