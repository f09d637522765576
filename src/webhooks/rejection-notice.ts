import { counted } from '../domain/counted.ts';
import type { RejectionKind } from '../domain/rejection.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Logger } from '../runtime/logger.ts';

const everyMs = 60_000;

/** Logs rejected deliveries, at most one line a minute, so that a flood of forgeries fills no log. */
export function createRejectionNotice({
  clock,
  log,
}: {
  clock: Clock;
  log: Logger;
}): (rejected: readonly { kind: RejectionKind; count: number }[]) => void {
  let waiting = new Map<RejectionKind, number>();
  let quietUntil = -Infinity;
  return (rejected) => {
    for (const { kind, count } of rejected) waiting.set(kind, (waiting.get(kind) ?? 0) + count);
    if (waiting.size === 0 || clock.monotonic() < quietUntil) return;
    const all = [...waiting.values()].reduce((sum, count) => sum + count, 0);
    const kinds = [...waiting].map(([kind, count]) => `${count} ${kind.replaceAll('_', ' ')}`);
    log.warn(
      { rejected: Object.fromEntries(waiting) },
      `${counted(all, 'webhook')} rejected: ${kinds.join(', ')}`,
    );
    waiting = new Map();
    quietUntil = clock.monotonic() + everyMs;
  };
}
