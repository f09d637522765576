import type { JobsStore } from '../core/runtime/jobs.sql.ts';
import type { Config } from '../core/settings/settings.ts';
import type { Db, Trx } from '../core/storage/ledger.ts';
import { isShown, type PublicFinding, plainFinding } from './finding.ts';
import { jobFindings } from './job-findings.ts';
import type { AlertKind } from './kinds.ts';
import {
  discrepancyFindings,
  haltFindings,
  heldFindings,
  rejectedFindings,
  signatureFindings,
  unknownFindings,
} from './ledger-findings.sql.ts';
import { certificateFinding, diskFinding } from './machine-findings.ts';
import { findSilence, type SilenceMark } from './silence.sql.ts';

/** What people are told at once. */
export type AlertFinding = PublicFinding<AlertKind>;

/**
 * Who looks. `daemon`: it runs the schedules. `isQueueStuck`: what it knows of its queue. `service`: whether its requests
 * are answered; absent where it cannot tell.
 */
export type Viewer = { daemon: boolean; isQueueStuck?: boolean; service?: 'answers' | 'silent' | undefined };

/** Finds what people are told at once. `machine` names this machine among those that share the ledger. */
export function createAlertFindings(deps: {
  config: Config;
  jobsStore: Pick<JobsStore, 'all'>;
  machine: string;
}) {
  const { config, jobsStore, machine } = deps;
  const { submission, receiver, reconciliation, schedules } = config;
  return {
    /** What this process alone knows, and what no transaction protects. */
    outside: async ({
      daemon,
      isQueueStuck = false,
      service,
      nowMs,
    }: Viewer & { nowMs: number }): Promise<AlertFinding[]> => {
      const certificate = receiver.enabled ? await certificateFinding(receiver, { machine, nowMs }) : null;
      return [
        ...(daemon ? jobFindings('alerts', await jobsStore.all(), { schedules, nowMs }) : []),
        ...(isQueueStuck ? [plainFinding('queue_stuck', machine)] : []),
        ...(service === 'silent' ? [plainFinding('service_silent', machine)] : []),
        ...(certificate ? [certificate] : []),
        await diskFinding(config, machine),
      ].filter((one) => isShown(one, 'alerts'));
    },
    /** What the ledger says, as of `at`, ISO UTC. The same in every process. `mark`: to be noted by `markSilence`. */
    async inLedger(
      db: Db | Trx,
      at: string,
      { daemon }: { daemon: boolean },
    ): Promise<{ findings: AlertFinding[]; mark: SilenceMark | null }> {
      const quietMs = submission.quietPeriodMinutes * 60_000;
      const graceMs = reconciliation.webhookGraceMinutes * 60_000;
      const silence = daemon && receiver.enabled ? await findSilence(db, { at, graceMs }) : null;
      const findings = [
        ...(await haltFindings(db)),
        ...(await unknownFindings(db, { at, quietMs })),
        ...(await heldFindings(db)),
        ...(await discrepancyFindings(db, at)),
        ...(await rejectedFindings(db)),
        ...(receiver.enabled ? await signatureFindings(db) : []),
        ...(silence?.findings ?? []),
      ];
      return { findings, mark: silence?.mark ?? null };
    },
  };
}
