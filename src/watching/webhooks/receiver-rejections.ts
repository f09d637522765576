import type { Clock } from '../../core/runtime/clock.ts';
import type { Rejection, RejectionCount } from './webhook-inbox.sql.ts';

export type RejectionLog = {
  add(rejection: Rejection): void;
  /** Resolves when all rejections are written, or could not be. */
  drained(): Promise<void>;
};

/**
 * Collects rejections and writes them a few times a second, so that a flood of forgeries takes no disk syncs from
 * deliveries. Each write keeps at most `keep` of them one by one; the rest is only counted.
 */
export function createRejectionLog(deps: {
  clock: Clock;
  keep: number;
  everyMs: number;
  write(kept: Rejection[], rest: RejectionCount[]): Promise<void>;
  onFailed(error: unknown): void;
}): RejectionLog {
  let kept: Rejection[] = [];
  let rest = new Map<string, RejectionCount>();
  let running: Promise<void> | undefined;
  let hurry = new AbortController();

  const count = ({ path, kind }: Rejection): void => {
    const key = `${path}\n${kind}`;
    // The path comes from the sender: what is new to a full map is counted under one name.
    const own = rest.get(key) ?? (rest.size < deps.keep ? { path, kind, count: 0 } : undefined);
    const entry = own ?? rest.get('') ?? { path: '', kind: 'many' as const, count: 0 };
    entry.count += 1;
    rest.set(own ? key : '', entry);
  };
  const run = async (): Promise<void> => {
    while (kept.length > 0) {
      await deps.clock.sleep(deps.everyMs, hurry.signal);
      const [rows, others] = [kept, [...rest.values()]];
      kept = [];
      rest = new Map();
      await deps.write(rows, others).catch(deps.onFailed);
    }
    running = undefined;
  };
  return {
    add(rejection) {
      if (kept.length < deps.keep) kept.push(rejection);
      else count(rejection);
      running ??= run();
    },
    async drained() {
      hurry.abort();
      while (running) await running;
      hurry = new AbortController();
    },
  };
}
