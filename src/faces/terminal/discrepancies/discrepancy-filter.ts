import type { App } from '../../../app/app.ts';
import type { DiscrepancyFilter } from '../../../books/discrepancies/discrepancies.sql.ts';
import {
  type DiscrepancyKind,
  discrepancyKinds,
  isDiscrepancyKind,
} from '../../../core/domain/discrepancy-kinds.ts';
import { namedBatch } from '../context/named-batch.ts';
import { Stop } from '../context/result.ts';

const dayMs = 86_400_000;

/** Reads the filters that `discrepancies`, `ack` and `resolve` share. An unknown name stops with 2. */
export async function readFilter(
  app: App<'local'>,
  options: Record<string, unknown>,
): Promise<DiscrepancyFilter> {
  const { kind, batch, olderThan } = options;
  return {
    ...(typeof kind === 'string' && { kind: readKind(kind) }),
    ...(typeof batch === 'string' && { batch: (await namedBatch(app, batch)).id }),
    ...(typeof olderThan === 'string' && { seenBefore: daysBefore(app.clock.now(), olderThan) }),
  };
}

function readKind(text: string): DiscrepancyKind {
  if (isDiscrepancyKind(text)) return text;
  throw new Stop(`--kind: there is no kind "${text}"; there are ${discrepancyKinds.join(', ')}`);
}

function daysBefore(now: number, text: string): string {
  if (!/^\d{1,5}$/.test(text)) throw new Stop(`--older-than: expected a number of days, got "${text}"`);
  return new Date(now - Number(text) * dayMs).toISOString();
}
