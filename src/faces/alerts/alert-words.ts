import { DateTime } from 'luxon';
import type { AlertKind } from '../../core/domain/alert-kinds.ts';
import { counted, grouped } from '../../core/domain/counted.ts';
import { isDiscrepancyKind } from '../../core/domain/discrepancy-kinds.ts';
import { kindAction } from '../../words/discrepancy-words.ts';
import type { Notice } from './message.ts';

/** `what`: one sentence. `over`: the same when it has ended. `act`: what to do. `path`: the dashboard's page about it. */
type Words = { what: string; over: string; act: string; path: string };

const haltCauses: Record<string, string> = {
  person: 'a person stopped it',
  account: 'the service refuses the account (balance, keys or permission)',
  signature: 'the service calls our signature wrong',
  unknowns: 'too many outcomes are unknown',
  barrier: 'the ledger was restored, moved or adopted',
};
const haltActs: Record<string, string> = {
  person: 'Ask that person. counterfoil release --mode lifts the halt.',
  account: 'Mend it at the service, then run counterfoil release --mode.',
  signature: 'Run counterfoil doctor, correct the key, then run counterfoil release --mode.',
  unknowns: 'Run counterfoil reconcile, then counterfoil release --mode.',
  barrier: 'Run counterfoil status: it names the way out.',
};

const words: Record<AlertKind, (notice: Notice) => Words> = {
  sending_halted: ({ subject }) => ({
    what: `Sending is halted: ${haltCauses[subject] ?? 'see status'}. Nothing is sent until somebody lifts the halt.`,
    over: 'Sending is no longer halted for this reason',
    act: haltActs[subject] ?? 'Run counterfoil status.',
    path: '/',
  }),
  payout_unknown: ({ count, names }) => ({
    what: `${counted(count, 'payout is', 'payouts are')} unknown past the quiet period, and may have been paid.`,
    over: 'No payout is unknown past its quiet period',
    act: 'Ask the service how each ended. counterfoil retry REFERENCE shows the evidence; counterfoil settle REFERENCE closes it. Pay nothing again before that.',
    path: `/payouts/${names[0] ?? ''}`,
  }),
  outcome_unknown: ({ count, names }) => ({
    what: `The outcome of ${counted(count, 'payout')} has been unknown for 15 minutes. The service is asked about it.`,
    over: 'No outcome has been unknown for 15 minutes',
    act: 'Wait for the look-ups, or run counterfoil reconcile. counterfoil show REFERENCE shows what is known.',
    path: `/payouts/${names[0] ?? ''}`,
  }),
  discrepancy_high: ({ subject, count }) => ({
    what: `${counted(count, 'open discrepancy', 'open discrepancies')} of high severity: ${subject}.`,
    over: `No discrepancy ${subject} of high severity is open`,
    act: `${isDiscrepancyKind(subject) ? kindAction(subject) : ''} counterfoil discrepancies --kind ${subject} lists them.`.trim(),
    path: '/discrepancies',
  }),
  canary_failed: ({ subject }) => ({
    what: `The canary of ${subject} failed: one of its first payouts went wrong or did not settle in time. Sending is halted.`,
    over: `The canary of ${subject} holds nothing back any more`,
    act: `Look at the payouts with counterfoil status. Then run counterfoil release --mode, or counterfoil cancel ${subject}.`,
    path: `/batches/${subject}`,
  }),
  batch_held: ({ subject, count }) => ({
    what: `${subject} is held: ${counted(count, 'payout')} of it ${count === 1 ? 'waits' : 'wait'} for a person.`,
    over: `${subject} waits for nobody any more`,
    act: 'Run counterfoil status: it names the reasons, and what lifts each.',
    path: `/batches/${subject}`,
  }),
  receiver_silent: ({ count }) => ({
    what: `No webhook arrives: ${counted(count, 'payout')} ended at the service longer ago than the grace, without a webhook.`,
    over: 'Webhooks arrive again, or none is due',
    act: 'Run counterfoil doctor. Check the webhook address at the service, the proxy and the certificate. Payouts are settled by look-ups meanwhile.',
    path: '/',
  }),
  signatures_wrong: ({ count }) => ({
    what: `${counted(count, 'webhook')} about our payouts ${count === 1 ? 'was' : 'were'} refused: the signature is wrong, and none with a right one came since.`,
    over: 'Webhooks with a right signature arrive again, or no refused one is known any more',
    act: 'Run counterfoil doctor, and compare the webhook key with the one at the service. Payouts are settled by look-ups meanwhile.',
    path: '/',
  }),
  service_silent: () => ({
    what: 'The payments service has not answered for two minutes.',
    over: 'The payments service answers again',
    act: 'Check the network and the status page of the service. Sending and questions go on by themselves when it answers.',
    path: '/',
  }),
  schedule_missed: ({ subject }) => ({
    what: `The job ${subject} missed its time.`,
    over: `The job ${subject} did its work again`,
    act: 'Run counterfoil status, and look at the log of counterfoil serve.',
    path: '/',
  }),
  schedule_failed: ({ subject }) => ({
    what: `The last run of the job ${subject} failed or was incomplete. It is tried again.`,
    over: `The job ${subject} did its work again`,
    act: 'counterfoil status names the cause. Remove it; serve tries again by itself.',
    path: '/',
  }),
  queue_stuck: () => ({
    what: 'The queue takes and gives no jobs. While a shared queue is away, each serve sends by itself.',
    over: 'The queue takes and gives jobs again',
    act: 'Check the server of queue.url. counterfoil doctor says more.',
    path: '/',
  }),
  certificate_ends: ({ count }) => ({
    what:
      count > 0
        ? `The certificate of the receiver ends in ${counted(count, 'day')}.`
        : 'The certificate of the receiver is not valid today, or its files cannot be used.',
    over: 'The certificate of the receiver is in order',
    act: 'Renew it in place: serve uses the new one within a minute. Without it the service stops delivering webhooks.',
    path: '/',
  }),
  file_rejected: ({ subject, count }) => ({
    what:
      subject === 'refused'
        ? `${counted(count, 'file was', 'files were')} refused: nothing of ${count === 1 ? 'it' : 'them'} is paid.`
        : `Rows were left out of ${counted(count, 'file')}: they are not paid.`,
    over:
      subject === 'refused'
        ? 'Each refused file was dropped again, or acknowledged'
        : 'The rows that were left out were dropped again, or acknowledged',
    act: 'Correct what the errors file names, then drop it again. counterfoil status shows where each file is; counterfoil ack FILE ends this without it.',
    path: '/',
  }),
  disk_low: ({ count }) => ({
    what: `The disk of the data folder has ${grouped(`${count}`)} MiB left, less than the ledger needs.`,
    over: 'The disk has enough space again',
    act: 'Free some space: a full disk stops sending.',
    path: '/',
  }),
};

