import { expect, it } from 'vitest';
import { PostgresFailure } from '../../../src/core/storage/failure.ts';
import { apiRoutes } from '../../../src/faces/api/api.ts';
import { startAdmin, tokens } from '../admin/support.ts';
import { startDashboard } from '../web/dashboard/support.ts';

it('answers for now, not for ever, while the database of the ledger is away or kept', async () => {
  const { app } = await startDashboard();
  let failure: Error = new PostgresFailure('ECONNREFUSED', 'connect ECONNREFUSED 127.0.0.1:5432');
  const routes = apiRoutes({ app, findWaiting: () => Promise.reject(failure), background: () => undefined });
  const { port } = await startAdmin({ routes: [routes], tokens });
  const ask = async () => {
    const headers = { authorization: `Bearer ${tokens[0]?.token}` };
    const reply = await fetch(`http://127.0.0.1:${port}/api/v1/findings`, { headers });
    const kind = /urn:counterfoil:problem:\w+/.exec(await reply.text())?.[0];
    return [reply.status, reply.headers.get('retry-after'), kind];
  };
  expect(await ask()).toEqual([503, '10', 'urn:counterfoil:problem:ledger_away']);
  failure = new PostgresFailure('HELD', 'another transaction was faster');
  expect(await ask()).toEqual([503, '10', 'urn:counterfoil:problem:busy']);
  failure = new PostgresFailure('42601', 'syntax error');
  expect(await ask()).toEqual([500, null, 'urn:counterfoil:problem:failed']);
});
