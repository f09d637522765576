import { type Kysely, sql } from 'kysely';

const standings = `'complete', 'window', 'shows_none', 'not_ours', 'incomplete', 'unread'`;

const verdicts = `'reconciled', 'exceptions', 'not_compared'`;

const statements = [
  `alter table runs add column list_standing text check (list_standing in (${standings}))`,
  `update runs set list_standing = case
    when summary like '%"complete":true%' then case when summary like '%"trouble":%' then 'not_ours' else 'complete' end
    when summary like '%"complete":"window"%' then 'window'
    when summary like '%"complete":false%' then case when summary like '%"listed":0,%' then 'unread' else 'incomplete' end
    end`,
  `alter table runs add column verdict text check (verdict in (${verdicts}))`,
  `create table run_verdicts (
    run_id text not null references runs (id), currency text not null,
    verdict text not null check (verdict in (${verdicts})),
    overturned integer not null, primary key (run_id, currency)) strict`,
];

/**
 * What the list of each run is worth, the verdict on it and on each of its currencies. What older runs said of their lists
 * is read once here; verdicts they have none.
 */
export async function up(db: Kysely<unknown>): Promise<void> {
  for (const statement of statements) await sql.raw(statement).execute(db);
}
