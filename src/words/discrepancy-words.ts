import { z } from 'zod';
import { firstNames } from '../books/discrepancies/offers.ts';
import { type DiscrepancyKind, kindRules } from '../core/domain/discrepancy-kinds.ts';
import { isReference } from '../core/domain/ids.ts';
import { whyElsewhere } from '../core/domain/origin.ts';
import type { Discrepancy } from '../core/storage/tables/tables.ts';

/** What a finance officer does about a kind, the same in short, and a command that shows more or asks before it acts. */
type Words = { step: string; action: string; command: 'show' | 'resend' | 'retry' };

const words: Readonly<Record<DiscrepancyKind, Words>> = {
  missing_at_service: {
    step: 'Ask the service where it is; do not pay it again',
    action:
      'Ask the service where this transfer is, giving its reference, and the transfer id and trx where they are shown. Do not pay it again until they answer; then close it with counterfoil settle.',
    command: 'show',
  },
  missing_in_ledger: {
    step: 'Find out who ordered it; if nobody did, change the keys',
    action:
      'Find out who ordered this transfer: somebody here, by hand at the service or with the keys, or it was paid from here after a backup that was restored later. If neither, report it to the service and change the keys.',
    command: 'show',
  },
  status_conflict: {
    step: 'Ask the service which status is true; pay nothing again',
    action:
      'Ask the service in writing which status is true, and check the bank statement. Pay nothing again before that; then close it with counterfoil settle.',
    command: 'show',
  },
  amount_conflict: {
    step: 'Stop payments to this beneficiary; ask the service why',
    action: 'Stop further payments to this beneficiary and ask the service why the amount differs.',
    command: 'show',
  },
  currency_conflict: {
    step: 'Ask the service what was really debited',
    action:
      'Ask the service why the currency differs and what was really debited. Pay nothing again before that.',
    command: 'show',
  },
  beneficiary_conflict: {
    step: 'Urgent: ask the service to stop or recall it',
    action:
      'Urgent: the money may be going to another account. Ask the service to stop or recall the transfer.',
    command: 'show',
  },
  fee_conflict: {
    step: 'Claim the difference with the next invoice',
    action: 'Compare the fee with the contract and claim the difference with the next invoice.',
    command: 'show',
  },
  mode_conflict: {
    step: 'Check the keys; ask the service in which mode it moved money',
    action:
      'Test and live were mixed. Check which keys are configured and ask the service in which mode it moved money.',
    command: 'show',
  },
  duplicate_at_service: {
    step: 'Ask the service to cancel or recall all but one',
    action: 'One order became several transfers. Ask the service to cancel or recall all but one.',
    command: 'show',
  },
  paid_twice: {
    step: 'Ask the service and the beneficiary to return one payment',
    action: 'This was probably paid twice. Ask the service and the beneficiary to return one payment.',
    command: 'show',
  },
  stale_pending: {
    step: 'Ask the service when it will settle; do not pay it another way',
    action:
      'Ask the service when this transfer will settle. Do not pay it another way while it is pending. If they say how it ended, close it with counterfoil settle.',
    command: 'show',
  },
  unknown_outcome: {
    step: 'Ask the service; do not pay it another way',
    action: 'We cannot tell whether this was paid. Do not pay it another way.',
    command: 'show',
  },
  webhook_missing: {
    step: 'Nothing to pay; if many are missing, check the webhook URL',
    action:
      'Nothing to pay. If many are missing, check the webhook URL with the service and that it reaches this receiver (counterfoil status counts what it rejected).',
    command: 'resend',
  },
  webhook_conflict: {
    step: 'Trust the list; ask the service why they differ',
    action:
      'A webhook contradicts what else is known. Trust the listing, and ask the service why they differ.',
    command: 'show',
  },
  returned_after_success: {
    step: 'Mend the details, then pay under a new reference',
    action: 'The money came back. Mend the beneficiary details, then pay again under a new reference.',
    command: 'retry',
  },
  reference_collision: {
    step: 'Ask the service before paying; then settle it',
    action:
      'The service shows another transfer under our reference. We cannot tell whether ours was paid: ask the service before paying, then close it with counterfoil settle.',
    command: 'show',
  },
  collection_missing: {
    step: 'Ask the payer and the service; hand out nothing yet',
    action:
      'Ask the payer whether they paid, and the service where the money is. Hand out nothing for it before it has arrived.',
    command: 'show',
  },
  collection_conflict: {
    step: 'Ask the service which is right; book only what arrived',
    action:
      'Compare what the payer owed with what the service collected, and ask the service which is right. Book only what has arrived.',
    command: 'show',
  },
};

