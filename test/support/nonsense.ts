import { sql } from 'kysely';
import type { Ledger } from '../../src/core/storage/ledger.ts';

/** How the words of a ledger are replaced: all by one text, or each by a text of its own. */
export type Nonsense = 'one text' | 'a text each';

/** The texts that the ledger keeps for people; `keys`: those of a JSON object in the column. */
const words: { table: string; column: string; keys?: string[] }[] = [
  { table: 'payouts', column: 'message' },
  { table: 'attempts', column: 'message' },
  { table: 'history', column: 'detail', keys: ['message', 'keep', 'conflict'] },
  { table: 'halts', column: 'detail', keys: ['message'] },
  { table: 'resend_requests', column: 'reason' },
  { table: 'rejections', column: 'detail' },
  { table: 'pauses', column: 'why' },
  { table: 'discrepancies', column: 'evidence' },
  { table: 'discrepancies', column: 'action' },
];
const barriers = "'sealed', 'behind', 'listing_due'";

/** Makes a SQLite ledger replace every text for people by nonsense as it is written. Its hash chains no longer hold. */
export async function rewordEverything(ledger: Ledger, nonsense: Nonsense): Promise<void> {
  const text = nonsense === 'one text' ? "'zq'" : "('zq' || hex(randomblob(8)))";
  const statements = ['drop trigger history_no_update'];
  for (const { table, column, keys } of words) {
    const value = keys ? reworded(column, keys, text) : text;
    const body = `begin update ${table} set ${column} = ${value} where rowid = new.rowid and ${column} is not null; end`;
    const name = `${table}_${column}`;
    statements.push(`create trigger ${name}_inserted after insert on ${table} ${body}`);
    statements.push(
      `create trigger ${name}_updated after update of ${column} on ${table} when new.${column} not like '%zq%' ${body}`,
    );
  }
  statements.push(`create trigger barrier_inserted after insert on meta when new.key in (${barriers})
    begin update meta set value = substr(value, 1, instr(value, ' ')) || ${text} where key = new.key; end`);
  await ledger.write(async (trx) => {
    for (const statement of statements) await sql.raw(statement).execute(trx);
  });
}

function reworded(column: string, keys: string[], text: string): string {
  return keys.reduce(
    (value, key) =>
      `case when json_type(${column}, '$.${key}') = 'text' then json_set(${value}, '$.${key}', ${text}) else ${value} end`,
    column,
  );
}
