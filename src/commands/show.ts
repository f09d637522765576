import { z } from 'zod';
import { collectionStory } from '../collections/collection-lines.sql.ts';
import { inquiryReasonText } from '../domain/inquiry-reason.ts';
import { formatMinor } from '../domain/money.ts';
import { maskAccount } from '../domain/redact.ts';
import { judgeResends } from '../domain/resend-budget.ts';
import { neighboursOf } from '../ledger/successors.ts';
import { firstHeard, resendsOf } from '../lookups/resend-requests.sql.ts';
import { withAction } from '../reporting/discrepancy-words.ts';
import { payoutStory, type Story } from '../reporting/overview.sql.ts';
import { originOf } from '../sending/approvals.sql.ts';
import { differingReference } from '../webhooks/webhook-inbox.sql.ts';
import { bigintAsNumber, discrepancyLine, section, webhookLine } from './describe.ts';
import { type Watch, warning, watchOf } from './evidence-lines.ts';
import { newsOf, plainCause } from './plain-words.ts';
import { Stop } from './result.ts';
import { resendLines, showCollection } from './show-collection.ts';
import { withApp } from './with-app.ts';
import { answerText, effectOf } from './word-texts.ts';
import type { Handler } from './world.ts';

/** `show REFERENCE`: prints the whole story of one payout or collection, each fact with its source and time. */
export const show: Handler = async (context, args, options) => {
  return withApp(context, { level: 'local', use: 'reads' }, async (app) => {
    const reference = args[0] ?? '';
    const story = await payoutStory(app.ledger.db, reference);
    const collection = await collectionStory(app.ledger.db, reference);
    if (!story && collection) return showCollection(collection, app.clock.iso());
    if (!story)
      throw new Stop(2, `no payout or collection "${reference}" in this ledger (mode ${app.config.mode})`);
    const requests = await resendsOf(app.ledger.db, { kind: 'payout', id: story.payout.id });
    const origin = await originOf(app.ledger.db, story.payout);
    const chain = { ...(await neighboursOf(app.ledger.db, story.payout)), ...origin };
    const watch = watchOf(app);
    const heardAt = await firstHeard(app.ledger.db, story.payout.id);
    const account = options.fullAccounts === true ? (text: string) => text : maskAccount;
    const lines = [...tell(story, chain, watch, account), ...resendLines(requests, heardAt, watch.now)];
    const resend = { ...judgeResends(requests, heardAt, watch.now), requests };
    if (collection) lines.push('', `also a collection, ${collection.collection.state}`);
    const json = {
      ...plain(story, account),
      ...chain,
      ...JSON.parse(JSON.stringify({ resend }, bigintAsNumber)),
      ...(collection && { collection: showCollection(collection, watch.now).json?.collection }),
    };
    return { code: 0, lines, json };
  });
};

type Chain = Awaited<ReturnType<typeof neighboursOf>> & Awaited<ReturnType<typeof originOf>>;

function tell(story: Story, chain: Chain, watch: Watch, account: (text: string) => string): string[] {
  const { payout, attempts, webhooks, lookups, discrepancies, history } = story;
  const { reference, currency, amount, account_name, account_number, bank_code, batch_id, row_number } =
    payout;
  const news = newsOf(payout, attempts);
  const lines = [
    `${reference}  ${currency} ${formatMinor(amount, currency)}  to ${account_name}, ${account(account_number)} at ${bank_code}`,
    `state     ${payout.state}${payout.evidence ? `  (evidence: ${payout.evidence})` : ''}${news ? `  ${news}` : ''}`,
    `batch     ${batch_id}, row ${row_number}`,
    `transfer  ${payout.transfer_id ?? '-'}   trx ${payout.trx ?? '-'}   fee ${payout.fee ?? '-'}`,
  ];
  if (chain.dropped_by) lines.push(`dropped   by ${chain.dropped_by}`);
  if (chain.approved_by) lines.push(`approved  by ${chain.approved_by} at ${chain.approved_at}`);
  if (chain.predecessor) lines.push(`pays      ${chain.predecessor} again`);
  if (chain.successor) lines.push(`paid      again as ${chain.successor}`);
  if (payout.state === 'unknown') lines.push(warning(payout, attempts, watch));
  return [
    ...lines,
    ...section('history', history, (entry) => `${entry.at}  ${historyText(entry)}`),
    ...section('attempts', attempts, attemptLine),
    ...section('webhooks', webhooks, (one) => `${webhookLine(one)}${headerNote(one)}`),
    ...section(
      'questions',
      lookups,
      (one) =>
        `${one.asked_at ?? one.due_at}  ${one.kind} (${inquiryReasonText[one.reason]}): ${answerText(one)}`,
    ),
    ...section('discrepancies', discrepancies, lifeLines),
  ];
}

