import type { CollectionStory } from '../collections/collection-lines.sql.ts';
import { formatMinor } from '../domain/money.ts';
import { judgeResends, type ResendState } from '../domain/resend-budget.ts';
import { contradictionIn } from '../ledger/contradiction-columns.ts';
import { withAction } from '../reporting/discrepancy-words.ts';
import type { ResendRequest } from '../storage/tables/collection-tables.ts';
import type { Webhook } from '../storage/tables/tables.ts';
import { bigintAsNumber, discrepancyLine, section, webhookLine } from './describe.ts';
import type { Result } from './result.ts';
import { effectOf } from './word-texts.ts';

const meanings: Record<CollectionStory['collection']['state'], string> = {
  expected: 'no webhook yet',
  heard: 'a webhook reported it, which is no proof: the service does not show it as received yet',
  received: 'the service shows it as received',
  failed: 'the service shows it as failed',
  conflict: 'the expectation, the webhook and the service contradict each other',
};

/** The whole story of one collection, each fact with its source and time. */
export function showCollection(story: CollectionStory, now: string): Result {
  const { collection: c, webhooks, lookups, resends, discrepancies } = story;
  const expected =
    c.expected_amount === null || c.expected_currency === null
      ? 'not expected here'
      : `${c.expected_currency} ${formatMinor(c.expected_amount, c.expected_currency)} since ${c.expected_at}  [${c.file_id}, row ${c.row_number}]`;
  const told = [c.told_status, c.told_currency, c.told_amount].filter((part) => part !== null).join(' ');
  const shown = [c.verified_status, c.verified_currency, c.verified_amount]
    .filter((part) => part !== null)
    .join(' ');
  const lines = [
    `${c.reference}  collection`,
    `state     ${c.state}  (${meanings[c.state]})`,
    `expected  ${expected}`,
    `webhook   ${c.heard_at === null ? 'none received' : `${told || 'nothing understood'}, first received ${c.heard_at}`}`,
    `verify    ${shown === '' ? 'never shown' : `${shown}, asked ${c.verified_at}`}${c.ask_at === null ? '' : `; asked again ${c.ask_at}`}`,
    `trx ${c.trx ?? '-'}   fee ${c.verified_fee ?? c.told_fee ?? '-'}   paid ${c.verified_paid_at ?? c.told_paid_at ?? '-'}`,
    ...section('webhooks', webhooks, webhookLine),
    ...section('look-ups', lookups, (one) => `${one.asked_at}  ${one.outcome}`),
    ...resendLines(resends, c.heard_at, now),
    ...section('discrepancies', discrepancies, discrepancyLine),
  ];
  const amount =
    c.expected_amount === null || c.expected_currency === null
      ? null
      : formatMinor(c.expected_amount, c.expected_currency);
  const bodies = webhooks.map((w) => ({
    ...w,
    effect: effectText(w),
    body: Buffer.from(w.body).toString('utf8'),
  }));
  const resend = judgeResends(resends, c.heard_at, now);
  const json = {
    collection: { ...c, expected_amount: amount },
    webhooks: bodies,
    lookups,
    resend: { ...resend, requests: resends },
    discrepancies: discrepancies.map(withAction),
  };
  return { code: 0, lines, json: JSON.parse(JSON.stringify(json, bigintAsNumber)) };
}

/** The results of asking for the webhook again, as lines for people. */
export function resendLines(
  requests: readonly ResendRequest[],
  heardAt: string | null,
  now: string,
): string[] {
  if (requests.length === 0) return [];
  return [
    '',
    `resend requests  ${stateText(judgeResends(requests, heardAt, now))}`,
    ...requests.map(
      (one) => `  ${one.asked_at ?? one.due_at}  ${one.reason}: ${one.outcome ?? waitingText(one)}`,
    ),
  ];
}

function waitingText({ asked_at }: ResendRequest): string {
  return asked_at === null ? 'due' : 'under way';
}

function stateText(state: ResendState): string {
  switch (state.kind) {
    case 'never_asked':
      return 'none was needed';
    case 'waiting':
      return `asked ${state.made} time(s), next at ${state.dueAt}`;
    case 'asked':
      return `asked ${state.made} time(s), last at ${state.at}; nothing received yet`;
    case 'heard':
      return `asked ${state.made} time(s); received at ${state.at}`;
    case 'gave_up':
      return `gave up: asked ${state.made} times, last at ${state.at}, and nothing was received. Check the webhook URL with the service`;
  }
}

function effectText(webhook: Webhook): string | null {
  const one = contradictionIn('webhook', webhook.verdict, webhook);
  if (one?.kind !== 'differs') return effectOf(webhook);
  const fields = one.differences.map(
    ({ field, actual, expected }) => `${field} is ${actual}, was ${expected}`,
  );
  return `differs from an earlier one: ${fields.join('; ')}`;
}
