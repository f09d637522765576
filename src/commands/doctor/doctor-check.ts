/**
 * One thing that `doctor` looked at. `ok` is null for what was skipped: it is neither right nor wrong, and `detail` says
 * why nobody looked.
 */
export type Check = { name: string; ok: boolean | null; detail: string; fix: string | null };

/** It is as it should be. */
export function well(name: string, detail: string): Check {
  return { name, ok: true, detail, fix: null };
}

/** It was not looked at, and why. */
export function skipped(name: string, why: string): Check {
  return { name, ok: null, detail: `skipped: ${why}`, fix: null };
}

/** Something is wrong, and what to do about it. */
export function wrong(name: string, detail: string, fix: string): Check {
  return { name, ok: false, detail, fix };
}
