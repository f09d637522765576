import type { App } from '../../app/app.ts';
import { lookAtQueue, queueKind } from '../../core/runtime/queue-open.ts';
import { withoutCredentials } from '../../core/settings/file-values.ts';
import type { StatusJson } from '../../core/shapes/status-shapes.ts';

export type QueueStanding = StatusJson['queue'];

/** Asks the server of a shared queue how much it holds. A server that does not answer is reported, not thrown. */
export async function queueStanding({ config, ledger, clock }: App<'looking'>): Promise<QueueStanding> {
  const kind = queueKind(config.queue.url);
  const url = withoutCredentials(config.queue.url);
  if (kind === 'inline') return { url, kind, depth: null, reachable: true, why: null };
  const { name: chunk } = await import('../../../jobs/send-chunk.ts');
  const space = { url: config.queue.url, ledgerId: ledger.id, mode: config.mode };
  const found = await lookAtQueue(space, [chunk], clock);
  return found.kind === 'reachable'
    ? { url, kind, depth: found.depth, reachable: true, why: null }
    : { url, kind, depth: null, reachable: false, why: found.why };
}

export function queueText({ kind, url, depth, why }: QueueStanding): string {
  if (kind === 'inline') return 'inline';
  return why === null ? `${url}, ${depth} job(s)` : `${url} CANNOT BE REACHED (${why})`;
}
