import type { Wire } from './queue-session.ts';

/** BullMQ's key prefix; the queue's own name contains the ledger and the mode. */
const prefix = 'counterfoil';
/** BullMQ 6 warns or fails below this version. */
const oldest = [6, 2];

/** The properties of a Redis server that a queue depends on. */
export type RedisFacts = {
  version: string;
  /** `maxmemory-policy`; null when the server does not say. */
  policy: string | null;
  /** Whether it writes an append-only file or snapshots; null when the server does not say. */
  persistent: boolean | null;
};

/**
 * Redis behind BullMQ. `space` separates the queues of one ledger and mode from all others on the server. The driver
 * loads only when it is needed.
 */
export async function redisWire(url: string, space: string, times = workerTimes): Promise<Wire> {
  const { Queue, Worker } = await import('bullmq');
  const connection = { ...(await patient(url)), maxRetriesPerRequest: null };
  // Otherwise BullMQ prints its own warning at each connection; `doctor` says what to change.
  let skipVersionCheck = false;
  return {
    async check() {
      const { version, policy } = await inspectRedis(url);
      if (isOld(version))
        throw new Error(`Redis ${version} is too old: ${oldest.join('.')} or newer is needed`);
      skipVersionCheck = policy !== 'noeviction';
    },
    queue: (name) =>
      new Queue(`${space}-${name}`, {
        connection,
        prefix,
        skipVersionCheck,
        streams: { events: { maxLen: 100 } },
      }),
    worker: (name, run, { concurrency, paused }) =>
      new Worker(`${space}-${name}`, run, {
        connection,
        prefix,
        skipVersionCheck,
        concurrency,
        autorun: !paused,
        ...times,
      }),
    // Each part closes its own connections.
    end: () => undefined,
  };
}

/** A killed worker's job is handed out again after `lockDuration` plus at most one `stalledInterval`. */
export const workerTimes = {
  lockDuration: 20_000,
  stalledInterval: 10_000,
  maxStalledCount: 3,
  runRetryDelay: 1000,
};

/** Queries the server and disconnects. Throws when it does not answer or accepts no write: a replica, or a full server. */
export function inspectRedis(url: string): Promise<RedisFacts> {
  return askRedis(url, async (client) => {
    await client.call('SET', `${prefix}:probe`, '1', 'PX', '60000');
    return factsOf(client);
  });
}

type Client = Awaited<ReturnType<typeof connect>>;

async function askRedis<T>(url: string, ask: (client: Client) => Promise<T>): Promise<T> {
  const client = await connect(url);
  try {
    return await ask(client);
  } finally {
    client.disconnect();
  }
}

async function connect(url: string) {
  const { Redis } = await import('ioredis');
  const { url: _url, ...options } = await patient(url);
  const client = new Redis(url, {
    ...options,
    lazyConnect: true,
    retryStrategy: () => null,
    commandTimeout: 5000,
  });
  let why: Error | undefined;
  // A listener keeps the error from being printed, and its reason says more than "Connection is closed.".
  client.on('error', (error: Error) => {
    why = error;
  });
  try {
    await client.connect();
  } catch (error) {
    client.disconnect();
    throw why ?? error;
  }
  return client;
}

/** Keep-alive detects a server that vanished; the time-out exceeds the longest blocking command (10 s). */
async function patient(url: string) {
  return {
    url,
    connectTimeout: 5000,
    commandTimeout: 20_000,
    keepAlive: 10_000,
    retryStrategy: (times: number) => Math.min(times * 500, 5000),
  };
}

async function factsOf(client: Client): Promise<RedisFacts> {
  const info = String(await client.call('INFO'));
  const value = (name: string): string | null =>
    new RegExp(`^${name}:(.*?)\\r?$`, 'm').exec(info)?.[1] ?? null;
  const appends = value('aof_enabled');
  const saves = await client.call('CONFIG', 'GET', 'save').then(
    (answer) => (Array.isArray(answer) ? String(answer[1] ?? '') !== '' : null),
    // Hosted servers refuse CONFIG.
    () => null,
  );
  return {
    version: value('redis_version') ?? 'unknown',
    policy: value('maxmemory_policy'),
    persistent: appends === '1' ? true : saves,
  };
}

function isOld(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major < (oldest[0] ?? 0) || (major === oldest[0] && minor < (oldest[1] ?? 0));
}
