import { join } from 'node:path';
import type { App } from '../../../app/app.ts';
import { counted } from '../../../core/domain/counted.ts';
import { visible } from '../../../core/domain/hidden.ts';
import type { WebhookRejectionKind } from '../../../core/domain/rejection.ts';
import { waitingWhy } from '../../../core/domain/waiting-file.ts';
import type { Config } from '../../../core/settings/settings.ts';
import { isLedgerThere } from '../../../core/storage/exists.ts';
import { describeServer, quickCheck, rejectionsSince } from '../../../core/storage/health.ts';
import { isLedgerFile, placeName } from '../../../core/storage/place.ts';
import { ledgerGrowth } from '../../../custody/growth.ts';
import { readMark } from '../../../custody/mark.ts';
import { backupStanding } from '../../../findings/file-findings.ts';
import { finders, type Scene } from '../../../findings/finders.ts';
import { isShown } from '../../../findings/finding.ts';
import { rejectedFindings } from '../../../findings/ledger-findings.sql.ts';
import { type HaltAdvice, haltAdvice } from '../../../sending/halt.ts';
import { waivedListing } from '../../../watching/listing/waived-listing.sql.ts';
import { webhookCounts } from '../../../watching/webhooks/webhooks.sql.ts';
import { lateBackup, newestText } from '../../../words/file-words.ts';
import { findingWords } from '../../../words/finding-words.ts';
import { sayHalt } from '../../../words/halt-words.ts';
import { type DaemonStanding, jobLabel, jobsStanding } from '../../json/jobs-standing.ts';
import { promisedFiles } from '../../json/status-standing.ts';
import { holdsTakenFiles } from '../context/ledger-there.ts';
import { fail } from '../context/result.ts';
import { waivedText } from '../kit/describe.ts';
import { sizeText } from '../kit/size-text.ts';
import { promisedLines } from '../status/promised.ts';
import { type DoctorCheck, faulty, skipped, well, wrong } from './doctor-check.ts';

const dayMs = 24 * 60 * 60_000;

/** Why the ledger cannot be opened. It replaces the checks that would read it. */
export function describeUnopened(config: Config, error: unknown): DoctorCheck {
  const { problem = 'it cannot be opened' } = fail(error);
  return wrong(
    'ledger',
    `${placeName(config.ledgerPlace)}: ${problem}`,
    'do as it says; then run counterfoil verify',
  );
}

/** Checks for a missing ledger: a fault only if batches were taken in before. Null when there is a ledger. */
export async function checkAbsentLedger({ ledgerPlace, dataDir }: Config): Promise<DoctorCheck | null> {
  if (await isLedgerThere(ledgerPlace)) return null;
  const name = placeName(ledgerPlace);
  const archive = join(dataDir, 'archive');
  if (holdsTakenFiles(archive))
    return wrong(
      'ledger',
      `${archive} holds batches that were taken in, but there is no ledger ${name}`,
      'check ledger.url and --data, or put a backup in its place with counterfoil restore FILE --adopt',
    );
  return well('ledger', `${name} is not there yet: the first counterfoil submit begins it`);
}

/** Checks the file, the mark, what stops sending, and waiting webhooks. */
export async function checkLedger(app: App<'local'>, scene: Scene): Promise<DoctorCheck[]> {
  return [
    await checkFile(app),
    await checkHalt(app),
    await checkWebhooks(scene),
    await checkLookUps(scene),
    await checkRejections(app),
    ...(app.config.submission.approval === 'callback' ? [await checkApproval(scene)] : []),
  ];
}

async function checkFile({ ledger }: App<'local'>): Promise<DoctorCheck> {
  const { damage, read } = await quickCheck(ledger.db);
  const mark = readMark(ledger.path);
  const marked = mark.kind === 'mark' ? `marked at entry ${mark.mark.history}` : 'no mark beside it yet';
  const name = placeName(ledger.place);
  if (!isLedgerFile(ledger.place)) {
    const [why] = damage;
    return why === undefined
      ? well(
          'ledger',
          `${name}: ${await describeServer(ledger.db)}; ${marked}; counterfoil verify proves the rest`,
        )
      : wrong('ledger', `${name}: ${why}`, 'do as it says; until then nothing should be sent');
  }
  if (damage.length > 0)
    return wrong(
      'ledger',
      `${ledger.path} is damaged: ${damage.join('; ')}`,
      'stop sending (counterfoil hold --mode), keep a copy of the file, then counterfoil restore FILE --adopt from the last backup',
    );
  const state =
    read === 'whole'
      ? 'opens and is whole'
      : 'opens; too large to read whole here, its tables begin and end well';
  return well('ledger', `${ledger.path} ${state}; ${marked}; counterfoil verify proves the rest`);
}

