import { counted, grouped } from '../core/domain/counted.ts';
import { isDiscrepancyKind } from '../core/domain/discrepancy-kinds.ts';
import { visible } from '../core/domain/hidden.ts';
import type { Finding, PublicFinding } from '../findings/finding.ts';
import type { AlertKind, FacesOf, FindingKind, KindsOn } from '../findings/kinds.ts';
import { adviceText } from './advice-text.ts';
import { channelTrouble, eventTrouble, undecidedTrouble } from './channel-words.ts';
import { kindAction } from './discrepancy-words.ts';
import { changedText, lateBackup, lostText } from './file-words.ts';
import { haltActs, haltCauses } from './halt-words.ts';
import { rejectedAlerts, rejectedText, rejectionOf, rejectionWaysOut } from './rejected-words.ts';
import { secondsText } from './short-times.ts';

/** What is wrong, and what to do. */
export type SaidFinding = { problem: string; fix: string };
/** `over`: what is said when it has ended. `path`: the dashboard's page about it. */
type SaidAlert = SaidFinding & { over: string; path: string };

/** What each face that words findings says of one. The dashboard's list and `status` have layouts of their own. */
type FaceWords<K extends FindingKind> = {
  alerts(alert: Pick<PublicFinding, 'subject' | 'count' | 'names'>): SaidAlert;
  ready(finding: Finding<K>): SaidFinding;
  doctor(finding: Finding<K>): SaidFinding;
};
type Words = { [K in FindingKind]: Pick<FaceWords<K>, FacesOf<K> & keyof FaceWords<K>> };

const jobFix = 'counterfoil status says why; the log of serve has the error';
const doneFix =
  'remove the cause, then counterfoil serve tries again, or run the command by hand: counterfoil reconcile, submit or report';
export const unnoted = 'no reason was noted';
const resultWords = { failed: 'failed', incomplete: 'was incomplete' };
function overdueText(name: string, { since, facts: { due } }: Finding<'schedule_missed'>): string {
  if (since === null) return `${name} is overdue: no run of it has succeeded yet`;
  if (due === null) return `${name} is overdue: its last success has a time to come, ${since}`;
  return `${name} is overdue since ${due}`;
}
const mibText = (bytes: number): string => `${(bytes / 1024 / 1024).toFixed(bytes < 10_485_760 ? 1 : 0)} MiB`;

