import type { App } from '../app/app.ts';
import { contradictionText } from '../domain/contradiction.ts';
import { formatMinor } from '../domain/money.ts';
import type { Case, Weighed } from '../evidence/weigh.ts';
import { actionFor, unknownAction } from '../reporting/discrepancy-words.ts';
import type { Attempt, Payout } from '../storage/tables/tables.ts';
import { newsOf, plainCause } from './plain-words.ts';
import { remedyText } from './remedy-text.ts';
import { effectOf, webhookText } from './word-texts.ts';

/** The time now, and how long an unknown payout is watched. */
export type Watch = { now: string; quietPeriodMinutes: number };

/** The time now, and how long this configuration watches. */
export function watchOf({ clock, config }: App<'looking'>): Watch {
  return { now: clock.iso(), quietPeriodMinutes: config.submission.quietPeriodMinutes };
}

const verdicts: Record<Case['verdict'], string> = {
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

/** Everything that a person must see before ordering a retry, one block per payout (P20). */
export function evidenceLines({ cases, digest }: Weighed, watch: Watch): string[] {
  const blocks = cases.flatMap((one) => [...factLines(one), ...adviceLines(one, watch), '']);
  return [...blocks, `evidence digest  ${digest}`];
}

/** What is known about each payout, without the possible actions. */
export function factsOf({ cases }: Weighed): string[] {
  return cases.flatMap((one) => factLines(one));
}

function factLines(one: Case): string[] {
  const { payout, batch, attempts, discrepancies, successor } = one;
  const { reference, currency, amount, account_name, account_number, bank_code, state, evidence } = payout;
  const news = newsOf(payout, attempts);
  const lines = [
    `${reference}  ${currency} ${formatMinor(amount, currency)}  to ${account_name}, ${masked(account_number)} at ${bank_code}`,
    `  state      ${state}${evidence ? ` (evidence: ${evidence})` : ''}${news ? `: ${news}` : ''}`,
    `  batch      ${batch.id}, row ${payout.row_number}`,
  ];
  if (one.notPaid)
    lines.push(`  settled    as not paid by ${one.notPaid.source} at ${one.notPaid.at}: ${one.notPaid.note}`);
  for (const a of attempts) lines.push(`  attempt    ${attemptText(a)}`);
  if (payout.unseen_sends > 0n)
    lines.push(
      '  attempt    one may have been made that this ledger does not remember (it went back in time)',
    );
  lines.push(`  look-up    ${lookUpText(one)}`, `  listing    ${listingText(one)}`);
  for (const { run, status } of one.listedSince)
    lines.push(`  listed     since, by run ${run}, as ${status}`);
  if (one.lookAlikes.length > 0)
    lines.push(
      `  look-alike ${one.lookAlikes.join(', ')}: listed, of no payout here; same account and amount, or the name of a second payment`,
    );
  for (const w of one.webhooks)
    lines.push(`  webhook    ${w.received_at}  received ${w.deliveries} time(s): ${webhookText(w)}`);
  if (successor) lines.push(`  successor  ${successor}`);
  for (const d of discrepancies) lines.push(`  open       ${d.id} ${d.kind}: ${actionFor(d)}`);
  return lines;
}

function adviceLines(one: Case, watch: Watch): string[] {
  const { payout, attempts, judgement } = one;
  const lines: string[] = [];
  if (payout.state === 'unknown') lines.push(`  WARNING    ${warning(payout, attempts, watch)}`);
  const can = {
    again: 'can be sent again under the same reference',
    successor: 'can be paid again under a new reference',
  };
  if (judgement.kind !== 'no') lines.push(`  retry      ${can[judgement.kind]}`);
  else lines.push(`  retry      ${one.had ? 'is not needed' : 'cannot be sent again'}: ${judgement.why}`);
  lines.push(`  next       ${remedyText(one)}`);
  return lines;
}

function attemptText({ number, began_at, outcome, code, message }: Attempt): string {
  const said = [code, message === null ? null : plainCause(message)].filter((text) => text).join(' ');
  return `#${number} ${began_at}  ${outcome ?? 'under way'}${said ? `  ${said}` : ''}`;
}

const outrun = 'older than the last attempt that may have been made: says nothing about it';

function lookUpText(one: Case): string {
  const { lookUp, verdict } = one;
  if (!lookUp) return verdicts[verdict];
  const against = verdict === 'conflict' ? one.contradiction : null;
  const conflict = against ? ` (${contradictionText(against)})` : '';
  const told = `${verdicts[verdict]}${conflict}`;
  return `${lookUp.answeredAt}  ${one.outrun.lookUp ? `${told}, but is ${outrun}` : told}`;
}

function listingText(one: Case): string {
  const { listing } = one;
  if (!listing) return 'none was ever proven complete';
  const { run, finishedAt, statuses } = listing;
  const shown = statuses.length > 0 ? `shows it as ${statuses.join(', ')}` : 'does not show it';
  const name = `run ${run} (complete, ended ${finishedAt})`;
  if (!one.outrun.listing) return `${name} ${shown}`;
  return statuses.length > 0 ? `${name} ${shown}, but is ${outrun}` : `${name} is ${outrun}`;
}

/** Warns about an unknown payout: no action before its last attempt's quiet period ends (P19). */
export function warning(payout: Payout, attempts: readonly Attempt[], watch: Watch): string {
  const last = attempts.at(-1);
  const since = last?.ended_at ?? last?.began_at ?? payout.submitted_at ?? payout.updated_at;
  const until = new Date(Date.parse(since) + watch.quietPeriodMinutes * 60_000).toISOString();
  return unknownAction(payout.reference, { until, isOver: watch.now >= until });
}

/** The same for `--json`. */
export function evidenceJson({ cases, digest }: Weighed, watch: Watch): Record<string, unknown> {
  return {
    evidence_digest: digest,
    evidence: cases.map(({ payout, attempts, lookUp, listing, ...one }) => ({
      reference: payout.reference,
      state: payout.state,
      evidence: payout.evidence,
      message: payout.message,
      amount: formatMinor(payout.amount, payout.currency),
      currency: payout.currency,
      account_name: payout.account_name,
      account_number: masked(payout.account_number),
      bank_code: payout.bank_code,
      batch: one.batch.id,
      row: Number(payout.row_number),
      transfer_id: payout.transfer_id,
      trx: payout.trx,
      attempts: attempts.map(({ number, began_at, ended_at, outcome, code, message }) => ({
        number: Number(number),
        began_at,
        ended_at,
        outcome,
        code,
        message,
      })),
      look_up: {
        verdict: one.verdict,
        asked_at: lookUp?.askedAt || null,
        answered_at: lookUp?.answeredAt ?? null,
      },
      listing: listing && { run: listing.run, finished_at: listing.finishedAt, statuses: listing.statuses },
      listed_since: one.listedSince.map(({ run, startedAt, finishedAt, status }) => ({
        run,
        started_at: startedAt,
        finished_at: finishedAt,
        status,
      })),
      settled_as_not_paid: one.notPaid,
      look_alikes: one.lookAlikes,
      webhooks: one.webhooks.map((w) => ({ received_at: w.received_at, effect: effectOf(w) })),
      discrepancies: one.discrepancies.map(({ id, kind, state }) => ({ id, kind, state })),
      successor: one.successor,
      warning: payout.state === 'unknown' ? warning(payout, attempts, watch) : null,
      can: one.judgement.kind,
      why: one.judgement.kind === 'no' ? one.judgement.why : null,
      remedies: one.remedies,
    })),
  };
}

/** Hides all but the last four digits. */
function masked(account: string): string {
  return '*'.repeat(Math.max(0, account.length - 4)) + account.slice(-4);
}
