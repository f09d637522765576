import { sql } from 'kysely';
import type { Mode } from '../../domain/payout.ts';
import { barriersOf } from '../custody/barriers.ts';
import { prepared } from '../database/prepared.ts';
import type { Trx } from '../open.ts';

const standing = prepared<{ found: bigint }>((db, slot) =>
  db
    .selectFrom('meta')
    .select(sql<bigint>`1`.as('found'))
    .where('key', 'in', [slot<string>(0), slot<string>(1), slot<string>(2)])
    .unionAll(db.selectFrom('halts').select(sql<bigint>`1`.as('found')).where('mode', '=', slot<Mode>(3)))
    .unionAll(
      db
        .selectFrom('workers')
        .select(sql<bigint>`1`.as('found'))
        .where('id', '=', slot<string>(4))
        .where('ended_at', 'is not', null),
    )
    .unionAll(
      db
        .selectFrom('canaries')
        .select(sql<bigint>`1`.as('found'))
        .where('mode', '=', slot<Mode>(3))
        .where('state', 'in', ['open', 'failed']),
    ),
);

/**
 * True where there is no barrier, no halt, no standing canary, and nobody took this process over: one question in place of
 * five. Which of them it is, is asked only where there is one.
 */
export async function nothingStands(
  trx: Trx,
  { mode, workerId }: { mode: Mode; workerId: string },
): Promise<boolean> {
  return (await standing(trx, [...barriersOf(mode), mode, workerId])).length === 0;
}
