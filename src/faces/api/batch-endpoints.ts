import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { findBatch } from '../../books/batch-results.sql.ts';
import { counted } from '../../core/domain/counted.ts';
import { leftOutJson } from '../../core/domain/left-out.ts';
import type { Problem as FileProblem } from '../../core/domain/problem.ts';
import { batchCounts, batchesAfter } from '../../core/ledger/batches.ts';
import { approvalDigests } from '../../sending/approvals.sql.ts';
import { approveVerb } from '../../verbs/approve.ts';
import { cancelVerb } from '../../verbs/cancel.ts';
import { holdVerb } from '../../verbs/hold.ts';
import { rejectVerb } from '../../verbs/reject.ts';
import { releaseVerb } from '../../verbs/release.ts';
import { takeInVerb } from '../../verbs/take-in.ts';
import type { ReaderSight } from '../../words/hold-words.ts';
import { checkedJson } from '../json/check-json.ts';
import { listedBatchJson } from '../json/list-json.ts';
import { approveJson, cancelJson, holdJson, releaseJson } from '../json/order-json.ts';
import type { batchOperations } from './batch-operations.ts';
import { type Answer, type ApiDeps, jsonAnswer, type Runs } from './endpoint.ts';
import { ApiProblem, declined, unlessRefused } from './problem.ts';
import { receiveFile, uploadsIn } from './upload.ts';

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

async function batchAnswer({ app }: ApiDeps, batches: string[], sight: ReaderSight) {
  const { db } = app.ledger;
  const found = await batchCounts(db, batches);
  const digests = await approvalDigests(
    db,
    found.map(({ batch }) => batch),
  );
  return found.map((one) => ({
    ...listedBatchJson(one, sight),
    digest: digests.get(one.batch.id) ?? null,
  }));
}

async function batchOr404(deps: ApiDeps, batch: string, sight: ReaderSight) {
  const [found] = await batchAnswer(deps, [batch], sight);
  if (!found) throw declined({ kind: 'no_batch', batch });
  return found;
}

function refusedFile(problems: readonly FileProblem[], count: number): ApiProblem {
  const [first] = problems;
  return new ApiProblem(422, {
    kind: 'file_refused',
    problem: `${first?.problem ?? 'the file is refused'}${count > 1 ? `, and ${counted(count - 1, 'more problem')}` : ''}`,
    fix: `${first?.fix ?? 'correct the file'}; then post it again. Nothing was taken`,
    more: { problems: [...problems], problem_count: count },
  });
}

export const batchEndpoints: Runs<typeof batchOperations> = {
  async postBatch(deps, { query, person, sight, request }) {
    const { app, closing } = deps;
    const { maxBytes } = app.config.intake;
    const folder = uploadsIn(app.config);
    const upload = await receiveFile(request, { folder, name: query.name, maxBytes });
    try {
      const dryRun = query.check === 'true';
      const day = query.pay_on === undefined ? {} : { payOn: query.pay_on };
      const order = { files: [upload.path], figures: figuresOf(query), ...day, dryRun, posted: true };
      const done = unlessRefused(await takeInVerb.run({ ...app, signal: closing }, order, person));
      const [took] = done.taken;
      if (!took) throw new Error('a posted file was neither taken nor refused');
      if (took.kind === 'dry_run') {
        const file = checkedJson(took.checked, sight);
        return jsonAnswer({ files: [{ ...file, file: upload.name }] });
      }
      if (took.kind === 'refused' && took.batch !== undefined)
        throw takenBefore(took.batch, took.problems[0]);
      if (took.kind === 'refused') throw refusedFile(took.problems, took.problemCount);
      const batch = await batchOr404(deps, took.batch, sight);
      return jsonAnswer({ ...batch, warnings: took.warnings, ...leftOutJson(took.skipped) }, 201);
    } finally {
      await upload.discard(app.ledger.db);
    }
  },

  async listBatches(deps, { query: { after, limit }, sight }) {
    const ids = await batchesAfter(deps.app.ledger.db, limit, after);
    const order = new Map(ids.map((id, at) => [id, at]));
    const batches = (await batchAnswer(deps, ids, sight)).toSorted(
      (a, b) => (order.get(a.batch) ?? 0) - (order.get(b.batch) ?? 0),
    );
    return jsonAnswer({ batches, next: ids.length < limit ? null : (ids.at(-1) ?? null) });
  },

  async getBatch(deps, { params: { batch }, sight }) {
    return jsonAnswer(await batchOr404(deps, batch, sight));
  },

  getResults: (deps, { params: { batch } }) => batchCsv(deps, batch, 'results.csv'),

  getFailed: (deps, { params: { batch } }) => batchCsv(deps, batch, 'failed.csv'),

  async approveBatch({ app }, { params: { batch }, body: { digest }, person, sight }) {
    const done = unlessRefused(await approveVerb.run(app, { batch, digest }, person));
    return jsonAnswer(approveJson(done, sight));
  },

  async rejectBatch({ app }, { params: { batch }, body, person }) {
    return jsonAnswer(cancelJson(unlessRefused(await rejectVerb.run(app, { batch, ...body }, person))));
  },

  async holdBatch({ app }, { params: { batch }, person }) {
    return jsonAnswer(holdJson(unlessRefused(await holdVerb.run(app, { batch }, person))));
  },

  async releaseBatch({ app }, { params: { batch }, person, sight }) {
    return jsonAnswer(releaseJson(unlessRefused(await releaseVerb.run(app, { batch }, person)), sight));
  },

  async cancelBatch({ app }, { params: { batch }, person }) {
    return jsonAnswer(cancelJson(unlessRefused(await cancelVerb.run(app, { batch }, person))));
  },
};

async function batchCsv({ app }: ApiDeps, batch: string, name: string): Promise<Answer> {
  if (!(await findBatch(app.ledger.db, batch))) throw declined({ kind: 'no_batch', batch });
  await app.reporting.writeBatchResults(batch);
  return writtenCsv(join(app.paths.reports, batch, name), `${batch}-${name}`);
}

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
