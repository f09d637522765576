/**
 * One thing that `doctor` checked. `ok` is null for a skipped check, which is neither right nor wrong; `detail` says why.
 */
export type Check = { name: string; ok: boolean | null; detail: string; fix: string | null };

export function well(name: string, detail: string): Check {
  return { name, ok: true, detail, fix: null };
}

export function skipped(name: string, why: string): Check {
  return { name, ok: null, detail: `skipped: ${why}`, fix: null };
}

export function wrong(name: string, detail: string, fix: string): Check {
  return { name, ok: false, detail, fix };
}
