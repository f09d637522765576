import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { findRun } from '../../books/batch-results.sql.ts';
import { listOpen } from '../../books/discrepancies/discrepancies.sql.ts';
import { type RunVerdict, runEnd, verdictsOf } from '../../books/run-verdicts.sql.ts';
import { runFolder } from '../../core/domain/run-folder.ts';
import type { Run } from '../../core/storage/tables/tables.ts';
import { findingJson } from '../../findings/finding.ts';
import { acknowledgeVerb, resolveVerb } from '../../verbs/decide-discrepancies.ts';
import { beginReconcile } from '../../verbs/reconcile.ts';
import { reportVerb } from '../../verbs/report.ts';
import type { Person } from '../../verbs/verb.ts';
import { discrepanciesJson } from '../json/list-json.ts';
import { decidedJson } from '../json/order-json.ts';
import { statusJson } from '../json/status-json.ts';
import { statusFacts } from '../json/status-standing.ts';
import { runsBefore } from './api-lists.sql.ts';
import { writtenCsv } from './batch-endpoints.ts';
import { type Answer, type ApiDeps, jsonAnswer, type Runs } from './endpoint.ts';
import { ApiProblem, declined, unlessRefused } from './problem.ts';
import type { RunAnswer, watchOperations } from './watch-operations.ts';

function runJson(run: Run, verdicts: readonly RunVerdict[] = []): RunAnswer {
  const { id, started_at, verdict, list_standing } = run;
  const byCurrency = Object.fromEntries(verdicts.map((one) => [one.currency, one.verdict]));
  return {
    run: id,
    started_at,
    finished_at: runEnd(run),
    verdict,
    verdicts: byCurrency,
    list: list_standing,
  };
}

export const watchEndpoints: Runs<Omit<typeof watchOperations, 'listEvents'>> = {
  async listDiscrepancies({ app }, { query: { kind, batch, after, limit } }) {
    const filter = { ...(kind && { kind }), ...(batch !== undefined && { batch }) };
    const all = await listOpen(app.ledger.db, filter);
    const from = after === undefined ? 0 : all.findIndex(({ id }) => id === after) + 1;
    const page = all.slice(from, from + limit);
    const next = from + limit < all.length ? (page.at(-1)?.id ?? null) : null;
    return jsonAnswer({
      discrepancies: await discrepanciesJson(app.ledger.db, page, app.clock.iso()),
      next,
    });
  },

  acknowledgeDiscrepancy: (deps, given) => decide(acknowledgeVerb, deps, given),

  resolveDiscrepancy: (deps, given) => decide(resolveVerb, deps, given),

  async listRuns({ app }, { query: { after, limit } }) {
    const runs = await runsBefore(app.ledger.db, limit, after);
    const verdicts = await verdictsOf(
      app.ledger.db,
      runs.map(({ id }) => id),
    );
    const next = runs.length < limit ? null : (runs.at(-1)?.id ?? null);
    return jsonAnswer({ runs: runs.map((run) => runJson(run, verdicts.get(run.id))), next });
  },

  async getRun({ app }, { params: { run: id } }) {
    const run = await findRun(app.ledger.db, id);
    if (!run) throw declined({ kind: 'no_run', run: id });
    const verdicts = (await verdictsOf(app.ledger.db, [id])).get(id);
    return jsonAnswer({
      ...runJson(run, verdicts),
      summary: run.summary === null ? null : JSON.parse(run.summary),
    });
  },

  async getRunSheet({ app }, { params: { run: id, sheet }, person }) {
    if (!(await findRun(app.ledger.db, id))) throw declined({ kind: 'no_run', run: id });
    const path = join(app.paths.reports, runFolder(id), `${sheet}.csv`);
    // A run is finished before its files are written, and reports.keep_days removes them.
    if (!existsSync(path)) unlessRefused(await reportVerb.run(app, { run: id }, person));
    return writtenCsv(path, `${runFolder(id)}-${sheet}.csv`);
  },

  async startRun({ app, closing, background }, { body: { full } }) {
    const started_at = app.clock.iso();
    const parts = { ...app, signal: closing };
    background(unlessRefused(await beginReconcile(parts, { full, followUp: true })).ended);
    return jsonAnswer({ started_at, full }, 202);
  },

  async getStatus({ app }, { sight }) {
    return jsonAnswer(statusJson(await statusFacts(app), app.config.mode, sight));
  },

  async listFindings({ findWaiting }) {
    return jsonAnswer({ findings: (await findWaiting()).map(findingJson), next: null });
  },
};

async function decide(
  verb: typeof acknowledgeVerb | typeof resolveVerb,
  { app }: ApiDeps,
  {
    params: { id },
    body: { note },
    person,
  }: { params: { id: string }; body: { note: string }; person: Person },
): Promise<Answer> {
  return jsonAnswer(decidedJson(unlessRefused(await verb.run(app, { ids: [id], note }, person))));
}

/** For a path that names nothing. */
export function noSuchPath(): ApiProblem {
  return new ApiProblem(404, {
    kind: 'no_path',
    problem: 'there is no such path',
    fix: 'GET /api/v1/openapi.json lists them',
  });
}
