import { contradictionText } from '../core/domain/contradiction.ts';
import { counted } from '../core/domain/counted.ts';
import type { Attempt } from '../core/storage/tables/tables.ts';
import type { WeighedCase } from '../watching/evidence/weigh.ts';
import { actionFor } from './discrepancy-words.ts';
import { newsOf, plainCause } from './plain-words.ts';
import { stateWords } from './state-words.ts';
import { webhookText } from './word-texts.ts';

type Time = (instant: string | null) => string;

const verdicts: Record<WeighedCase['verdict'], string> = {
  none: 'was never made',
  no_answer: 'got no clear answer',
  no_witness: 'got an answer that says nothing about it',
  not_found: 'did not find it; absence proves nothing',
  conflict: 'found something that contradicts the ledger',
  pending: 'found it pending',
  success: 'found it paid',
  failed: 'found it failed',
  returned: 'found it returned',
};

/** What is known about a payout that a person decides about: each fact under its label. */
export function evidenceFactsOf(one: WeighedCase, time: Time): (readonly [string, string])[] {
  const { payout, batch, attempts, discrepancies, successor, cancelled } = one;
  const { state, evidence } = payout;
  const news = newsOf(payout, attempts);
  return [
    ['state', `${stateWords[state]}${evidence ? ` (evidence: ${evidence})` : ''}${news ? `: ${news}` : ''}`],
    ['batch', `${batch.id}, row ${payout.row_number}`],
    ...notPaidFacts(one, time).map((fact) => ['settled', fact] as const),
    ...attempts.map((a) => ['attempt', attemptText(a)] as const),
    ...(payout.unseen_sends > 0n ? [['attempt', unseenSend] as const] : []),
    ['look-up', lookUpText(one)],
    ['listing', listingText(one)],
    ...listedSinceFacts(one).map((fact) => ['listed', fact] as const),
    ...lookAlikeFacts(one).map((fact) => ['look-alike', fact] as const),
    ...one.webhooks.map(
      (w) =>
        [
          'webhook',
          `${w.received_at}  received ${counted(w.deliveries, 'time')}: ${webhookText(w)}`,
        ] as const,
    ),
    ...(successor ? [['successor', successor] as const] : []),
    ...(cancelled ? [['successor', `${cancelled.reference} was cancelled before it was sent`] as const] : []),
    ...discrepancies.map((d) => ['open', `${d.id} ${d.kind}: ${actionFor(d)}`] as const),
  ];
}

const unseenSend = 'one may have been made that this ledger does not remember (it went back in time)';

function notPaidFacts({ notPaid }: WeighedCase, time: Time): string[] {
  if (!notPaid) return [];
  return [`as not paid by ${notPaid.source} ${time(notPaid.at)}: ${notPaid.note}`];
}

function listedSinceFacts({ listedSince }: WeighedCase): string[] {
  return listedSince.map(({ run, status }) => `since, by run ${run}, as ${status}`);
}

function lookAlikeFacts({ lookAlikes }: WeighedCase): string[] {
  if (lookAlikes.length === 0) return [];
  return [
    `${lookAlikes.join(', ')}: listed, of no payout here; same account and amount, or the name of a second payment`,
  ];
}

/** The facts that most payouts lack, for a table that has no column for them. */
export function specialFacts(one: WeighedCase, time: Time): string[] {
  const { payout, verdict, contradiction, successor } = one;
  return [
    ...notPaidFacts(one, time).map((fact) => `settled ${fact}`),
    ...(payout.unseen_sends > 0n ? [`attempt: ${unseenSend}`] : []),
    ...listedSinceFacts(one).map((fact) => `listed ${fact}`),
    ...lookAlikeFacts(one).map((fact) => `look-alike ${fact}`),
    ...(verdict === 'conflict' && contradiction ? [`the look-up: ${contradictionText(contradiction)}`] : []),
    ...(successor ? [`ordered again as ${successor}`] : []),
  ];
}

function attemptText({ number, began_at, outcome, code, message }: Attempt): string {
  const said = [code, message === null ? null : plainCause(message)].filter((text) => text).join(' ');
  return `#${number} ${began_at}  ${outcome ?? 'under way'}${said ? `  ${said}` : ''}`;
}

const outrun = 'older than the last attempt that may have been made: says nothing about it';

function lookUpText(one: WeighedCase): string {
  const { lookUp, verdict } = one;
  if (!lookUp) return verdicts[verdict];
  const against = verdict === 'conflict' ? one.contradiction : null;
  const conflict = against ? ` (${contradictionText(against)})` : '';
  const told = `${verdicts[verdict]}${conflict}`;
  return `${lookUp.answeredAt}  ${one.outrun.lookUp ? `${told}, but is ${outrun}` : told}`;
}

function listingText(one: WeighedCase): string {
  const { listing } = one;
  if (!listing) return 'none was ever proven complete';
  const { run, finishedAt, statuses } = listing;
  const shown = statuses.length > 0 ? `shows it as ${statuses.join(', ')}` : 'does not show it';
  const name = `run ${run} (complete, ended ${finishedAt})`;
  if (!one.outrun.listing) return `${name} ${shown}`;
  return statuses.length > 0 ? `${name} ${shown}, but is ${outrun}` : `${name} is ${outrun}`;
}
