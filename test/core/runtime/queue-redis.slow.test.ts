import { randomUUID } from 'node:crypto';
import { afterAll, describe } from 'vitest';
import { redisWire } from '../../../src/core/runtime/queue-redis.ts';
import { noRedis, startRedis } from '../../support/redis-server.ts';
import { sharedQueue } from '../../support/shared-queue.ts';
import { describeQueue, describeSharedQueue } from './queue-conformance.ts';
import { describeOutage } from './queue-outage.ts';

const redis = await startRedis();
const skip = redis === null;
const wire = (space: string) => redisWire(redis?.url ?? '', space);
afterAll(() => redis?.stop());

describe(`Redis${skip ? noRedis : ''}`, () => {
  describeQueue('Redis', async (onFailed) => sharedQueue(wire, { onFailed }).queue, { skip });
  const [here, elsewhere] = [randomUUID(), randomUUID()];
  const spaces = { here, elsewhere };
  describeSharedQueue('Redis', async (space) => sharedQueue(wire, { space: spaces[space] }).queue, { skip });
  describeOutage('Redis', () => sharedQueue(wire), redis);
});
