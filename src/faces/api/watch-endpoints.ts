import { join } from 'node:path';
import { z } from 'zod';
import { findRun } from '../../books/batch-results.sql.ts';
import { listOpen } from '../../books/discrepancies/discrepancies.sql.ts';
import { runSheets } from '../../books/run-sheets.sql.ts';
import { type RunVerdict, verdictsOf } from '../../books/run-verdicts.sql.ts';
import { discrepancyKinds } from '../../core/domain/discrepancy-kinds.ts';
import { runFolder } from '../../core/domain/run-folder.ts';
import { listStandings } from '../../core/domain/verdict.ts';
import { jsonShapes } from '../../core/shapes/json-shapes.ts';
import { fields, findingShape, instant, list, map, text, verdictShape } from '../../core/shapes/parts.ts';
import type { Run } from '../../core/storage/tables/tables.ts';
import { findingJson } from '../../findings/finding.ts';
import { acknowledgeVerb, resolveVerb } from '../../verbs/decide-discrepancies.ts';
import { reconcileVerb } from '../../verbs/reconcile.ts';
import { discrepanciesJson } from '../json/list-json.ts';
import { decidedJson } from '../json/order-json.ts';
import { statusJson } from '../json/status-json.ts';
import { statusFacts } from '../json/status-standing.ts';
import { runsBefore } from './api-lists.sql.ts';
import { writtenCsv } from './batch-endpoints.ts';
import { endpoint, jsonAnswer } from './endpoint.ts';
import { listOf, none, paging } from './parts.ts';
import { ApiProblem, declined, unlessRefused } from './problem.ts';

const apiRun = fields({
  run: text,
  started_at: instant,
  finished_at: instant.nullable().describe('null while it runs, and where it was cut off'),
  verdict: verdictShape.nullable(),
  verdicts: map(verdictShape).describe('by currency'),
  list: z.enum(listStandings).nullable().describe('what the list is worth'),
}).meta({ id: 'Run' });

function runJson(run: Run, verdicts: readonly RunVerdict[] = []): z.input<typeof apiRun> {
  const { id, started_at, finished_at, verdict, list_standing } = run;
  const byCurrency = Object.fromEntries(verdicts.map((one) => [one.currency, one.verdict]));
  return { run: id, started_at, finished_at, verdict, verdicts: byCurrency, list: list_standing };
}

const discrepancyShape = jsonShapes.discrepancies.shape.shape.discrepancies.unwrap().element;

const runStarted = fields({ started_at: instant, full: z.boolean() });

/** A run that was turned away is so within this time. */
const startedMs = 300;

const note = z.string().trim().max(2000);