function attemptLine({ began_at, number, outcome, code, message }: Story['attempts'][number]): string {
  return `${began_at}  #${number} ${outcome ?? 'under way'}  ${code ?? ''} ${plainCause(message ?? '')}`.trimEnd();
}

function lifeLines(one: Story['discrepancies'][number]): string {
  const turns = one.life.map(
    ({ at, event, source, note }) => `    ${at}  ${event}  [${source}]${note === '' ? '' : `  ${note}`}`,
  );
  return [discrepancyLine(one), ...turns].join('\n');
}

/** A note about a header that names another reference. It is separate from the effect: the signature does not cover headers. */
function headerNote(webhook: Story['webhooks'][number]): string {
  const named = differingReference(webhook);
  return named === null ? '' : `; its X-Webhook-Reference names ${JSON.stringify(named.slice(0, 60))}`;
}

/** Plain names for sources that are parts of Counterfoil. */
const sources: Record<string, string> = {
  brake: 'check before sending',
  claim: 'check before sending',
  response: "the service's answer",
  takeover: 'another process',
};

function historyText({ event, from_state, to_state, source, detail }: Story['history'][number]): string {
  const by = `[${sources[source] ?? source}]`;
  const reason = reasonOf(detail);
  // Its state does not change; the news is which payout pays it now.
  if (event === 'succeeded') return `${reason.trim() || 'paid again'}  ${by}`;
  const states = from_state === to_state ? `stays ${to_state}` : `${from_state ?? ''} → ${to_state}`;
  return `${event.padEnd(24)} ${states}  ${by}${reason}`;
}

const said = z.string().nullish();
const reasons = z.object({ why: said, keep: said, conflict: said, message: said });

/** The reason of an entry, if its detail has one in words. */
function reasonOf(detail: string): string {
  const { why, keep, conflict, message } = reasons.catch({}).parse(JSON.parse(detail));
  const reason = why ?? conflict ?? keep ?? message ?? '';
  return reason === '' ? '' : `  ${plainCause(reason)}`;
}

/** The story as JSON. Masks the account number everywhere: frozen body, file row, and the service's answers. */
function plain(story: Story, account: (text: string) => string): Record<string, unknown> {
  const { currency, amount } = story.payout;
  const webhooks = story.webhooks.map((w) => ({
    ...w,
    effect: effectOf(w),
    body: Buffer.from(w.body).toString('utf8'),
  }));
  const lookups = story.lookups.map((q) => ({ ...q, outcome: q.outcome && answerText(q) }));
  const discrepancies = story.discrepancies.map(withAction);
  const shown = {
    ...story,
    webhooks,
    lookups,
    discrepancies,
    payout: { ...story.payout, amount: formatMinor(amount, currency) },
  };
  const number = new RegExp(`(?<![0-9A-Za-z])${story.payout.account_number}(?![0-9A-Za-z])`, 'g');
  return JSON.parse(JSON.stringify(shown, bigintAsNumber), (_key, value: unknown) =>
    typeof value === 'string' ? value.replaceAll(number, account) : value,
  );
}