/** What a finance officer does about a kind, whichever payout it is about. */
export function kindAction(kind: DiscrepancyKind): string {
  return words[kind].action;
}

/**
 * The command that a person runs first about a discrepancy. It holds only references in the ledger's own format: the
 * service wrote others, and people paste commands into a shell.
 */
export function commandFor(one: Pick<Discrepancy, 'kind' | 'reference' | 'payout_id'>): string {
  const { kind, reference, payout_id } = one;
  if (payout_id === null || !isReference(reference)) return `counterfoil discrepancies --kind ${kind}`;
  return `counterfoil ${words[kind].command} ${reference}`;
}

const origin = z.object({ baseUrl: z.string(), secretKey: z.string(), orderKey: z.string() });
const stored = z.object({
  watched: z.object({ until: z.string(), isOver: z.boolean() }).optional(),
  elsewhere: z.object({ went: origin, own: origin }).optional(),
  otherAccount: z.literal(true).optional(),
  alikes: z.array(z.string()).optional(),
});

/** What a person does about a discrepancy. Throws when the ledger holds no {@link Advice} for it. */
export function actionFor(one: Pick<Discrepancy, 'kind' | 'reference' | 'advice'>): string {
  const { kind, reference, advice } = one;
  const { watched, elsewhere, otherAccount, alikes = [] } = stored.parse(JSON.parse(advice));
  let action = words[kind].action;
  if (watched) action = unknownAction(reference, watched);
  if (elsewhere) action = elsewhereAction(whyElsewhere(elsewhere.went, elsewhere));
  if (otherAccount) action = otherAccountAction(reference);
  if (alikes.length === 0) return action;
  const names = firstNames(alikes);
  return kindRules[kind].shownBy === 'foreign_transfer'
    ? `It may be our ${names} under another reference: ask the service, and pay none of them again before they answer. ${action}`
    : `It may be listed under another reference: ${names}. Ask the service whether that is this payout. ${action}`;
}

/** {@link actionFor} in one short line, for a table. Throws when the ledger holds no advice for it. */
export function stepFor({ kind, advice }: Pick<Discrepancy, 'kind' | 'advice'>): string {
  const { watched, elsewhere, otherAccount, alikes = [] } = stored.parse(JSON.parse(advice));
  if (alikes.length > 0)
    return kindRules[kind].shownBy === 'foreign_transfer'
      ? `Ask the service whether it is our ${firstNames(alikes)}; pay none of them again`
      : `Ask the service whether it is ${firstNames(alikes)}; do not pay it again`;
  if (otherAccount) return 'Configure the account it was sent with, or ask the service; pay nothing again';
  if (elsewhere || (watched?.isOver ?? false)) return 'Ask the service; do not pay it another way';
  return watched ? `Wait until ${watched.until}; do not pay it another way` : words[kind].step;
}

/** A row of the ledger with what a person does about it, for `--json`. */
export function withAction<Row extends Discrepancy>(row: Row): Row & { action: string } {
  return { ...row, action: actionFor(row) };
}

/** What to do about an unknown: wait until the quiet period ends, then decide with the service's answer (P19). */
export function unknownAction(
  reference: string,
  { until, isOver }: { until: string; isOver: boolean },
): string {
  if (!isOver)
    return `We cannot tell whether this was paid. Do not pay it another way before ${until}. Counterfoil looks it up until then; afterwards ask the service in writing.`;
  return `We cannot tell whether this was paid. It was watched until ${until}. Ask the service in writing. Then order it once more with counterfoil retry ${reference}, or close it: counterfoil settle ${reference} --as paid --note "what they said" (or --as not-paid). Do not pay it another way while it is open.`;
}

/** What to do about a pending payout that went to another account than the one asked; `why` names both (P31). */
function elsewhereAction(why: string): string {
  return `Nothing asked now can tell how it ended: ${why}. Until then ask the service, and do not pay it another way. If they say how it ended, close it with counterfoil settle.`;
}

/** What to do about a transfer under our reference at another account than the one that ours went to (P31). */
function otherAccountAction(reference: string): string {
  return `Another account shows a transfer under our reference. It says nothing about ours. Configure the address and key that ours was sent with and run counterfoil reconcile, or ask the service and close it with counterfoil settle ${reference}. Pay nothing again before that. Find out who ordered the other transfer.`;
}