/** How the texts of a message are made: the time zone of its times, and the dashboard's address, if any. */
export type Style = { timezone: string; dashboardUrl: string };

const labels: Record<Notice['change'], string> = {
  raised: 'ALERT',
  grown: 'MORE',
  repeated: 'STILL',
  cleared: 'CLEARED',
};

/** The lines about one alert: what is wrong, how much, since when, what to do, and the link. */
export function noticeLines(notice: Notice, style: Style): string[] {
  const { what, over, act, path } = words[notice.kind](notice);
  const since = shortTime(notice.since, style.timezone);
  if (notice.change === 'cleared') return [`CLEARED  ${over} (since ${since}).`];
  const more = notice.count > notice.names.length ? ', …' : '';
  return [
    `${labels[notice.change]}  ${what}${notice.change === 'raised' ? '' : ` Since ${since}.`}`,
    ...Object.entries(notice.totals).map(([currency, amount]) => `  ${currency} ${grouped(amount)}`),
    ...(notice.names.length > 0 ? [`  ${notice.names.join(', ')}${more}`] : []),
    `  What to do: ${act}`,
    ...linkLines(style, path),
  ];
}

/** The link to a page of the dashboard; none where no dashboard is configured. */
export function linkLines({ dashboardUrl }: Style, path: string): string[] {
  return dashboardUrl === '' ? [] : [`  ${dashboardUrl.replace(/\/+$/, '')}${path}`];
}

/** An instant as people read it, such as `22 Nov 16:00`. */
function shortTime(at: string, zone: string): string {
  return DateTime.fromISO(at, { zone }).setLocale('en').toFormat('d LLL HH:mm');
}

export function noticeTitle({ change, ...notice }: Notice): string {
  const { what, over } = words[notice.kind]({ change, ...notice });
  return change === 'cleared' ? `Cleared: ${over}` : (what.split(/[.:] /)[0] ?? what).replace(/\.$/, '');
}
