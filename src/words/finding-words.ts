import { counted, grouped } from '../core/domain/counted.ts';
import { isDiscrepancyKind } from '../core/domain/discrepancy-kinds.ts';
import type { PublicFinding } from '../findings/finding.ts';
import type { AlertKind } from '../findings/kinds.ts';
import { kindAction } from './discrepancy-words.ts';

/** What is wrong, and what to do. */
export type SaidFinding = { problem: string; fix: string };
/** `over`: what is said when it has ended. `path`: the dashboard's page about it. */
type SaidAlert = SaidFinding & { over: string; path: string };
type Alert = Pick<PublicFinding, 'subject' | 'count' | 'names'>;

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

/** How each finding reads on each face that words it. */
export const findingWords: Record<AlertKind, { alerts(alert: Alert): SaidAlert }> = {
  sending_halted: {
    alerts: ({ subject }) => ({
      problem: `Sending is halted: ${haltCauses[subject] ?? 'see status'}. Nothing is sent until somebody lifts the halt.`,
      over: 'Sending is no longer halted for this reason',
      fix: haltActs[subject] ?? 'Run counterfoil status.',
      path: '/',
    }),
  },
  payout_unknown: {
    alerts: ({ count, names }) => ({
      problem: `${counted(count, 'payout is', 'payouts are')} unknown past the quiet period, and may have been paid.`,
      over: 'No payout is unknown past its quiet period',
      fix: 'Ask the service how each ended. counterfoil retry REFERENCE shows the evidence; counterfoil settle REFERENCE closes it. Pay nothing again before that.',
      path: `/payouts/${names[0] ?? ''}`,
    }),
  },
  outcome_unknown: {
    alerts: ({ count, names }) => ({
      problem: `The outcome of ${counted(count, 'payout')} has been unknown for 15 minutes. The service is asked about it.`,
      over: 'No outcome has been unknown for 15 minutes',
      fix: 'Wait for the look-ups, or run counterfoil reconcile. counterfoil show REFERENCE shows what is known.',
      path: `/payouts/${names[0] ?? ''}`,
    }),
  },
  discrepancy_high: {
    alerts: ({ subject, count }) => ({
      problem: `${counted(count, 'open discrepancy', 'open discrepancies')} of high severity: ${subject}.`,
      over: `No discrepancy ${subject} of high severity is open`,
      fix: `${isDiscrepancyKind(subject) ? kindAction(subject) : ''} counterfoil discrepancies --kind ${subject} lists them.`.trim(),
      path: '/discrepancies',
    }),
  },
  canary_failed: {
    alerts: ({ subject }) => ({
      problem: `The canary of ${subject} failed: one of its first payouts went wrong or did not settle in time. Sending is halted.`,
      over: `The canary of ${subject} holds nothing back any more`,
      fix: `Look at the payouts with counterfoil status. Then run counterfoil release --mode, or counterfoil cancel ${subject}.`,
      path: `/batches/${subject}`,
    }),
  },
  batch_held: {
    alerts: ({ subject, count }) => ({
      problem: `${subject} is held: ${counted(count, 'payout')} of it ${count === 1 ? 'waits' : 'wait'} for a person.`,
      over: `${subject} waits for nobody any more`,
      fix: 'Run counterfoil status: it names the reasons, and what lifts each.',
      path: `/batches/${subject}`,
    }),
  },
  receiver_silent: {
    alerts: ({ count }) => ({
      problem: `No webhook arrives: ${counted(count, 'payout')} ended at the service longer ago than the grace, without a webhook.`,
      over: 'Webhooks arrive again, or none is due',
      fix: 'Run counterfoil doctor. Check the webhook address at the service, the proxy and the certificate. Payouts are settled by look-ups meanwhile.',
      path: '/',
    }),
  },
  signatures_wrong: {
    alerts: ({ count }) => ({
      problem: `${counted(count, 'webhook')} about our payouts ${count === 1 ? 'was' : 'were'} refused: the signature is wrong, and none with a right one came since.`,
      over: 'Webhooks with a right signature arrive again, or no refused one is known any more',
      fix: 'Run counterfoil doctor, and compare the webhook key with the one at the service. Payouts are settled by look-ups meanwhile.',
      path: '/',
    }),
  },
  service_silent: {
    alerts: () => ({
      problem: 'The payments service has not answered for two minutes.',
      over: 'The payments service answers again',
      fix: 'Check the network and the status page of the service. Sending and questions go on by themselves when it answers.',
      path: '/',
    }),
  },
  schedule_missed: {
    alerts: ({ subject }) => ({
      problem: `The job ${subject} missed its time.`,
      over: `The job ${subject} did its work again`,
      fix: 'Run counterfoil status, and look at the log of counterfoil serve.',
      path: '/',
    }),
  },
  schedule_failed: {
    alerts: ({ subject }) => ({
      problem: `The last run of the job ${subject} failed or was incomplete. It is tried again.`,
      over: `The job ${subject} did its work again`,
      fix: 'counterfoil status names the cause. Remove it; serve tries again by itself.',
      path: '/',
    }),
  },
  queue_stuck: {
    alerts: () => ({
      problem: 'The queue takes and gives no jobs. While a shared queue is away, each serve sends by itself.',
      over: 'The queue takes and gives jobs again',
      fix: 'Check the server of queue.url. counterfoil doctor says more.',
      path: '/',
    }),
  },
  certificate_ends: {
    alerts: ({ count }) => ({
      problem:
        count > 0
          ? `The certificate of the receiver ends in ${counted(count, 'day')}.`
          : 'The certificate of the receiver is not valid today, or its files cannot be used.',
      over: 'The certificate of the receiver is in order',
      fix: 'Renew it in place: serve uses the new one within a minute. Without it the service stops delivering webhooks.',
      path: '/',
    }),
  },
  file_rejected: {
    alerts: ({ subject, count }) => ({
      problem:
        subject === 'refused'
          ? `${counted(count, 'file was', 'files were')} refused: nothing of ${count === 1 ? 'it' : 'them'} is paid.`
          : `Rows were left out of ${counted(count, 'file')}: they are not paid.`,
      over:
        subject === 'refused'
          ? 'Each refused file was dropped again, or acknowledged'
          : 'The rows that were left out were dropped again, or acknowledged',
      fix: 'Correct what the errors file names, then drop it again. counterfoil status shows where each file is; counterfoil ack FILE ends this without it.',
      path: '/',
    }),
  },
  disk_low: {
    alerts: ({ count }) => ({
      problem: `The disk of the data folder has ${grouped(`${count}`)} MiB left, less than the ledger needs.`,
      over: 'The disk has enough space again',
      fix: 'Free some space: a full disk stops sending.',
      path: '/',
    }),
  },
};
