import { type RawBuilder, sql } from 'kysely';
import { perDialect } from '../storage/dialect.ts';
import { machineSetting } from '../storage/machine.ts';

/** True in SQL for rows of this machine, and for those from when only one had the ledger. */
export const ofThisMachine: RawBuilder<boolean> = perDialect(
  sql<boolean>`1 = 1`,
  sql`file_moves.machine in ('', coalesce(current_setting(${sql.lit(machineSetting)}, true), ''))`,
);
