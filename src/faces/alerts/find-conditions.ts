import type { JobsStore } from '../../core/runtime/jobs.sql.ts';
import type { Config } from '../../core/settings/settings.ts';
import { measureSpace } from '../../core/storage/free-space.ts';
import type { Db, Trx } from '../../core/storage/ledger.ts';
import { readTlsPair, TlsProblem, validityProblem } from '../../watching/webhooks/tls.ts';
import { type Condition, plainCondition } from './condition.ts';
import {
  discrepancyConditions,
  haltConditions,
  heldConditions,
  outcomeConditions,
  rejectedConditions,
  signatureConditions,
  unknownConditions,
} from './conditions.sql.ts';
import { scheduleConditions } from './schedule-conditions.ts';
import { findSilence, type Silence } from './silence.sql.ts';

const dayMs = 24 * 3_600_000;
/** A certificate that ends sooner is an alert, as it is for `doctor`. */
const warnDays = 14;

/**
 * Who looks. `daemon`: it runs the schedules. `isQueueStuck`: what it knows of its queue. `service`: whether its requests
 * are answered; absent where it cannot tell.
 */
export type Viewer = { daemon: boolean; isQueueStuck?: boolean; service?: 'answers' | 'silent' | undefined };

/** Builds the conditions from typed facts. `machine` names this machine among those that share the ledger. */
export function createConditionSources(deps: {
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
    }: Viewer & { nowMs: number }): Promise<Condition[]> => [
      ...(daemon ? scheduleConditions(schedules, await jobsStore.all(), nowMs) : []),
      ...(isQueueStuck ? [plainCondition('queue_stuck', machine)] : []),
      ...(service === 'silent' ? [plainCondition('service_silent', machine)] : []),
      ...(await certificateConditions(config, { machine, nowMs })),
      ...diskConditions(config, machine),
    ],
    /** What the ledger says, as of `at`, ISO UTC. The same in every process. */
    async inLedger(db: Db | Trx, at: string, { daemon }: { daemon: boolean }): Promise<Silence> {
      const quietMs = submission.quietPeriodMinutes * 60_000;
      const graceMs = reconciliation.webhookGraceMinutes * 60_000;
      const none: Silence = { conditions: [], mark: null };
      const silence = daemon && receiver.enabled ? await findSilence(db, { at, graceMs }) : none;
      const conditions = [
        ...(await haltConditions(db)),
        ...(await unknownConditions(db, { at, quietMs })),
        ...(await outcomeConditions(db, { at, quietMs })),
        ...(await heldConditions(db)),
        ...(await discrepancyConditions(db, at)),
        ...(await rejectedConditions(db)),
        ...(receiver.enabled ? await signatureConditions(db) : []),
        ...silence.conditions,
      ];
      return { conditions, mark: silence.mark };
    },
  };
}

async function certificateConditions(
  { receiver }: Config,
  { machine, nowMs }: { machine: string; nowMs: number },
): Promise<Condition[]> {
  if (!receiver.enabled || receiver.tlsCert === '') return [];
  const left = await daysLeft({ certFile: receiver.tlsCert, keyFile: receiver.tlsKey }, nowMs);
  return left < warnDays ? [plainCondition('certificate_ends', machine, left)] : [];
}

/** Whole days until the certificate ends; 0 for one that is not valid now or cannot be used. */
async function daysLeft(files: { certFile: string; keyFile: string }, nowMs: number): Promise<number> {
  try {
    const pair = await readTlsPair(files);
    return validityProblem(pair, files, nowMs) ? 0 : Math.floor((pair.validTo - nowMs) / dayMs);
  } catch (error) {
    if (error instanceof TlsProblem) return 0;
    throw error;
  }
}

function diskConditions({ dataDir, ledgerFile }: Config, machine: string): Condition[] {
  const { free, isShort } = measureSpace({ dataDir, ledgerFile });
  return isShort ? [plainCondition('disk_low', machine, Math.floor(free / 1024 / 1024))] : [];
}
