import type { Finding } from '../../../findings/finding.ts';
import type { KindsOn } from '../../../findings/kinds.ts';
import { findingWords } from '../../../words/finding-words.ts';

/**
 * One thing that `doctor` checked. `ok` is null for a skipped check, which is neither right nor wrong; `detail` says why.
 */
export type DoctorCheck = { name: string; ok: boolean | null; detail: string; fix: string | null };

export function well(name: string, detail: string): DoctorCheck {
  return { name, ok: true, detail, fix: null };
}

export function skipped(name: string, why: string): DoctorCheck {
  return { name, ok: null, detail: `skipped: ${why}`, fix: null };
}

export function wrong(name: string, detail: string, fix: string): DoctorCheck {
  return { name, ok: false, detail, fix };
}

/** A check that finds what `status` shows too. */
export function faulty(name: string, finding: Finding & { kind: KindsOn<'doctor'> }): DoctorCheck {
  const { problem, fix } = findingWords[finding.kind].doctor(finding);
  return wrong(name, problem, fix);
}
