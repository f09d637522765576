import type { App } from '../../app/app.ts';
import { discrepancyKinds, isDiscrepancyKind } from '../../domain/discrepancy.ts';
import type { DiscrepancyFilter } from '../../reconciliation/discrepancies.sql.ts';
import { namedBatch } from '../named-batch.ts';
import { Stop } from '../result.ts';

const dayMs = 86_400_000;

/** Reads the filters that the list and the people's words share; a name that is none stops with 2. */
export async function readFilter(
  app: App<'local'>,
  options: Record<string, unknown>,
): Promise<DiscrepancyFilter> {
  const { kind, batch, olderThan } = options;
  if (typeof kind === 'string' && !isDiscrepancyKind(kind))
    throw new Stop(2, `--kind: there is no kind "${kind}"; there are ${discrepancyKinds.join(', ')}`);
  if (typeof batch === 'string') await namedBatch(app, batch);
  return {
    ...(typeof kind === 'string' && { kind }),
    ...(typeof batch === 'string' && { batch }),
    ...(typeof olderThan === 'string' && { seenBefore: daysBefore(app.clock.now(), olderThan) }),
  };
}

function daysBefore(now: number, text: string): string {
  if (!/^\d{1,5}$/.test(text)) throw new Stop(2, `--older-than: expected a number of days, got "${text}"`);
  return new Date(now - Number(text) * dayMs).toISOString();
}
