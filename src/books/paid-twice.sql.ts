import { z } from 'zod';
import type { DiscrepancyKind } from '../core/domain/discrepancy-kinds.ts';
import type { Db } from '../core/storage/ledger.ts';
import { newestCompleteRun } from '../watching/listing/listings.sql.ts';

const kinds = ['paid_twice', 'duplicate_at_service'] as const satisfies readonly DiscrepancyKind[];
const matchedShape = z.object({ matched: z.number() });

/**
 * Whether somebody was paid twice. `found`: how many of each kind are open, and how many a person resolved. `none`: no payout among
 * those that the newest complete list showed. `later`: something was sent since. `unchecked`: there is no such list (P35).
 */
export type PaidTwice =
  | { kind: 'found'; open: { kind: DiscrepancyKind; count: number }[]; closed: number }
  | { kind: 'none'; payouts: number; listOf: string; later: boolean }
  | { kind: 'unchecked' };

/** `foreign`: the origins of other accounts, whose lists prove nothing (P31). */
export async function findPaidTwice(db: Db, foreign: readonly bigint[]): Promise<PaidTwice> {
  const rows = await db
    .selectFrom('discrepancies')
    .select(['kind', 'state', 'resolved_by', (eb) => eb.fn.countAll<bigint>().as('n')])
    .where('kind', 'in', kinds)
    .groupBy(['kind', 'state', 'resolved_by'])
    .execute();
  const count = (isOne: (row: (typeof rows)[number]) => boolean): number =>
    rows.filter(isOne).reduce((sum, { n }) => sum + Number(n), 0);
  const open = kinds.flatMap((kind) => {
    const n = count((row) => row.kind === kind && row.state !== 'resolved');
    return n > 0 ? [{ kind, count: n }] : [];
  });
  const closed = count(({ state, resolved_by: by }) => state === 'resolved' && by === 'person');
  if (open.length + closed > 0) return { kind: 'found', open, closed };
  const run = await newestCompleteRun(db, foreign);
  if (!run) return { kind: 'unchecked' };
  const row = await db.selectFrom('runs').select('summary').where('id', '=', run.id).executeTakeFirst();
  const summary = matchedShape.safeParse(JSON.parse(row?.summary ?? 'null'));
  if (!summary.success) return { kind: 'unchecked' };
  const last = await db
    .selectFrom('attempts')
    .select('began_at')
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst();
  const later = last !== undefined && last.began_at > run.startedAt;
  return { kind: 'none', payouts: summary.data.matched, listOf: run.startedAt, later };
}
