import { z } from 'zod';
import type { App } from '../../app/app.ts';
import type { Story } from '../../books/overview.sql.ts';
import { formatMinor } from '../../core/domain/money.ts';
import { traceOf } from '../../core/domain/trace.ts';
import { differencesIn } from '../../core/ledger/contradiction-columns.ts';
import { neighboursOf } from '../../core/ledger/successors.ts';
import type { StoryJson } from '../../core/shapes/story-shapes.ts';
import { originOf } from '../../sending/approvals.sql.ts';
import { collectionStory } from '../../watching/collections/collection-lines.sql.ts';
import { firstFinalWebhook } from '../../watching/lookups/final-webhooks.sql.ts';
import { resendsOf } from '../../watching/lookups/resend-requests.sql.ts';
import { answerText, effectOf } from '../../words/word-texts.ts';
import { discrepancyOf, parsed, parsedObject, resendOf, webhookOf } from './plain-parts.ts';

/** What the story of a payout holds beside its own rows. */
type Around = Pick<
  StoryJson['payout'],
  | 'trace_id'
  | 'predecessor'
  | 'successor'
  | 'dropped_by'
  | 'approved_by'
  | 'approved_at'
  | 'resend'
  | 'collection'
>;

/** What the ledger knows of a payout beside its own rows: its neighbours, its people, its resend requests. */
export async function aroundPayout(
  { ledger, clock }: Pick<App<'looking'>, 'ledger' | 'clock'>,
  { payout }: Story,
) {
  const { db } = ledger;
  const requests = await resendsOf(db, { kind: 'payout', id: payout.id });
  const heardAt = await firstFinalWebhook(db, payout.id);
  const { successorState, ...line } = {
    ...(await neighboursOf(db, payout)),
    ...(await originOf(db, payout)),
  };
  const collection = await collectionStory(db, payout.reference);
  const around: Around = {
    trace_id: traceOf(ledger.id, { kind: 'payout', name: payout.reference }).traceId,
    ...line,
    resend: resendOf(requests, heardAt, clock.iso()),
    ...(collection && { collection: collection.collection.state }),
  };
  return { requests, heardAt, chain: { ...line, successorState }, around };
}

/** The story of a payout for `--json`. `account` masks account numbers, wherever they stand. */
export function payoutStoryJson(story: Story, around: Around, account: (text: string) => string): StoryJson {
  const { attempts, lookups, listings, discrepancies, history } = story;
  const { account_number: number } = story.payout;
  const whole: StoryJson = {
    payout: { ...payoutOf(story.payout), ...around },
    attempts: attempts.map((one) => attemptOf(one, number)),
    webhooks: story.webhooks.map((one) => webhookOf(one, effectOf(one), number)),
    lookups: lookups.map((one) => lookUpOf(one, number)),
    listings: listings.map(listedOf),
    discrepancies: discrepancies.map(discrepancyOf),
    history: history.map(({ seq, at, event, source, from_state, to_state, detail }) => {
      return { seq: Number(seq), at, event, source, from_state, to_state, detail: parsedObject(detail) };
    }),
  };
  return masked(whole, number, account);
}

const cellTexts = z.array(z.string());

function payoutOf(row: Story['payout']): Omit<StoryJson['payout'], keyof Around> {
  const { reference, state, currency, account_name, account_number, bank_code, narration } = row;
  const { sender_name, type, transfer_id, trx, fee, message, evidence, submitted_at } = row;
  const { settled_at, final_at, updated_at, turned_away_until, withheld_by } = row;
  return {
    ...{ reference, state, currency, amount: formatMinor(row.amount, currency) },
    ...{ account_name, account_number, bank_code, narration, sender_name, type },
    ...{ batch: row.batch_id, row: Number(row.row_number), cells: cellTexts.parse(JSON.parse(row.cells)) },
    ...{ order: parsed(row.body), transfer_id, trx, fee, message, evidence, submitted_at, settled_at },
    ...{ final_at, updated_at, turned_away_until, withheld_by, pay_on: row.pay_on || null },
  };
}

function attemptOf(one: Story['attempts'][number], number: string): StoryJson['attempts'][number] {
  const { began_at, ended_at, outcome, code, message, transfer_id } = one;
  return {
    ...{ number: Number(one.number), process: one.worker_id, began_at, ended_at, outcome },
    http_status: one.http_status === null ? null : Number(one.http_status),
    ...{ code, message, transfer_id, reply: parsed(one.raw, number) },
  };
}

function lookUpOf(one: Story['lookups'][number], number: string): StoryJson['lookups'][number] {
  const { reason, due_at, asked_at, answered_at, outcome, said, against } = one;
  return {
    ...{ reason, due_at, asked_at, answered_at, outcome, said, against },
    differences: differencesIn(one.differences),
    words: outcome && answerText(one),
    reply: parsed(one.raw, number),
  };
}

function listedOf(one: Story['listings'][number]): StoryJson['listings'][number] {
  const { transfer_id, trx, reference, status, currency, fee, account_name, account_number } = one;
  const { bank_code, domain, created_at, updated_at } = one;
  return {
    ...{ run: one.run_id, transfer_id, trx, reference, status, currency, amount: one.amount_text, fee },
    ...{ account_name, account_number, bank_code, domain, created_at, updated_at },
  };
}

/** The same with this account number masked in every text. */
function masked<T>(whole: T, number: string, account: (text: string) => string): T {
  const places = new RegExp(`(?<![0-9A-Za-z])${number}(?![0-9A-Za-z])`, 'g');
  return JSON.parse(JSON.stringify(whole), (_key, value: unknown) =>
    typeof value === 'string' ? value.replaceAll(places, account) : value,
  );
}