export const watchEndpoints = [
  endpoint({
    method: 'get',
    path: '/discrepancies',
    name: 'listDiscrepancies',
    does: 'What is open, the gravest and oldest first, each with what to do.',
    right: 'read',
    params: none,
    query: paging.extend({ kind: z.enum(discrepancyKinds).optional(), batch: z.string().optional() }),
    body: null,
    answers: {
      200: { does: 'A page of discrepancies.', shape: listOf('discrepancies', discrepancyShape) },
    },
    async run({ app }, { query: { kind, batch, after, limit } }) {
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
  }),
  ...([acknowledgeVerb, resolveVerb] as const).map((verb) =>
    endpoint({
      method: 'post',
      path: `/discrepancies/{id}/${verb.name}`,
      name: `${verb.name}Discrepancy`,
      orders: verb.name,
      does:
        verb.name === 'resolve'
          ? 'It is dealt with, as the note says. It reopens when something else is found.'
          : 'Somebody works on it. It stays listed, and reopens when something else is found.',
      right: verb.can,
      params: z.object({ id: z.string() }),
      query: none,
      body:
        verb.name === 'resolve'
          ? z.strictObject({ note: note.min(1) })
          : z.strictObject({ note: note.default('') }),
      answers: { 200: { does: 'What it changed, and what stays open.', shape: jsonShapes.ack.shape } },
      async run({ app }, { params: { id }, body, person }) {
        return jsonAnswer(
          decidedJson(unlessRefused(await verb.run(app, { ids: [id], note: body.note }, person))),
        );
      },
    }),
  ),
  endpoint({
    method: 'get',
    path: '/runs',
    name: 'listRuns',
    does: 'Reconciliations, the newest first.',
    right: 'figures',
    params: none,
    query: paging,
    body: null,
    answers: { 200: { does: 'A page of runs.', shape: listOf('runs', apiRun) } },
    async run({ app }, { query: { after, limit } }) {
      const runs = await runsBefore(app.ledger.db, limit, after);
      const verdicts = await verdictsOf(
        app.ledger.db,
        runs.map(({ id }) => id),
      );
      const next = runs.length < limit ? null : (runs.at(-1)?.id ?? null);
      return jsonAnswer({ runs: runs.map((run) => runJson(run, verdicts.get(run.id))), next });
    },
  }),
  endpoint({
    method: 'get',
    path: '/runs/{run}',
    name: 'getRun',
    does: 'One reconciliation.',
    right: 'figures',
    params: z.object({ run: z.string() }),
    query: none,
    body: null,
    answers: {
      200: {
        does: 'The run; `summary` is what `reconcile --json` printed, null before its end.',
        shape: apiRun.extend({ summary: z.record(z.string(), z.json()).nullable() }),
      },
    },
    async run({ app }, { params: { run: id } }) {
      const run = await findRun(app.ledger.db, id);
      if (!run) throw declined({ kind: 'no_run', run: id });
      const verdicts = (await verdictsOf(app.ledger.db, [id])).get(id);
      return jsonAnswer({
        ...runJson(run, verdicts),
        summary: run.summary === null ? null : JSON.parse(run.summary),
      });
    },
  }),
  endpoint({
    method: 'get',
    path: '/runs/{run}/{sheet}.csv',
    name: 'getRunSheet',
    does: 'One table of the report of a run.',
    right: 'read',
    params: z.object({ run: z.string(), sheet: z.enum(runSheets) }),
    query: none,
    body: null,
    answers: { 200: { does: 'The file.', type: 'text/csv' } },
    async run({ app }, { params: { run: id, sheet } }) {
      if (!(await findRun(app.ledger.db, id))) throw declined({ kind: 'no_run', run: id });
      return writtenCsv(
        join(app.paths.reports, runFolder(id), `${sheet}.csv`),
        `${runFolder(id)}-${sheet}.csv`,
      );
    },
  }),
  endpoint({
    method: 'post',
    path: '/runs',
    name: 'startRun',
    orders: 'reconcile',
    does: 'Begins a reconciliation. The event `run.finished` tells its end.',
    right: 'decide',
    params: none,
    query: none,
    body: z.strictObject({ full: z.boolean().default(false).describe('reads the whole list') }),
    answers: { 202: { does: 'It runs.', shape: runStarted } },
    async run({ app, closing, background }, { body: { full }, person }) {
      const started_at = app.clock.iso();
      const work = reconcileVerb.run({ ...app, signal: closing }, { full, followUp: true }, person);
      background(work);
      const first = await Promise.race([work, app.clock.sleep(startedMs, closing)]);
      if (first) unlessRefused(first);
      return jsonAnswer({ started_at, full }, 202);
    },
  }),
  endpoint({
    method: 'get',
    path: '/status',
    name: 'getStatus',
    does: 'Where everything stands.',
    right: 'figures',
    params: none,
    query: none,
    body: null,
    answers: { 200: { does: 'What `status --json` prints.', shape: jsonShapes.status.shape } },
    async run({ app }) {
      return jsonAnswer(statusJson(await statusFacts(app), app.config.mode));
    },
  }),
  endpoint({
    method: 'get',
    path: '/findings',
    name: 'listFindings',
    does: 'What is wrong or waits: one list, the same on every face.',
    right: 'figures',
    params: none,
    query: none,
    body: null,
    answers: { 200: { does: 'All of it.', shape: fields({ findings: list(findingShape) }) } },
    async run({ findWaiting }) {
      return jsonAnswer({ findings: (await findWaiting()).map(findingJson) });
    },
  }),
];

/** For a path that names nothing. */
export function noSuchPath(): ApiProblem {
  return new ApiProblem(404, {
    kind: 'no_path',
    problem: 'there is no such path',
    fix: 'GET /api/v1/openapi.json lists them',
  });
}
