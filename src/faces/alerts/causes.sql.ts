import { sql } from 'kysely';
import { allBarriers } from '../../core/ledger/barriers.ts';
import type { Db } from '../../core/storage/ledger.ts';

/**
 * A text that changes when a commit of any process records something that people must be told at once: a halt, a refused
 * file, a held batch, a discrepancy, a refused webhook about a payout. It reads the ends of indexes and short tables.
 */
export async function causesMark(db: Db): Promise<string> {
  const { rows } = await sql<Record<string, bigint>>`select
      (select coalesce(max(id), 0) from halts) as halt, (select count(*) from halts) as halts,
      (select count(*) from meta where key in (${sql.join([...allBarriers])})) as barriers,
      (select coalesce(max(id), 0) from rejected_files) as file,
      (select count(*) from rejected_files where ended_at is null) as files,
      (select coalesce(max(id), 0) from discrepancy_events) as discrepancy,
      (select coalesce(sum(version + 1), 0) from batches where phase = 'loaded' and hold_reasons <> '[]') as held,
      (select coalesce(max(id), 0) from rejections where detail <> '') as refused`.execute(db);
  return Object.values(rows[0] ?? {}).join(' ');
}
