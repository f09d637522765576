import { randomUUID } from 'node:crypto';
import { afterAll, describe } from 'vitest';
import { postgresWire } from '../../../src/core/runtime/queue-postgres.sql.ts';
import { noPostgres, startPostgres } from '../../support/postgres-server.ts';
import { sharedQueue } from '../../support/shared-queue.ts';
import { describeQueue, describeSharedQueue } from './queue-conformance.ts';
import { describeOutage } from './queue-outage.ts';

const postgres = await startPostgres();
const skip = postgres === null;
const wire = (space: string) => postgresWire(postgres?.url ?? '', space);
afterAll(() => postgres?.stop());

describe(`PostgreSQL${skip ? noPostgres : ''}`, () => {
  describeQueue('PostgreSQL', async (onFailed) => sharedQueue(wire, { onFailed }).queue, { skip });
  const [here, elsewhere] = [randomUUID(), randomUUID()];
  const spaces = { here, elsewhere };
  describeSharedQueue('PostgreSQL', async (space) => sharedQueue(wire, { space: spaces[space] }).queue, {
    skip,
  });
  describeOutage('PostgreSQL', () => sharedQueue(wire), postgres);
});
