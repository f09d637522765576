import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, vi } from 'vitest';
import { setVerdicts } from '../../../src/books/run-verdicts.sql.ts';
import { apiRoutes } from '../../../src/faces/api/api.ts';
import { beginRun, finishRun } from '../../../src/watching/listing/listings.sql.ts';
import { at } from '../../support/ledger.ts';
import { startAdmin, tokens } from '../admin/support.ts';
import { startDashboard } from '../web/dashboard/support.ts';
import { serveApi } from './support.ts';

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

it('gives the sheets of a finished run whose files are not there yet, or no longer', async () => {
  const { as, ask, home } = await serveApi({}, { COUNTERFOIL_SCHEDULES_SUBMIT: '' });
  await as('femi').startRun({ full: false });
  const run = await vi.waitFor(
    async () => {
      const [newest] = (await as('eve').listRuns()).runs;
      if (!newest?.finished_at) throw new Error('it still runs');
      return newest.run;
    },
    { timeout: 10_000, interval: 5 },
  );
  const sheet = async () => {
    const answer = await ask('rita', `/runs/${run}/statement.csv`);
    return [answer.status, (await answer.text()).trim()];
  };
  expect(await sheet()).toEqual([200, 'currency,line,count,amount,verdict']);
  rmSync(join(home.dir, 'data/reports', `reconciliation-${run}`), { recursive: true });
  expect(await sheet()).toEqual([200, 'currency,line,count,amount,verdict']);
});
