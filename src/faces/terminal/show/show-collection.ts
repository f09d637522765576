import { amountText, counted } from '../../../core/domain/counted.ts';
import { formatMinor } from '../../../core/domain/money.ts';
import { judgeResends, type ResendState } from '../../../core/domain/resend-budget.ts';
import { contradictionIn } from '../../../core/ledger/contradiction-columns.ts';
import type { ResendRequest } from '../../../core/storage/tables/collection-tables.ts';
import type { Webhook } from '../../../core/storage/tables/tables.ts';
import type { CollectionStory } from '../../../watching/collections/collection-lines.sql.ts';
import { effectOf } from '../../../words/word-texts.ts';
import { collectionStoryOf } from '../../json/show-collection-json.ts';
import type { Result } from '../context/result.ts';
import { discrepancyLine, textSection, webhookLine } from '../kit/describe.ts';
import type { Terminal } from '../kit/terminal.ts';

const meanings: Record<CollectionStory['collection']['state'], string> = {
  expected: 'no webhook yet',
  heard: 'a webhook reported it, which is no proof: the service does not show it as received yet',
  received: 'the service shows it as received',
  failed: 'the service shows it as failed',
  conflict: 'the expectation, the webhook and the service contradict each other',
};

/** The whole story of one collection, each fact with its source and time. */
export function showCollection(story: CollectionStory, now: string, terminal: Terminal): Result {
  const { time } = terminal;
  const { collection: c, webhooks, lookups, resends, discrepancies } = story;
  const expected =
    c.expected_amount === null || c.expected_currency === null
      ? 'not expected here'
      : `${amountText(c.expected_currency, formatMinor(c.expected_amount, c.expected_currency))} since ${time(c.expected_at)}  [${c.file_id}, row ${c.row_number}]`;
  const told = [c.told_status, c.told_currency, c.told_amount].filter((part) => part !== null).join(' ');
  const shown = [c.verified_status, c.verified_currency, c.verified_amount]
    .filter((part) => part !== null)
    .join(' ');
  const lines = [
    `${c.reference}  collection`,
    `state     ${c.state}  (${meanings[c.state]})`,
    `expected  ${expected}`,
    `webhook   ${c.heard_at === null ? 'none received' : `${told || 'nothing understood'}, first received ${time(c.heard_at)}`}`,
    `verify    ${shown === '' ? 'never shown' : `${shown}, asked ${time(c.verified_at)}`}${c.ask_at === null ? '' : `; asked again ${time(c.ask_at)}`}`,
    `trx ${c.trx ?? '-'}   fee ${c.verified_fee ?? c.told_fee ?? '-'}   paid ${time(c.verified_paid_at ?? c.told_paid_at)}`,
    ...textSection('webhooks', webhooks, (one) => webhookLine(one, terminal)),
    ...textSection('look-ups', lookups, (one) => `${time(one.asked_at)}  ${one.outcome}`),
    ...resendLines(resends, c.heard_at, now, terminal),
    ...textSection('discrepancies', discrepancies, (one) => discrepancyLine(one, terminal)),
  ];
  const fields = collectionStoryOf(story, now, effectText);
  const json = { shape: 'show COLLECTION', fields } as const;
  return { code: 0, screen: { blocks: [lines] }, json };
}

/** The results of asking for the webhook again, as lines for people. */
export function resendLines(
  requests: readonly ResendRequest[],
  heardAt: string | null,
  now: string,
  terminal: Terminal,
): string[] {
  if (requests.length === 0) return [];
  return [
    '',
    `resend requests  ${stateText(judgeResends(requests, heardAt, now), terminal)}`,
    ...requests.map(
      (one) =>
        `  ${terminal.time(one.asked_at ?? one.due_at)}  ${one.reason}: ${one.outcome ?? waitingText(one, heardAt)}`,
    ),
  ];
}

function waitingText({ asked_at }: ResendRequest, heardAt: string | null): string {
  if (asked_at !== null) return 'under way';
  return heardAt === null ? 'due' : 'not needed any more';
}

function stateText(state: ResendState, { time }: Terminal): string {
  switch (state.kind) {
    case 'never_asked':
      return 'none was needed';
    case 'waiting':
      return `asked ${counted(state.made, 'time')}, next at ${time(state.dueAt)}`;
    case 'asked':
      return `asked ${counted(state.made, 'time')}, last at ${time(state.at)}; nothing received yet`;
    case 'heard':
      return `asked ${counted(state.made, 'time')}; received at ${time(state.at)}`;
    case 'gave_up':
      return `gave up: asked ${state.made} times, last at ${time(state.at)}, and nothing was received. Check the webhook URL with the service`;
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
