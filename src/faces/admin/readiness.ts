import type { Clock } from '../../core/runtime/clock.ts';
import type { Host } from '../../core/runtime/host.ts';
import { scheduleList } from '../../core/settings/schedule-list.ts';
import type { Config } from '../../core/settings/settings.ts';
import type { Db, Ledger } from '../../core/storage/ledger.ts';
import { findOn, type Scene } from '../../findings/finders.ts';
import { type Finding, findingJson, plainFinding } from '../../findings/finding.ts';
import { findingRules, type KindsOn } from '../../findings/kinds.ts';
import { createLedgerProbe } from '../../findings/machine-findings.ts';
import { findingWords } from '../../words/finding-words.ts';
import type { UnreadyFinding } from './health.ts';

/** Monitors that ask more often get the answer before. */
const freshMs = 1000;

type Deps = {
  ledger: Ledger;
  /** Reads without waiting for writers. */
  reader: Db;
  clock: Clock;
  config: Config;
  host: Host;
  queues: NonNullable<Scene['queues']>;
  /** False until the daemon has started all of its work. */
  isStarted(): boolean;
};

/**
 * Says why work does not move, by moving some: it writes to the ledger and passes a job through the queue. A halt is not
 * among it: it is a decision that waits for a person, and starting the process again would not help. A ledger that went
 * back in time is: the wrong database may be behind its address.
 */
export function createReadiness(deps: Deps): () => Promise<UnreadyFinding[]> {
  const { ledger, reader, clock, config, host, queues } = deps;
  const scene: Scene & { face: 'ready' } = {
    face: 'ready',
    ...{ db: reader, ledger, clock, config, account: null, ownHost: host, queues },
    work: 'serve',
    jobs: scheduleList(config.schedules),
    probe: createLedgerProbe(ledger),
  };
  let last: { atMs: number; answer: Promise<UnreadyFinding[]> } | undefined;
  const check = async (): Promise<UnreadyFinding[]> =>
    (deps.isStarted() ? await findOn(scene) : [plainFinding('starting')]).map(unreadyOf);
  return () => {
    const nowMs = clock.monotonic();
    if (!last || nowMs - last.atMs > freshMs) last = { atMs: nowMs, answer: check() };
    return last.answer;
  };
}

/** A finding as `/readyz` names it. */
export function unreadyOf(finding: Finding<KindsOn<'ready'>>): UnreadyFinding {
  const check = findingRules[finding.kind].faces.ready?.check ?? finding.subject;
  const job = finding.facts !== null && 'job' in finding.facts ? { job: finding.facts.job } : {};
  return { check, ...findingWords[finding.kind].ready(finding), ...job, finding: findingJson(finding) };
}
