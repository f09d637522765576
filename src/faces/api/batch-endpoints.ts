import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { findBatch } from '../../books/batch-results.sql.ts';
import { leftOutJson } from '../../core/domain/left-out.ts';
import type { Problem as FileProblem } from '../../core/domain/problem.ts';
import { batchCounts } from '../../core/ledger/batches.ts';
import { jsonShapes } from '../../core/shapes/json-shapes.ts';
import { listedBatchShape } from '../../core/shapes/list-shapes.ts';
import { leftOutShape, list, text } from '../../core/shapes/parts.ts';
import { approvalDigests } from '../../sending/approvals.sql.ts';
import { approveVerb } from '../../verbs/approve.ts';
import { cancelVerb } from '../../verbs/cancel.ts';
import { holdVerb } from '../../verbs/hold.ts';
import { rejectVerb } from '../../verbs/reject.ts';
import { releaseVerb } from '../../verbs/release.ts';
import { takeInVerb } from '../../verbs/take-in.ts';
import { checkedJson } from '../json/check-json.ts';
import { listedBatchJson } from '../json/list-json.ts';
import { approveJson, cancelJson, holdJson, releaseJson } from '../json/order-json.ts';
import { batchesAfter } from './api-lists.sql.ts';
import { type Answer, type ApiDeps, endpoint, jsonAnswer } from './endpoint.ts';
import { listOf, none, paging } from './parts.ts';
import { ApiProblem, declined, unlessRefused } from './problem.ts';
import { fileTypes, receiveFile, uploadsIn } from './upload.ts';

const batchParams = z.object({ batch: z.string().describe('its whole name') });

const apiBatch = listedBatchShape
  .extend({
    digest: text.nullable().describe('what an approval covers and must repeat; null while it is loading'),
  })
  .meta({ id: 'Batch' });

const posted = apiBatch.extend({ warnings: list(text), ...leftOutShape.shape }).meta({ id: 'PostedBatch' });

const posting = z.looseObject({
  name: z.string().optional().describe('the name of the file, NAME.csv: the batch is named after it'),
  rows: z.coerce.number().int().nonnegative().optional().describe('how many rows the file must have'),
  'total.NGN': z
    .string()
    .optional()
    .describe('what the rows in NGN must add up to; the same for any currency'),
  'total.ZAR': z.string().optional(),
  check: z.enum(['true', 'false']).optional().describe('true: only checks the file; nothing is taken'),
});

/** The figures that the file must hold. */
function figuresOf(query: Record<string, unknown>) {
  const totals = Object.entries(query).flatMap(([key, value]) =>
    key.startsWith('total.') && typeof value === 'string'
      ? [[key.slice(6).toUpperCase(), value] as const]
      : [],
  );
  const { rows } = query;
  return {
    ...(typeof rows === 'number' && { rows }),
    ...(totals.length > 0 && { totals: Object.fromEntries(totals) }),
  };
}

async function batchAnswer({ app }: ApiDeps, batches: string[]) {
  const { db } = app.ledger;
  const found = await batchCounts(db, batches);
  const digests = await approvalDigests(
    db,
    found.map(({ batch }) => batch),
  );
  return found.map((one) => ({ ...listedBatchJson(one), digest: digests.get(one.batch.id) ?? null }));
}

async function batchOr404(deps: ApiDeps, batch: string) {
  const [found] = await batchAnswer(deps, [batch]);
  if (!found) throw declined({ kind: 'no_batch', batch });
  return found;
}

function refusedFile(problems: readonly FileProblem[], count: number): ApiProblem {
  const [first] = problems;
  return new ApiProblem(422, {
    kind: 'file_refused',
    problem: `${first?.problem ?? 'the file is refused'}${count > 1 ? `, and ${count - 1} more problems` : ''}`,
    fix: `${first?.fix ?? 'correct the file'}; then post it again. Nothing was taken`,
    more: { problems: [...problems], problem_count: count },
  });
}

