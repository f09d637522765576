import { type RawBuilder, sql } from 'kysely';
import { perDialect } from '../storage/dialect.ts';
import { machineSetting } from '../storage/machine.ts';

/** SQL condition: a row of this machine, or from the time when only one machine had the ledger. */
export const ofThisMachine: RawBuilder<boolean> = perDialect(
  sql<boolean>`1 = 1`,
  sql`file_moves.machine in ('', coalesce(current_setting(${sql.lit(machineSetting)}, true), ''))`,
);
