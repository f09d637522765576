import type { App } from '../../app/app.ts';
import { formatMinor } from '../../core/domain/money.ts';
import type { EvidenceJson } from '../../core/shapes/decision-shapes.ts';
import type { Attempt, Payout } from '../../core/storage/tables/tables.ts';
import type { Weighed } from '../../watching/evidence/weigh.ts';
import { reasonText } from '../../words/advice-text.ts';
import { unknownAction } from '../../words/discrepancy-words.ts';
import { sightOfAll } from '../../words/hold-words.ts';
import { effectOf } from '../../words/word-texts.ts';
import { hider } from './hide.ts';

/** The time now, and how long an unknown payout is watched. */
export type QuietWatch = { now: string; quietPeriodMinutes: number };

export function watchOf({ clock, config }: App<'looking'>): QuietWatch {
  return { now: clock.iso(), quietPeriodMinutes: config.submission.quietPeriodMinutes };
}

/** Warns about an unknown payout: no action before its last attempt's quiet period ends (P19). */
export function unknownWarning(payout: Payout, attempts: readonly Attempt[], watch: QuietWatch): string {
  const last = attempts.at(-1);
  const since = last?.ended_at ?? last?.began_at ?? payout.submitted_at ?? payout.updated_at;
  const until = new Date(Date.parse(since) + watch.quietPeriodMinutes * 60_000).toISOString();
  return unknownAction(payout.reference, { until, isOver: watch.now >= until });
}

/** The cases with their evidence, and the digest of it. */
export function evidenceJson(
  { cases, digest }: Weighed,
  watch: QuietWatch,
  { names } = sightOfAll,
): EvidenceJson {
  return {
    evidence_digest: digest,
    evidence: cases.map(({ payout, attempts, lookUp, listing, ...one }) => {
      const hide = hider(payout);
      const said = (text: string | null) => (names || text === null ? text : hide(text));
      return {
        reference: payout.reference,
        state: payout.state,
        evidence: payout.evidence,
        message: said(payout.message),
        amount: formatMinor(payout.amount, payout.currency),
        currency: payout.currency,
        account_name: names ? payout.account_name : 'hidden',
        account_number: maskedWhole(payout.account_number),
        bank_code: payout.bank_code,
        batch: one.batch.id,
        row: Number(payout.row_number),
        transfer_id: payout.transfer_id,
        trx: payout.trx,
        attempts: attempts.map(({ number, began_at, ended_at, outcome, code, message }) => {
          return { number: Number(number), began_at, ended_at, outcome, code, message: said(message) };
        }),
        look_up: {
          verdict: one.verdict,
          asked_at: lookUp?.askedAt || null,
          answered_at: lookUp?.answeredAt ?? null,
        },
        listing: listing && { run: listing.run, finished_at: listing.finishedAt, statuses: listing.statuses },
        listed_since: one.listedSince.map(({ run, startedAt, finishedAt, status }) => {
          return { run, started_at: startedAt, finished_at: finishedAt, status };
        }),
        settled_as_not_paid: one.notPaid,
        look_alikes: one.lookAlikes,
        webhooks: one.webhooks.map((w) => ({ received_at: w.received_at, effect: effectOf(w) })),
        discrepancies: one.discrepancies.map(({ id, kind, state }) => ({ id, kind, state })),
        successor: one.successor,
        warning: payout.state === 'unknown' ? unknownWarning(payout, attempts, watch) : null,
        can: one.judgement.kind,
        why: one.judgement.kind === 'no' ? reasonText(one.judgement) : null,
        remedies: one.remedies,
      };
    }),
  };
}

/** Hides all but the last four digits. */
export function maskedWhole(account: string): string {
  return '*'.repeat(Math.max(0, account.length - 4)) + account.slice(-4);
}