async function checkHalt(app: App<'local'>): Promise<DoctorCheck> {
  const halt = sayHalt(await app.findHalt());
  if (!halt) {
    const waived = await waivedListing(app.ledger.db, app.account);
    const decided = waived ? `. ${waivedText(waived, (at) => at)}` : '';
    return well('sending', `nothing halts it${decided}`);
  }
  const detail = `halted since ${halt.at}: ${halt.cause}`;
  const advice = haltAdvice(halt.kinds);
  if (advice === 'as_the_cause_says') return wrong('sending', detail, wayOut[advice]);
  return wrong('sending', detail, `${wayOut[advice]}; then counterfoil release --mode`);
}

const wayOut: Record<HaltAdvice, string> = {
  as_the_cause_says: 'do as the cause says; release --mode alone does not lift it',
  doctor: 'see the signature below',
  reconcile: 'counterfoil reconcile, which asks what became of them',
  none: 'remove the cause',
};

async function checkWebhooks(scene: Scene): Promise<DoctorCheck> {
  const { received, applied, strangers } = await webhookCounts(scene.db);
  const old = strangers === 0 ? '' : `; of ${strangers} old ones about no payout only the reference is kept`;
  const detail = `${received} received, ${applied} applied${old}`;
  const [seen] = await finders.webhooks_overdue(scene);
  if (!seen || !isShown(seen, 'doctor')) return well('webhooks', detail);
  const { problem, fix } = findingWords.webhooks_overdue.doctor(seen);
  return wrong('webhooks', `${detail}; ${problem}`, fix);
}

async function checkLookUps(scene: Scene): Promise<DoctorCheck> {
  const [seen] = await finders.look_ups_overdue(scene);
  if (!seen) return well('look-ups', 'none is due');
  if (!isShown(seen, 'doctor')) return well('look-ups', `${seen.count} due`);
  return faulty('look-ups', seen);
}

/** Checks that the operator's own server decides about what waits for an approval. */
async function checkApproval(scene: Scene): Promise<DoctorCheck> {
  const waiting = await finders.approval_unanswered(scene);
  const [late] = waiting.filter((one) => isShown(one, 'doctor'));
  if (!late) return well('approval', `${counted(waiting.length, 'batch', 'batches')} asked about`);
  return faulty('approval', late);
}

/** Checks rejected webhooks: many with one reason mean a wrong key, a few are strangers. */
async function checkRejections({ ledger, config, clock }: App<'local'>): Promise<DoctorCheck> {
  const since = new Date(clock.now() - dayMs).toISOString();
  const rejected = await rejectionsSince(ledger.db, since);
  if (rejected.length === 0) return well('rejected deliveries', 'none in the last 24 hours');
  const detail = `in the last 24 hours: ${rejected.map(({ kind, count }) => `${count} ${rejectionText[kind]}`).join(', ')}`;
  const { received } = await webhookCounts(ledger.db);
  const prefix = `COUNTERFOIL_${config.mode.toUpperCase()}`;
  const [first] = rejected.flatMap(({ kind }) => fixFor(kind, prefix) ?? []);
  // If none was accepted, the rejected ones are not from strangers.
  return received === 0 && first !== undefined
    ? wrong('rejected deliveries', `${detail}; none was ever taken`, first)
    : well('rejected deliveries', detail);
}

const rejectionText: Record<WebhookRejectionKind, string> = {
  signature_missing: 'payloadsignature missing',
  signature_wrong: 'payloadsignature wrong',
  merchant_signature_wrong: 'merchantsignature wrong',
  authorization_missing: 'authorization missing',
  authorization_wrong: 'authorization wrong',
  other_mode: 'for the other mode',
  no_keys: 'without keys here',
  source_address: 'source address not allowed',
  compressed: 'compressed',
  too_large: 'too large',
  no_request: 'no request',
  many: 'of many kinds',
};