const words = {
  starting: {
    ready: () => ({ problem: 'the daemon is still starting', fix: 'wait; the log says what takes long' }),
  },
  ledger_away: {
    ready: ({ since, facts: { why } }) => ({
      problem: `the ledger's database has been away since ${since} (${why}): nothing is sent`,
      fix: 'start the database, or mend the way to it: serve goes on by itself',
    }),
  },
  ledger_unwritable: {
    ready: ({ facts: { why, forbidden: place } }) => ({
      problem: `the ledger cannot be written (${why})`,
      fix:
        place === null
          ? 'make room on its disk, start its server, or end the program that keeps it locked; counterfoil doctor says more'
          : adviceText({ kind: 'give_file', place }),
    }),
  },
  ledger_unreadable: {
    ready: ({ facts: { why } }) => ({
      problem: `the ledger cannot be read (${why})`,
      fix: 'counterfoil doctor says more',
    }),
  },
  ledger_behind: {
    ready: ({ facts: { why, advice } }) => ({ problem: why, fix: adviceText(advice ?? { kind: 'adopt' }) }),
  },
  webhooks_overdue: {
    ready: ({ facts: { waitsMs } }) => ({
      problem:
        waitsMs < 0
          ? 'a stored webhook, received before the clock was set back, has not been applied'
          : `a stored webhook has not been applied for ${secondsText(waitsMs)}`,
      fix: 'read the log of serve for the error; starting it again applies what is stored',
    }),
    doctor: ({ facts: { waitsMs } }) => ({
      problem: `the oldest that waits came ${waitsMs < 0 ? 'before the clock was set back' : `${secondsText(waitsMs)} ago`}`,
      fix: 'run counterfoil serve, or counterfoil reconcile, which applies them first',
    }),
  },
  look_ups_overdue: {
    ready: ({ count, measure }) => ({
      problem: `${counted(count, 'look-up')} ${count === 1 ? 'is' : 'are'} overdue, the oldest for ${secondsText(measure)}: payouts wait for the answers`,
      fix: 'counterfoil doctor says whether the service answers; service.requests_per_second limits how fast it is asked',
    }),
    doctor: ({ count, measure }) => ({
      problem: `${count} due, the oldest for ${secondsText(measure)}: payouts wait for the answers`,
      fix: 'see that the service answers and that counterfoil serve runs, or run counterfoil reconcile',
    }),
  },
  disk_full: {
    ready: ({ facts: { free } }) => ({
      problem: `${Math.floor(free / 1024 / 1024)} MiB are free on the disk of the data folder`,
      fix: 'free some space: a full disk stops sending',
    }),
  },
  disk_unseen: {
    ready: ({ facts: { why } }) => ({
      problem: `the disk of the data folder cannot be looked at (${why})`,
      fix: 'see that the folder is there, and that this account may use it',
    }),
  },
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
  payout_unpaid: {},
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
    ready: (missed) => ({ problem: overdueText(missed.subject, missed), fix: jobFix }),
    doctor: (missed) => ({ problem: overdueText('it', missed), fix: doneFix }),
  },
  schedule_failed: {
    alerts: ({ subject }) => ({
      problem: `The last run of the job ${subject} failed or was incomplete. It is tried again.`,
      over: `The job ${subject} did its work again`,
      fix: 'counterfoil status names the cause. Remove it; serve tries again by itself.',
      path: '/',
    }),
    ready: ({ subject, facts: { result } }) => ({
      problem: `the last run of ${subject} ${resultWords[result]}`,
      fix: jobFix,
    }),
    doctor: ({ facts: { result, why } }) => ({
      problem: `its last run ${resultWords[result]}: ${why ?? unnoted}`,
      fix: doneFix,
    }),
  },
  queue_stuck: {
    alerts: () => ({
      problem: 'The queue takes and gives no jobs. While a shared queue is away, each serve sends by itself.',
      over: 'The queue takes and gives jobs again',
      fix: 'Check the server of queue.url. counterfoil doctor says more.',
      path: '/',
    }),
    ready: ({ subject, facts: { why } }) =>
      why === null
        ? {
            problem: `the ${subject} queue is paused: it keeps its jobs`,
            fix: 'resume it where it was paused, such as a dashboard',
          }
        : {
            problem: `the ${subject} queue takes and gives no jobs (${why})`,
            fix: 'check the server of queue.url; counterfoil doctor says more',
          },
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
    doctor: ({ count, facts }) => ({
      problem:
        facts.is === 'valid' ? `${facts.file} expires at ${facts.validTo}, in ${count} days` : facts.fault,
      fix:
        facts.is === 'unusable'
          ? 'correct receiver.tls_cert and receiver.tls_key; until then serve does not start'
          : 'renew it in place: serve takes the new one up within a minute',
    }),
  },
  file_rejected: {
    alerts: ({ subject, count }) => ({ ...rejectedAlerts[rejectionOf(subject)](count), path: '/' }),
    doctor: ({ facts: { files } }) => {
      const [oldest] = files;
      const more = files.length > 1 ? `, and ${counted(files.length - 1, 'more file')}` : '';
      return {
        problem: `${oldest ? rejectedText(oldest) : ''}${more}`,
        fix: oldest
          ? rejectionWaysOut[oldest.kind]({ place: visible(oldest.place), name: visible(oldest.name) })
          : '',
      };
    },
  },
  file_lost: {
    doctor: ({ count, facts: { lost, changed } }) => ({
      problem: `${[...lost.map(lostText), ...changed.map(changedText)][0]}${count > 1 ? `, and ${count - 1} more` : ''}`,
      fix: 'compare the file with its source: what came late was never read. Give it again in a file of its own, with its own references',
    }),
  },
  backup_late: { doctor: ({ facts }) => lateBackup(facts) },
  disk_low: {
    alerts: ({ count }) => ({
      problem: `The disk of the data folder has ${grouped(`${count}`)} MiB left, less than the ledger needs.`,
      over: 'The disk has enough space again',
      fix: 'Free some space: a full disk stops sending.',
      path: '/',
    }),
    doctor: ({ facts: { dataDir, free, ledger } }) => ({
      problem: `${dataDir}: ${mibText(free)} free, the ledger takes ${mibText(ledger)}`,
      fix: 'free some space: a full disk stops sending, and a backup needs as much as the ledger',
    }),
  },
  message_lost: {
    doctor: ({ facts: { standings } }) => ({
      problem: standings.flatMap((one) => channelTrouble(one) ?? []).join('; '),
      fix: 'counterfoil doctor --alert tries each channel; correct its key under alerts. What waits is sent again by itself',
    }),
  },
  events_undelivered: { doctor: eventTrouble },
  approval_unanswered: { doctor: undecidedTrouble },
  discrepancy_open: {},
  answer_awaited: {},
  payout_kept: {},
  sending_idle: {},
  run_unsound: {},
} satisfies Words;

/** How each finding reads on each face that words it. */
export const findingWords: Readonly<
  Record<AlertKind, Pick<FaceWords<never>, 'alerts'>> &
    Record<KindsOn<'ready'>, { ready(finding: Finding): SaidFinding }> &
    Record<KindsOn<'doctor'>, { doctor(finding: Finding): SaidFinding }>
> = words;
