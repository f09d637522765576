import { contradictionText } from '../core/domain/contradiction.ts';
import { contradictionIn, type SaidFields } from '../core/ledger/contradiction-columns.ts';
import type { Inquiry, Webhook } from '../core/storage/tables/tables.ts';

type Heard = SaidFields & Pick<Webhook, 'verdict'>;

/** The effect of a webhook, in words; null until it is applied. */
export function effectOf(webhook: Heard): string | null {
  const { verdict, said } = webhook;
  switch (verdict) {
    case 'says':
      return `says ${said}`;
    case 'against_ledger':
    case 'against_webhook':
    case 'differs':
      return contradictionWords('webhook', verdict, webhook);
    case 'contradictory':
      return 'contradicts itself: a reason to ask, not a witness';
    case 'stale':
      return said === 'failed'
        ? 'stale: says failed; a reason to ask, not a witness'
        : 'stale: a reason to ask, not a witness';
    case 'no_status':
      return 'no status in it';
    case 'unmatched':
      return 'unmatched';
    case 'look_alikes':
      return 'unmatched; asked about look-alikes';
    case 'not_understood':
      return 'not understood; kept';
    case 'other_key':
      return 'signed with another key than it was sent with: a reason to ask, not a witness';
    case null:
      return null;
  }
}

export function webhookText(webhook: Heard): string {
  return effectOf(webhook) ?? 'not applied yet';
}

export function answerText(lookUp: SaidFields & Pick<Inquiry, 'outcome'>): string {
  const { outcome } = lookUp;
  const contradicts = outcome === 'against_ledger' || outcome === 'differs';
  return contradicts ? contradictionWords('details', outcome, lookUp) : (outcome ?? 'due');
}

function contradictionWords(source: 'webhook' | 'details', kind: string, word: SaidFields): string {
  const one = contradictionIn(source, kind, word);
  return one ? `conflict: ${contradictionText(one)}` : 'conflict';
}
