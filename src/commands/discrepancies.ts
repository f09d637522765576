import { discrepancyKinds } from '../domain/discrepancy.ts';
import { getBatch } from '../ledger/batches.ts';
import { countOpen, listOpen } from '../ledger/discrepancies.ts';
import { type Context, withLocal } from './context.ts';
import { type Result, Stop } from './result.ts';

/** `discrepancies`: what is open, the gravest and oldest first, each with what to do. Exit 4 while any is. */
export async function discrepancies(
  context: Context,
  _args: string[],
  options: Record<string, unknown>,
): Promise<Result> {
  return withLocal(context, async (app) => {
    const { mode } = app.config;
    const { kind, batch } = options;
    if (typeof kind === 'string' && !discrepancyKinds.includes(kind))
      throw new Stop(2, `--kind: there is no kind "${kind}"; there are ${discrepancyKinds.join(', ')}`);
    if (typeof batch === 'string' && !(await getBatch(app.ledger.db, mode, batch)))
      throw new Stop(2, `no batch "${batch}" in this ledger: counterfoil status lists them`);
    const found = await listOpen(app.ledger.db, {
      mode,
      ...(typeof kind === 'string' && { kind }),
      ...(typeof batch === 'string' && { batch }),
      ...(typeof options.olderThan === 'string' && {
        seenBefore: daysBefore(app.clock.now(), options.olderThan),
      }),
    });
    const lines = found.flatMap((d) => [
      `${d.id}  ${d.severity.padEnd(6)}  ${d.kind}  ${d.reference || d.subject}${d.batch_id ? `  (${d.batch_id})` : ''}`,
      `    expected ${d.expected || '-'}; found ${d.actual || '-'}${d.difference ? `; difference ${d.difference}` : ''}; since ${d.first_seen_at}`,
      `    ${d.action}`,
    ]);
    const open = found.filter((d) => d.state === 'open').length;
    if (found.length === 0) lines.push('no open discrepancies');
    const json = { discrepancies: found, open: await countOpen(app.ledger.db, mode) };
    return { code: open > 0 ? 4 : 0, lines, json: JSON.parse(JSON.stringify(json, bigintAsNumber)) };
  });
}

function daysBefore(now: number, text: string): string {
  if (!/^\d{1,5}$/.test(text)) throw new Stop(2, `--older-than: expected a number of days, got "${text}"`);
  return new Date(now - Number(text) * 86_400_000).toISOString();
}

/** Ids and counters are bigint inside; as JSON they are plain numbers. */
export function bigintAsNumber(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? Number(value) : value;
}
