import { PostgresFailure } from './failure.ts';
import type { PostgresSession } from './postgres-session.ts';

export type ServerFacts = {
  version: string;
  versionNumber: number;
  synchronousCommit: string;
  fsync: string;
  fullPageWrites: string;
  encoding: string;
  inRecovery: boolean;
};

const oldest = 130_000;

export async function serverFacts(session: Pick<PostgresSession, 'ask'>): Promise<ServerFacts> {
  const [row = {}] = await session.ask(`select current_setting('server_version') as version,
    current_setting('server_version_num') as number, current_setting('synchronous_commit') as synchronous_commit,
    current_setting('fsync') as fsync, current_setting('full_page_writes') as full_page_writes,
    current_setting('server_encoding') as encoding, pg_is_in_recovery() as in_recovery`);
  return {
    version: String(row.version),
    versionNumber: Number(row.number),
    synchronousCommit: String(row.synchronous_commit),
    fsync: String(row.fsync),
    fullPageWrites: String(row.full_page_writes),
    encoding: String(row.encoding),
    inRecovery: row.in_recovery === 1n,
  };
}

/** Why a ledger must not be on this server, and what to change; null where it may. */
export function unfitness(facts: ServerFacts): string | null {
  const { version, versionNumber, synchronousCommit, fsync, fullPageWrites, encoding, inRecovery } = facts;
  if (versionNumber < oldest) return `PostgreSQL ${version} is too old: it must be 13 or newer`;
  if (inRecovery)
    return 'this PostgreSQL server is a standby, which nobody can write to: point ledger.url at the primary';
  if (encoding !== 'UTF8')
    return `the database is encoded in ${encoding}: make one with create database … encoding 'UTF8' template template0`;
  if (synchronousCommit === 'off')
    return 'synchronous_commit is off, so that a commit can be lost and a payout sent twice: set it to on for this database (alter database … set synchronous_commit = on)';
  if (fsync !== 'on')
    return "fsync is off, so that a power cut can lose commits: set fsync = on in the server's configuration";
  return fullPageWrites === 'on'
    ? null
    : "full_page_writes is off, so that a power cut can damage pages: set it to on in the server's configuration";
}

/** P25: refuses a server on which a commit may be lost. */
export async function assertFit(session: Pick<PostgresSession, 'ask'>): Promise<void> {
  const facts = await serverFacts(session);
  const why = unfitness(facts);
  // A standby may become the primary.
  if (why !== null) throw new PostgresFailure(facts.inRecovery ? 'STANDBY' : 'UNFIT', why);
}
