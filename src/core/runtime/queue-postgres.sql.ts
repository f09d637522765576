import { workerTimes } from './queue-redis.ts';
import type { Wire } from './queue-session.ts';

/** The schema of BullMQ's tables; the queue's own name contains the ledger and the mode. */
const queueSchema = 'bullmq';

/** The properties of a PostgreSQL server that a queue depends on. */
export type PostgresFacts = {
  version: string;
  /** The version of BullMQ's tables; null when there are none yet. */
  schema: number | null;
  /** The version that this program needs. */
  needed: number;
  /** Whether this user may create a schema in the database. */
  mayCreate: boolean;
};

const patient = { connectionTimeoutMillis: 5000, query_timeout: 10_000, keepAlive: true };

/** PostgreSQL behind BullMQ. `space` separates the queues of one ledger and mode from all others in the database. */
export async function postgresWire(url: string, space: string, times = workerTimes): Promise<Wire> {
  const { Queue, Worker, createPostgresBackend, isPgPool } = await import('bullmq');
  const { Pool } = await import('pg');
  const pool = new Pool({
    connectionString: url,
    options: `-c search_path=${queueSchema}`,
    max: 6,
    ...patient,
  });
  // BullMQ listens to a connection only while it waits for it. An end in between would otherwise end this process.
  pool.on('connect', (client) => client.on('error', () => undefined));
  pool.on('error', () => undefined);
  // BullMQ declares its own types for the pool.
  const connection: unknown = pool;
  if (!isPgPool(connection)) throw new Error('bullmq does not know this version of pg');
  return {
    async check() {
      await askPostgres(url, async (client) => {
        const { runMigrations } = await import('bullmq');
        const { schema, needed } = await factsOf(client);
        // Only when they are missing: creating a schema needs a right that a daemon may lack.
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

/** Queries the server and disconnects. Throws when it does not answer or is read-only. Creates nothing. */
export function inspectPostgres(url: string): Promise<PostgresFacts> {
  return askPostgres(url, factsOf);
}

type Client = import('pg').Client;

async function askPostgres<T>(url: string, ask: (client: Client) => Promise<T>): Promise<T> {
  const { Client } = await import('pg');
  const client = new Client({ connectionString: url, ...patient });
  // A later failure reaches the caller as the rejection of its query.
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
  if (server.rows[0]?.read_only === 'on') throw new Error('READONLY this server only accepts reads');
  const known = { version, needed: LATEST_SCHEMA_VERSION, mayCreate };
  if (there === null) return { ...known, schema: null };
  const tables = await client.query<{ schema: number }>(
    `select coalesce(max(version), 0)::int as schema from ${queueSchema}.migration`,
  );
  return { ...known, schema: tables.rows[0]?.schema ?? 0 };
}