function fixFor(kind: WebhookRejectionKind, prefix: string): string | undefined {
  const secret = `compare ${prefix}_SECRET_KEY with the service's dashboard`;
  const token = `compare ${prefix}_WEBHOOK_KEY with the service's dashboard`;
  const fixes: Record<WebhookRejectionKind, string | undefined> = {
    signature_missing: secret,
    signature_wrong: secret,
    merchant_signature_wrong: `compare ${prefix}_PUBLIC_KEY with the service's dashboard`,
    authorization_missing: token,
    authorization_wrong: token,
    other_mode: undefined,
    no_keys: `set ${prefix}_SECRET_KEY`,
    source_address: 'correct receiver.allow_from, and receiver.trust_proxy for a proxy before it',
    compressed: 'switch compression off at the service or the proxy before the receiver',
    too_large: 'raise receiver.max_body_bytes',
    no_request: 'check that the webhook address at the service has the right scheme (http or https) and port',
    many: undefined,
  };
  return fixes[kind];
}

/** Says how large the ledger is, and how fast it grew over the last weeks. */
export async function checkGrowth({ ledger, clock }: App<'local'>): Promise<DoctorCheck> {
  const { bytes, perDay, days } = await ledgerGrowth(ledger.db, clock.now());
  const size = `the ledger takes ${sizeText(bytes)}`;
  if (perDay === null)
    return well('growth', `${size}; how fast it grows is known a day after the first reconciliation`);
  const year = bytes + perDay * 365;
  return well(
    'growth',
    `${size} and grew by ${sizeText(perDay)} a day over the last ${Math.round(days)} days; at this rate it takes ${sizeText(year)} in a year`,
  );
}

/** Says how old the newest scheduled backup is; a fault when one was missed. */
export function checkBackups(app: App<'local'>): DoctorCheck {
  if (!isLedgerFile(app.ledger.place)) return skipped('backups', 'the database makes them');
  const standing = backupStanding(app);
  if (standing === null)
    return well('backups', 'ledger.backup_dir is not set: serve makes none, and others are not seen here');
  switch (standing.is) {
    case 'none':
      return well('backups', `none in ${standing.folder} yet: serve makes one every ${standing.every}`);
    case 'kept':
      return well('backups', newestText(standing));
    default: {
      const { problem, fix } = lateBackup(standing);
      return wrong('backups', problem, fix);
    }
  }
}

/** Checks for refused files, files that are still being written, and files that differ from what the ledger says (P34). */
export async function checkIntake(app: App<'local'>): Promise<DoctorCheck> {
  const promised = await promisedFiles(app);
  const [fault] = [...promised.findings, ...(await rejectedFindings(app.ledger.db))];
  if (fault) return faulty('files', fault);
  const { files, waiting } = await app.lying();
  const unfinished = waiting.map(({ name, why }) => `${visible(name)}: ${waitingWhy(why)}`);
  const [first = `${files} waiting in the inbox; the archive is what was read`] = [
    ...promisedLines(promised),
    ...unfinished,
  ];
  return well('files', first.trim());
}

/** Checks that scheduled jobs did their work last time, and that a daemon runs them. */
export async function checkSchedules(
  app: App<'looking'>,
  daemon: DaemonStanding,
  scene: Scene,
): Promise<DoctorCheck> {
  const all = await jobsStanding(app, daemon, scene);
  const jobs = all.filter(({ expression }) => expression.trim() !== '');
  if (jobs.length === 0) return well('schedules', 'all are off');
  const wrongs = jobs.flatMap((job) => {
    if (job.finding === null) return [];
    const { problem, fix } = findingWords[job.finding.kind].doctor(job.finding);
    return [{ problem: `${jobLabel(job)}: ${problem}`, fix }];
  });
  const [first] = wrongs;
  if (first) return wrong('schedules', wrongs.map(({ problem }) => problem).join('; '), first.fix);
  if (!daemon.running && !daemon.elsewhere)
    return skipped('schedules', 'no serve runs, and whatever runs the commands instead is not seen here');
  const last = jobs.map((job) => `${jobLabel(job)} ${job.last_result?.kind ?? 'not run yet'}`);
  return well('schedules', last.join(', '));
}
