import { type Finding, plainFinding } from '../../findings/finding.ts';
import { findingRules, type KindsOn } from '../../findings/kinds.ts';
import { createWorkFindings, type WorkDeps } from '../../findings/work-findings.ts';
import { findingWords } from '../../words/finding-words.ts';
import type { Unready } from './health.ts';

/** Monitors that ask more often get the answer before. */
const freshMs = 1000;

/** Says why work does not move. `isStarted`: false until the daemon has started all of its work. */
export function createReadiness(deps: WorkDeps & { isStarted(): boolean }): () => Promise<Unready[]> {
  const find = createWorkFindings(deps);
  let last: { atMs: number; answer: Promise<Unready[]> } | undefined;
  const check = async (): Promise<Unready[]> =>
    (deps.isStarted() ? await find() : [plainFinding('starting')]).map(unreadyOf);
  return () => {
    const nowMs = deps.clock.monotonic();
    if (!last || nowMs - last.atMs > freshMs) last = { atMs: nowMs, answer: check() };
    return last.answer;
  };
}

/** A finding as `/readyz` names it. */
export function unreadyOf(finding: Finding<KindsOn<'ready'>>): Unready {
  const check = findingRules[finding.kind].faces.ready?.check ?? finding.subject;
  const job = finding.facts !== null && 'job' in finding.facts ? { job: finding.facts.job } : {};
  return { check, ...findingWords[finding.kind].ready(finding), ...job };
}
