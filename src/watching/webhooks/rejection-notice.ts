import { counted } from '../../core/domain/counted.ts';
import type { WebhookRejectionKind } from '../../core/domain/rejection.ts';
import type { Clock } from '../../core/runtime/clock.ts';
import { logEvent } from '../../core/runtime/log-events.ts';
import type { Logger } from '../../core/runtime/logger.ts';

const everyMs = 60_000;
/** So many addresses are named, of however many. */
const mostSources = 10;

/** Logs rejected deliveries, at most one line a minute, so that a flood of forgeries fills no log. */
export function createRejectionNotice({
  clock,
  log,
}: {
  clock: Clock;
  log: Logger;
}): (rejected: readonly { kind: WebhookRejectionKind; count: number; address?: string }[]) => void {
  let waiting = new Map<WebhookRejectionKind, number>();
  let sources = new Set<string>();
  let quietUntil = -Infinity;
  return (rejected) => {
    for (const { kind, count, address } of rejected) {
      waiting.set(kind, (waiting.get(kind) ?? 0) + count);
      if (address !== undefined && sources.size < mostSources) sources.add(address);
    }
    if (waiting.size === 0 || clock.monotonic() < quietUntil) return;
    const all = [...waiting.values()].reduce((sum, count) => sum + count, 0);
    const kinds = [...waiting].map(([kind, count]) => `${count} ${kind.replaceAll('_', ' ')}`);
    logEvent(log, 'webhook_rejected', {
      rejected: Object.fromEntries(waiting),
      sources: [...sources],
      text: `${counted(all, 'webhook')} rejected: ${kinds.join(', ')}`,
    });
    waiting = new Map();
    sources = new Set();
    quietUntil = clock.monotonic() + everyMs;
  };
}
