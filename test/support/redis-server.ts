import { randomInt } from 'node:crypto';
import { Redis } from 'ioredis';
import {
  findProgram,
  folderFor,
  freePort,
  removeFolder,
  startServer,
  untilAnswers,
} from './server-process.ts';

export type RedisServer = {
  /** An empty database of its own. */
  url: string;
  /** Ends the server as kill -9 does; null where the server is not ours (REDIS_URL). */
  kill: (() => Promise<void>) | null;
  /** Freezes and thaws the server's process; null where it is not ours. */
  signal: ((name: 'SIGSTOP' | 'SIGCONT') => void) | null;
  /** Starts it again on the same port: `empty` when nothing was kept, as without any persistence. */
  start(): Promise<void>;
  /** Empties its database. */
  flush(): Promise<void>;
  /** Runs one command, such as `CONFIG SET`. */
  run(command: string, ...args: string[]): Promise<unknown>;
  stop(): Promise<void>;
};

/**
 * A Redis for one test file: a database of REDIS_URL's server, else a server of its own that keeps nothing (unless `args`
 * say so) on a free port. Null where there is none: the tests then say so in their title and are skipped.
 */
export async function startRedis(args: string[] = []): Promise<RedisServer | null> {
  const given = process.env.REDIS_URL;
  if (given) return onGivenServer(given);
  const program = findProgram('redis-server');
  if (!program) return null;
  const folder = folderFor({}, 'counterfoil-redis-');
  const port = await freePort();
  const url = `redis://127.0.0.1:${port}`;
  const always = ['--bind', '127.0.0.1', '--port', String(port), '--dir', folder, '--save', ''];
  const launch = async () => {
    const process = startServer(program, [...always, ...args], {});
    await untilAnswers(process, () => run(url, 'PING'));
    return process;
  };
  let server = await launch();
  const end = async (): Promise<void> => {
    server.signal('SIGKILL');
    await server.ended;
  };
  return {
    url,
    kill: end,
    signal: (name) => server.signal(name),
    async start() {
      if (!server.alive()) server = await launch();
    },
    flush: async () => void (await run(url, 'FLUSHALL')),
    run: (command, ...rest) => run(url, command, ...rest),
    async stop() {
      await end();
      removeFolder(folder);
    },
  };
}

/** What a title adds where there is no Redis to test with. */
export const noRedis = ' (skipped: no redis-server; set REDIS_URL or install it)';

async function onGivenServer(given: string): Promise<RedisServer> {
  const url = new URL(given);
  url.pathname = `/${randomInt(1, 15)}`;
  const flush = async (): Promise<void> => void (await run(url.href, 'FLUSHDB'));
  await flush();
  return {
    url: url.href,
    kill: null,
    signal: null,
    start: async () => undefined,
    flush,
    run: (command, ...rest) => run(url.href, command, ...rest),
    stop: flush,
  };
}

async function run(url: string, command: string, ...args: string[]): Promise<unknown> {
  const client = new Redis(url, { lazyConnect: true, retryStrategy: () => null });
  client.on('error', () => undefined);
  try {
    await client.connect();
    return await client.call(command, ...args);
  } finally {
    client.disconnect();
  }
}
