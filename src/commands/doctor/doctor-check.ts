/** One thing that `doctor` looked at. What was skipped is no failure and says why it was not looked at. */
export type Check = { name: string; ok: boolean; detail: string; fix: string | null };

/** It is as it should be, or was not looked at. */
export function well(name: string, detail: string): Check {
  return { name, ok: true, detail, fix: null };
}

/** Something is wrong, and what to do about it. */
export function wrong(name: string, detail: string, fix: string): Check {
  return { name, ok: false, detail, fix };
}