export const batchEndpoints = [
  endpoint({
    method: 'post',
    path: '/batches',
    name: 'postBatch',
    orders: 'take-in',
    does: 'Takes a file of payouts in. It is a batch, durably, before the answer. The same content is never a second batch.',
    right: 'drop',
    params: none,
    query: posting,
    body: null,
    streams: fileTypes,
    answers: {
      200: { does: 'The result of the check; nothing was taken.', shape: jsonShapes.check.shape },
      201: { does: 'The batch.', shape: posted },
    },
    async run(deps, { query, person, request }): Promise<Answer> {
      const { app, closing } = deps;
      const { maxBytes } = app.config.intake;
      const folder = uploadsIn(app.config);
      const upload = await receiveFile(request, { folder, name: query.name, maxBytes });
      try {
        const dryRun = query.check === 'true';
        const order = { files: [upload.path], figures: figuresOf(query), dryRun, posted: true };
        const done = unlessRefused(await takeInVerb.run({ ...app, signal: closing }, order, person));
        const [took] = done.taken;
        if (!took) throw new Error('a posted file was neither taken nor refused');
        if (took.kind === 'dry_run') {
          const file = checkedJson(took.checked);
          return jsonAnswer({ files: [{ ...file, file: query.name ?? file.file }] });
        }
        if (took.kind === 'refused' && took.batch !== undefined)
          throw takenBefore(took.batch, took.problems[0]);
        if (took.kind === 'refused') throw refusedFile(took.problems, took.problemCount);
        const batch = await batchOr404(deps, took.batch);
        return jsonAnswer({ ...batch, warnings: took.warnings, ...leftOutJson(took.skipped) }, 201);
      } finally {
        await upload.discard();
      }
    },
  }),
  endpoint({
    method: 'get',
    path: '/batches',
    name: 'listBatches',
    does: 'Batches, the newest first.',
    right: 'figures',
    params: none,
    query: paging,
    body: null,
    answers: { 200: { does: 'A page of batches.', shape: listOf('batches', apiBatch) } },
    async run(deps, { query: { after, limit } }) {
      const ids = await batchesAfter(deps.app.ledger.db, limit, after);
      const order = new Map(ids.map((id, at) => [id, at]));
      const batches = (await batchAnswer(deps, ids)).toSorted(
        (a, b) => (order.get(a.batch) ?? 0) - (order.get(b.batch) ?? 0),
      );
      return jsonAnswer({ batches, next: ids.length < limit ? null : (ids.at(-1) ?? null) });
    },
  }),
  endpoint({
    method: 'get',
    path: '/batches/{batch}',
    name: 'getBatch',
    does: 'One batch.',
    right: 'figures',
    params: batchParams,
    query: none,
    body: null,
    answers: { 200: { does: 'The batch.', shape: apiBatch } },
    async run(deps, { params: { batch } }) {
      return jsonAnswer(await batchOr404(deps, batch));
    },
  }),
  ...(['results.csv', 'failed.csv'] as const).map((name) =>
    endpoint({
      method: 'get',
      path: `/batches/{batch}/${name}`,
      name: name === 'results.csv' ? 'getResults' : 'getFailed',
      does:
        name === 'results.csv'
          ? 'The file of the batch with what became of each row.'
          : 'The rows that failed and are unpaid, to mend and post again. 404: there are none.',
      right: 'read',
      params: batchParams,
      query: none,
      body: null,
      answers: { 200: { does: 'The file.', type: 'text/csv' } },
      async run({ app }, { params: { batch } }): Promise<Answer> {
        if (!(await findBatch(app.ledger.db, batch))) throw declined({ kind: 'no_batch', batch });
        await app.reporting.writeBatchResults(batch);
        return writtenCsv(join(app.paths.reports, batch, name), `${batch}-${name}`);
      },
    }),
  ),
  endpoint({
    method: 'post',
    path: '/batches/{batch}/approve',
    name: 'approveBatch',
    orders: 'approve',
    does: "A second person's approval of exactly what the digest covers.",
    right: 'approve',
    params: batchParams,
    query: none,
    body: z.strictObject({ digest: z.string().describe('as GET /batches/{batch} shows it') }),
    answers: { 200: { does: 'Approved, now or before.', shape: jsonShapes.approve.shape } },
    async run({ app }, { params: { batch }, body: { digest }, person }) {
      return jsonAnswer(approveJson(unlessRefused(await approveVerb.run(app, { batch, digest }, person))));
    },
  }),
  endpoint({
    method: 'post',
    path: '/batches/{batch}/reject',
    name: 'rejectBatch',
    orders: 'reject',
    does: 'Cancels a batch that waits for an approval; its payouts say why.',
    right: 'approve',
    params: batchParams,
    query: none,
    body: z.strictObject({ reason: z.string().trim().min(1).max(2000) }),
    answers: { 200: { does: 'What was cancelled.', shape: jsonShapes.cancel.shape } },
    async run({ app }, { params: { batch }, body: { reason }, person }) {
      return jsonAnswer(cancelJson(unlessRefused(await rejectVerb.run(app, { batch, reason }, person))));
    },
  }),
  endpoint({
    method: 'post',
    path: '/batches/{batch}/hold',
    name: 'holdBatch',
    orders: 'hold',
    does: 'The brake: nothing more of the batch goes out.',
    right: 'decide',
    params: batchParams,
    query: none,
    body: z.strictObject({}),
    answers: {
      200: { does: 'How many it held, and what was already on its way.', shape: jsonShapes.hold.shape },
    },
    async run({ app }, { params: { batch }, person }) {
      return jsonAnswer(holdJson(unlessRefused(await holdVerb.run(app, { batch }, person))));
    },
  }),
  endpoint({
    method: 'post',
    path: '/batches/{batch}/release',
    name: 'releaseBatch',
    orders: 'release',
    does: 'Lets a held batch go; one that needs an approval stays held.',
    right: 'decide',
    params: batchParams,
    query: none,
    body: z.strictObject({}),
    answers: { 200: { does: 'How many may go, and what still holds it.', shape: jsonShapes.release.shape } },
    async run({ app }, { params: { batch }, person }) {
      return jsonAnswer(releaseJson(unlessRefused(await releaseVerb.run(app, { batch }, person))));
    },
  }),
  endpoint({
    method: 'post',
    path: '/batches/{batch}/cancel',
    name: 'cancelBatch',
    orders: 'cancel',
    does: 'Cancels what was never sent of the batch.',
    right: 'decide',
    params: batchParams,
    query: none,
    body: z.strictObject({}),
    answers: { 200: { does: 'What was cancelled.', shape: jsonShapes.cancel.shape } },
    async run({ app }, { params: { batch }, person }) {
      return jsonAnswer(cancelJson(unlessRefused(await cancelVerb.run(app, { batch }, person))));
    },
  }),
];

/** Answers with a file that Counterfoil wrote. Throws {@link ApiProblem} where there is none. */
export async function writtenCsv(path: string, name: string): Promise<Answer> {
  const handle = await open(path).catch(() => null);
  if (!handle)
    throw new ApiProblem(404, {
      kind: 'no_file',
      problem: 'there is no such file',
      fix: 'it is written when it has rows',
    });
  const { size: bytes } = await handle.stat();
  const headers = {
    'content-type': 'text/csv; charset=utf-8',
    'content-disposition': `attachment; filename*=UTF-8''${encodeURIComponent(name)}`,
  };
  return { kind: 'file', handle, bytes, headers };
}

function takenBefore(batch: string, said: FileProblem | undefined): ApiProblem {
  return new ApiProblem(409, {
    kind: 'taken_before',
    problem: said?.problem ?? `this content was already taken as batch ${batch}`,
    fix: said?.fix ?? `GET /batches/${batch} says where it stands`,
    more: { batch },
  });
}
