import { workerTimes } from './queue-redis.ts';
import type { Wire } from './queue-session.ts';

/** Where BullMQ keeps its tables; the queue's own name holds the ledger and the mode. */
const queueSchema = 'bullmq';

/** What a PostgreSQL says of itself, as far as a queue depends on it. */
export type PostgresFacts = {
  version: string;
  /** The version of BullMQ's tables there; null when they are not there yet. */
  schema: number | null;
  /** The version that this program needs. */
  needed: number;
  /** Whether this user may make a schema in the database. */
  mayCreate: boolean;
};

const patient = { connectionTimeoutMillis: 5000, query_timeout: 10_000, keepAlive: true };

/** PostgreSQL behind BullMQ; `space` keeps the queues of one ledger and mode apart from all others in the database. */
export async function postgresWire(url: string, space: string, times = workerTimes): Promise<Wire> {
  const { Queue, Worker, createPostgresBackend, isPgPool } = await import('bullmq');
  const { Pool } = await import('pg');
  const pool = new Pool({
    connectionString: url,
    options: `-c search_path=${queueSchema}`,
    max: 6,
    ...patient,
  });
  // BullMQ listens to a connection only while it waits for it: one that ended in between would end this process.
  pool.on('connect', (client) => client.on('error', () => undefined));
  pool.on('error', () => undefined);
  // BullMQ describes the pool in types of its own.
  const connection: unknown = pool;
  if (!isPgPool(connection)) throw new Error('bullmq does not know this version of pg');
  return {
    async check() {
      await askPostgres(url, async (client) => {
        const { runMigrations } = await import('bullmq');
        const { schema, needed } = await factsOf(client);
        // Only when they are missing: creating a schema asks for a right that a daemon need not have.
        if (schema === null || schema < needed) await runMigrations(client, queueSchema);
      });
    },
    queue: (name) => new Queue(`${space}-${name}`, { connection }, createPostgresBackend),
    worker: (name, run, { concurrency, paused }) =>
      new Worker(
        `${space}-${name}`,
        run,
        { connection, concurrency, autorun: !paused, ...times },
        createPostgresBackend,
      ),
    end: () => void pool.end().catch(() => undefined),
  };
}

/** Asks a PostgreSQL about itself and goes; throws when it does not answer, or takes nothing. Creates nothing. */
export function inspectPostgres(url: string): Promise<PostgresFacts> {
  return askPostgres(url, factsOf);
}

type Client = import('pg').Client;

async function askPostgres<T>(url: string, ask: (client: Client) => Promise<T>): Promise<T> {
  const { Client } = await import('pg');
  const client = new Client({ connectionString: url, ...patient });
  // What happens to it later comes as the rejection of what was asked.
  client.on('error', () => undefined);
  try {
    await client.connect();
    return await ask(client);
  } finally {
    await client.end().catch(() => undefined);
  }
}

async function factsOf(client: Client): Promise<PostgresFacts> {
  const { LATEST_SCHEMA_VERSION } = await import('bullmq');
  type Server = { version: string; may_create: boolean; there: string | null; read_only: string };
  const server = await client.query<Server>(
    `select current_setting('server_version') as version, current_setting('transaction_read_only') as read_only,
            to_regclass('${queueSchema}.migration') as there,
            has_database_privilege(current_database(), 'create') as may_create`,
  );
  const { version = 'unknown', there = null, may_create: mayCreate = false } = server.rows[0] ?? {};
  if (server.rows[0]?.read_only === 'on') throw new Error('READONLY transactions there can only read');
  const known = { version, needed: LATEST_SCHEMA_VERSION, mayCreate };
  if (there === null) return { ...known, schema: null };
  const tables = await client.query<{ schema: number }>(
    `select coalesce(max(version), 0)::int as schema from ${queueSchema}.migration`,
  );
  return { ...known, schema: tables.rows[0]?.schema ?? 0 };
}
