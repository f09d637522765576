import type { FastifyInstance } from 'fastify';
import { findRun } from '../../../books/batch-results.sql.ts';
import { runRows } from '../../../books/run-sheets.sql.ts';
import { verdictsOf } from '../../../books/run-verdicts.sql.ts';
import { storedCells } from '../../../books/sheet.ts';
import type { Db } from '../../../core/storage/ledger.ts';
import { Declined } from './actions.ts';
import { decidedIn } from './look.ts';
import { pageIn, perPage, queryOf } from './query.ts';
import { newestRuns } from './runs.sql.ts';
import { runsView, runTitle, runView } from './runs-view.ts';
import type { Shared } from './shared.ts';

type Params = { Params: { name: string } };

/** The pages of reconciliations. */
export function runRoutes(scope: FastifyInstance, { deps, looks, send, viewFor }: Shared): void {
  const { reader, config, reports } = deps;

  scope.get('/runs', async (request, reply) => {
    const { number, offset } = pageIn(request);
    const found = await newestRuns(reader, perPage + 1, offset);
    const page = { number, more: found.length > perPage };
    const runs = found.slice(0, perPage);
    const ids = runs.map(({ id }) => id);
    const { unended, lastRun: last } = await looks.look();
    const now = { unended, last, already: queryOf(request, 'already') === 'yes' };
    const facts = { runs, verdicts: await verdictsOf(reader, ids), page, now };
    const main = runsView(facts, await viewFor(request));
    return send(request, reply, { title: 'Reconciliations', place: '/runs', main, renews: 'live' });
  });

  scope.get<Params>('/runs/:name', async (request, reply) => {
    const run = await findRun(reader, request.params.name);
    if (!run) throw new Declined(404, `There is no run ${request.params.name}.`);
    const verdicts = (await verdictsOf(reader, [run.id])).get(run.id) ?? [];
    const statement = await statementOf(reader, run.id);
    const look = await looks.look();
    const decided = decidedIn(look, run.id);
    const { keepDays } = config.reports;
    const facts = { verdicts, statement, unended: look.unended, reports, keepDays, decided };
    const view = await viewFor(request);
    const main = runView(run, facts, view);
    return send(request, reply, { title: runTitle(run, view), place: '/runs', main, renews: 'live' });
  });
}

/** The frozen statement of a run, with its header. */
async function statementOf(db: Db, run: string): Promise<string[][]> {
  const rows: string[][] = [];
  for await (const page of runRows(db, run, 'statement')) rows.push(...page.map(storedCells));
  return rows;
}
