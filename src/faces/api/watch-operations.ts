import { z } from 'zod';
import { runSheets } from '../../books/run-sheets.sql.ts';
import { discrepancyKinds } from '../../core/domain/discrepancy-kinds.ts';
import { listStandings } from '../../core/domain/verdict.ts';
import { eventsShape } from '../../core/shapes/event-shapes.ts';
import { jsonShapes } from '../../core/shapes/json-shapes.ts';
import { fields, findingShape, flag, instant, map, text, verdictShape } from '../../core/shapes/parts.ts';
import { listOf, lookup, type Operation, order, paging } from './operation.ts';

const apiRun = fields({
  run: text,
  started_at: instant,
  finished_at: instant.nullable().describe('null while it runs, and where it was cut off'),
  verdict: verdictShape.nullable(),
  verdicts: map(verdictShape).describe('by currency'),
  list: z.enum(listStandings).nullable().describe('what the list is worth'),
}).meta({ id: 'Run' });
export type RunAnswer = z.input<typeof apiRun>;

const discrepancyShape = jsonShapes.discrepancies.shape.shape.discrepancies.unwrap().element;
const discrepancyParams = z.object({ id: z.string() });
const runParams = z.object({ run: z.string() });
const note = z.string().trim().max(2000);

export const watchOperations = {
  listDiscrepancies: {
    ...lookup,
    path: '/discrepancies',
    does: 'What is open, the gravest and oldest first, each with what to do.',
    right: 'read',
    query: paging.extend({ kind: z.enum(discrepancyKinds).optional(), batch: z.string().optional() }),
    answers: {
      200: { does: 'A page of discrepancies.', shape: listOf('discrepancies', discrepancyShape) },
    },
  },
  acknowledgeDiscrepancy: {
    ...order,
    orders: 'acknowledge',
    path: '/discrepancies/{id}/acknowledge',
    does: 'Somebody works on it. It stays listed, and reopens when something else is found.',
    right: 'decide',
    params: discrepancyParams,
    body: z.strictObject({ note: note.default('') }),
    answers: { 200: { does: 'What it changed, and what stays open.', shape: jsonShapes.ack.shape } },
  },
  resolveDiscrepancy: {
    ...order,
    orders: 'resolve',
    path: '/discrepancies/{id}/resolve',
    does: 'It is dealt with, as the note says. It reopens when something else is found.',
    right: 'decide',
    params: discrepancyParams,
    body: z.strictObject({ note: note.min(1) }),
    answers: { 200: { does: 'What it changed, and what stays open.', shape: jsonShapes.ack.shape } },
  },
  listRuns: {
    ...lookup,
    path: '/runs',
    does: 'Reconciliations, the newest first.',
    right: 'figures',
    query: paging,
    answers: { 200: { does: 'A page of runs.', shape: listOf('runs', apiRun) } },
  },
  getRun: {
    ...lookup,
    path: '/runs/{run}',
    does: 'One reconciliation.',
    right: 'figures',
    params: runParams,
    answers: {
      200: {
        does: 'The run; `summary` is what `reconcile --json` printed, null before its end.',
        shape: apiRun.extend({ summary: z.record(z.string(), z.unknown()).nullable() }),
      },
    },
  },
  getRunSheet: {
    ...lookup,
    path: '/runs/{run}/{sheet}.csv',
    does: 'One table of the report of a run.',
    right: 'read',
    params: runParams.extend({ sheet: z.enum(runSheets) }),
    answers: { 200: { does: 'The file.', type: 'text/csv' } },
  },
  startRun: {
    ...order,
    orders: 'reconcile',
    path: '/runs',
    does: 'Begins a reconciliation. The event `run.finished` tells its end.',
    right: 'decide',
    body: z.strictObject({ full: z.boolean().default(false).describe('reads the whole list') }),
    answers: { 202: { does: 'It runs.', shape: fields({ started_at: instant, full: flag }) } },
  },
  getStatus: {
    ...lookup,
    path: '/status',
    does: 'Where everything stands.',
    right: 'figures',
    answers: { 200: { does: 'What `status --json` prints.', shape: jsonShapes.status.shape } },
  },
  listEvents: {
    ...lookup,
    path: '/events',
    does: 'What happened, in the order of its commits: each once by cursor, none lost. With `Accept: text/event-stream` it goes on for ever; `Last-Event-ID` is a cursor.',
    right: 'read',
    query: paging.extend({
      after: z
        .string()
        .optional()
        .describe('a cursor: what follows it; none: the oldest that is kept. `latest`: only what is to come'),
    }),
    answers: { 200: { does: 'A page of events, or a stream of them.', shape: eventsShape } },
  },
  listFindings: {
    ...lookup,
    path: '/findings',
    does: 'What is wrong or waits: one list, the same on every face.',
    right: 'figures',
    answers: { 200: { does: 'All of it, in one page.', shape: listOf('findings', findingShape) } },
  },
} as const satisfies Record<string, Operation>;
