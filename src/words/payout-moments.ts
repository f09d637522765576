import { z } from 'zod';
import type { Story } from '../books/overview.sql.ts';
import { replacedEvent } from '../core/domain/history-event.ts';
import { inquiryReasonText } from '../core/domain/inquiry-reason.ts';
import type { PayoutState } from '../core/domain/payout.ts';
import { plainKind } from '../core/domain/plain-kind.ts';
import { differingReference } from '../watching/webhooks/webhook-inbox.sql.ts';
import { plainCause } from './plain-words.ts';
import { stateWords } from './state-words.ts';
import { answerText, webhookText } from './word-texts.ts';

type Moment = { at: string; text: string };

/** What happened to a payout, the oldest first: each fact once, with its source. `stateText` words a state. */
export function payoutMoments(
  story: Story,
  stateText: (state: PayoutState) => string = (state) => stateWords[state],
): Moment[] {
  return [
    ...historyMoments(story, stateText),
    ...story.webhooks.map(webhookMoment),
    ...story.lookups.flatMap(lookUpMoment),
    ...story.discrepancies.flatMap(lifeMoments),
  ].toSorted((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0));
}

/** Plain names for sources that are parts of Counterfoil. */
const sources: Record<string, string> = {
  brake: 'check before sending',
  claim: 'check before sending',
  response: '',
  takeover: 'another process',
  intake: '',
  listing: '',
  details: '',
};

/** The history, without what look-ups and webhooks say for themselves. */
function historyMoments({ history, attempts }: Story, stateText: (state: PayoutState) => string): Moment[] {
  let sends = 0;
  const neverLeft = new Set(
    attempts.flatMap(({ id, outcome }) => (outcome === 'not_sent' ? [Number(id)] : [])),
  );
  return history.flatMap((entry) => {
    const { at, event, from_state: from, to_state: to, source, detail } = entry;
    const stays = from === to;
    if (stays && (event === 'looked_up' || /^(webhook|details) says /.test(event))) return [];
    const why = reasonOf(detail);
    if (event === 'intent') {
      // P7: its `not_sent` entry says the rest.
      if (neverLeft.has(attemptOf(detail))) return [];
      sends += 1;
      return [{ at, text: `sent (attempt ${sends})` }];
    }
    const code = attempts.find(({ ended_at: ended }) => ended === at)?.code ?? null;
    const by = source in sources ? (sources[source] ?? '') : source.replace(/^person:/, 'by ');
    // Its state does not change; the news is which payout pays it now.
    if (event === replacedEvent) return [{ at, text: `${why || 'paid again'}   [${by}]` }];
    const what = eventWords[event] ?? event.replaceAll('_', ' ');
    const state = stateText(to);
    const words = stays ? what : what === stateWords[to] ? state : `${what} → ${state}`;
    const said = [code ?? '', why].filter((text) => text !== '').join(' ');
    const origin = by === '' || /^(submit|serve)-/.test(by) ? '' : `   [${by}]`;
    return [{ at, text: `${words}${said === '' ? '' : `: ${said}`}${origin}` }];
  });
}

const eventWords: Partial<Record<Story['history'][number]['event'], string>> = {
  intake: 'taken in',
  not_sent: 'not sent',
  turned_away: 'turned away',
  abandoned: 'its process ended',
  looked_up: 'look-up',
  hold: 'held',
  release: 'released',
  cancel: 'cancelled',
  retry: 'ordered again',
  doubted: 'held back',
  [replacedEvent]: 'paid again',
  adopted: 'the ledger was adopted',
};

const text = z.string().nullish();
const intents = z.object({ last_attempt_id: z.number() }).catch({ last_attempt_id: 0 });
const reasons = z.object({ why: text, keep: text, conflict: text, message: text });

/** The attempt that an intent began, by id. */
function attemptOf(detail: string): number {
  return intents.parse(JSON.parse(detail)).last_attempt_id;
}

/** The reason of an entry, if its detail has one in words. */
function reasonOf(detail: string): string {
  const { why, keep, conflict, message } = reasons.catch({}).parse(JSON.parse(detail));
  return plainCause(why ?? conflict ?? keep ?? message ?? '');
}

function webhookMoment(one: Story['webhooks'][number]): Moment {
  const named = differingReference(one);
  // The signature does not cover headers, so this is separate from the effect.
  const header =
    named === null ? '' : `; its X-Webhook-Reference names ${JSON.stringify(named.slice(0, 60))}`;
  const times = one.deliveries === 1n ? '' : ` (received ${one.deliveries} times)`;
  return { at: one.received_at, text: `webhook: ${webhookText(one)}${times}${header}` };
}

function lookUpMoment(one: Story['lookups'][number]): Moment[] {
  const why = inquiryReasonText(one.reason);
  if (one.outcome === null)
    return one.asked_at === null ? [] : [{ at: one.asked_at, text: `look-up begun (${why})` }];
  return [
    { at: one.answered_at ?? one.asked_at ?? one.due_at, text: `look-up (${why}): ${lookUpWords(one)}` },
  ];
}

const outcomes: Record<string, string> = {
  not_found: 'the service does not know it',
  no_answer: 'no clear answer',
  no_witness: 'an answer that says nothing about it',
};

function lookUpWords(one: Story['lookups'][number]): string {
  return outcomes[one.outcome ?? ''] ?? answerText(one);
}

function lifeMoments({ id, kind, life, expected, actual }: Story['discrepancies'][number]): Moment[] {
  return life.map(({ at, event, source, note }) => {
    const what = event === 'opened' ? `: expected ${expected || '-'}, found ${actual || '-'}` : '';
    const by = source.startsWith('person:') ? `   [${source.replace('person:', 'by ')}]` : '';
    return { at, text: `${plainKind(kind)} ${event} (${id})${what}${note === '' ? '' : `: ${note}`}${by}` };
  });
}
