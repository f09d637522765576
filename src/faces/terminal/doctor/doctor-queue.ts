import { queueKind } from '../../../core/runtime/queue-open.ts';
import type { PostgresFacts } from '../../../core/runtime/queue-postgres.sql.ts';
import type { RedisFacts } from '../../../core/runtime/queue-redis.ts';
import { withoutCredentials } from '../../../core/settings/file-values.ts';
import type { Config } from '../../../core/settings/settings.ts';
import { type DoctorCheck, skipped, well, wrong } from './doctor-check.ts';

/** BullMQ's own limits: below the first it refuses. */
const oldestRedis = '6.2';
const oldestPostgres = 13;

/** Checks that the shared queue's server answers, and keeps its jobs. */
export async function checkQueue(
  { queue }: Config,
  { offline }: { offline: boolean },
): Promise<DoctorCheck[]> {
  const kind = queueKind(queue.url);
  if (kind === 'inline')
    return [well('queue', 'inline: in the process that works, with nothing of its own to lose')];
  const at = withoutCredentials(queue.url);
  if (offline) {
    const unasked = kind === 'redis' ? 'version, memory and persistence' : 'version and tables';
    return [skipped('queue', `--offline: not known is whether ${at} answers, its ${unasked}`)];
  }
  try {
    if (kind === 'redis') {
      const { inspectRedis } = await import('../../../core/runtime/queue-redis.ts');
      return describeRedis(at, await inspectRedis(queue.url));
    }
    const { inspectPostgres } = await import('../../../core/runtime/queue-postgres.sql.ts');
    return describePostgres(at, await inspectPostgres(queue.url));
  } catch (error) {
    const why = reasonOf(error);
    const detail = `${at} ${refuses.test(why) ? 'takes nothing' : 'gives no answer'} (${why}); each daemon sends by itself meanwhile, and nothing is lost`;
    return [wrong('queue', detail, fixFor(why))];
  }
}

function describeRedis(at: string, { version, policy, persistent }: RedisFacts): DoctorCheck[] {
  const known = /^(\d+)\.(\d+)/.exec(version);
  const number = known ? Number(known[1]) * 100 + Number(known[2]) : null;
  if (number !== null && number < 602)
    return [wrong('queue', `${at} is Redis ${version}`, `bring it to ${oldestRedis} or newer`)];
  return [
    well('queue', `${at} answers: Redis ${version}`),
    policy === null
      ? skipped('queue memory', 'the server does not say its maxmemory-policy, which should be noeviction')
      : policy === 'noeviction'
        ? well('queue memory', 'maxmemory-policy noeviction: no job is thrown away')
        : wrong(
            'queue memory',
            `maxmemory-policy ${policy}: jobs may be thrown away when memory is short, and wait for the next sweep`,
            'set maxmemory-policy noeviction in redis.conf (now: redis-cli config set maxmemory-policy noeviction)',
          ),
    well('queue persistence', persistence(persistent)),
  ];
}

/** Never a fault: jobs that a Redis forgets are created again from the ledger. */
function persistence(persistent: boolean | null): string {
  if (persistent === true) return 'it keeps its jobs over a restart';
  const advice = 'appendonly yes in redis.conf saves the minute until the ledger fills it again';
  return persistent === null
    ? `the server does not tell; ${advice}`
    : `it keeps nothing over a restart; ${advice}`;
}

function describePostgres(at: string, { version, schema, needed, mayCreate }: PostgresFacts): DoctorCheck[] {
  if (Number.parseInt(version, 10) < oldestPostgres)
    return [wrong('queue', `${at} is PostgreSQL ${version}`, `bring it to ${oldestPostgres} or newer`)];
  const answers = well('queue', `${at} answers: PostgreSQL ${version}`);
  if (schema !== null && schema >= needed)
    return [answers, well('queue tables', `there, in version ${schema}`)];
  const now = schema === null ? 'not there yet' : `in version ${schema}, and ${needed} is needed`;
  return [
    answers,
    mayCreate
      ? well('queue tables', `${now}: the first serve brings them`)
      : wrong(
          'queue tables',
          `${now}, and this user may not create them`,
          'as the owner of the database: create schema bullmq authorization USER, and grant create on database NAME to USER',
        ),
  ];
}

function reasonOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === '')
    return [...new Set(error.errors.map(reasonOf))].join('; ');
  return error instanceof Error ? error.message : String(error);
}

/** How a Redis begins its refusal to write. */
const refuses = /^(READONLY|OOM|NOREPLICAS|MISCONF)/;

const fixes: readonly [pattern: RegExp, fix: string][] = [
  [/ECONNREFUSED/, 'nothing listens there: start it, or correct queue.url'],
  [/ENOTFOUND|EAI_AGAIN/, "the name could not be resolved: check queue.url and this machine's DNS"],
  [
    /WRONGPASS|NOAUTH|NOPERM|password|authentication|role .* does not exist/i,
    'correct the user and password in queue.url (COUNTERFOIL_QUEUE_URL in .env keeps them out of the file)',
  ],
  [/^READONLY/, 'it is a replica or can only be read: point queue.url at the primary'],
  [/^OOM/, 'its memory is full: raise maxmemory, or clear out what else it holds'],
  [/^NOREPLICAS/, 'it waits for its replicas: start them, or lower min-replicas-to-write'],
  [/^MISCONF/, 'it cannot save to its disk: free space there, or mend what its log says'],
  [/database .* does not exist/i, 'create that database, or correct queue.url'],
  [
    /certificate|SELF_SIGNED|ERR_SSL|ERR_TLS|EPROTO/i,
    'its certificate is not trusted here, or it speaks no TLS: check the scheme, and NODE_EXTRA_CA_CERTS for an authority of your own',
  ],
  [
    /ETIMEDOUT|timed? ?out|no answer/i,
    'it does not answer in time: check the server, and a firewall in between',
  ],
];

function fixFor(why: string): string {
  return fixes.find(([pattern]) => pattern.test(why))?.[1] ?? 'check the server and queue.url';
}
