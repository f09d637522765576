import { expect, it } from 'vitest';
import { setVerdicts } from '../../../src/books/run-verdicts.sql.ts';
import { apiRoutes } from '../../../src/faces/api/api.ts';
import { beginRun, finishRun } from '../../../src/watching/listing/listings.sql.ts';
import { at } from '../../support/ledger.ts';
import { startAdmin, tokens } from '../admin/support.ts';
import { startDashboard } from '../web/dashboard/support.ts';

it('calls no run finished before it has a verdict: its list was read, and it goes on or was cut off', async () => {
  const { app, ledger, ask: page } = await startDashboard();
  const routes = apiRoutes({ app, findWaiting: async () => [], background: () => undefined });
  const { url } = await startAdmin({ routes: [routes], tokens });
  const ends = async () => {
    const headers = { authorization: `Bearer ${tokens[0]?.token}` };
    const text = await (await fetch(`${url}/api/v1/runs`, { headers })).text();
    return /"finished_at":[^,]*,"verdict":[^,]*/.exec(text)?.[0];
  };
  const run = await ledger.write((trx) => beginRun(trx, at(0)));
  await ledger.write((trx) => finishRun(trx, run, at(3000), 'complete'));
  expect(await ends()).toBe('"finished_at":null,"verdict":null');
  expect((await page('/runs')).body).toContain('died before its end');
  await ledger.write((trx) => setVerdicts(trx, run, { whole: 'none', currencies: [] }));
  expect(await ends()).toBe(`"finished_at":"${at(3000)}","verdict":"none"`);
});
