import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { basename, dirname, resolve } from 'node:path';
import { parse } from 'csv-parse';
import { stringify } from 'csv-stringify/sync';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { readEnding, readNames } from '../../../../core/domain/file-formats.ts';
import { problemSentence } from '../../../../core/domain/problem.ts';
import { saveAsCsv } from '../../../../core/domain/save-as.ts';
import { loadingBatches } from '../../../../core/ledger/batches.ts';
import { mendedLately } from '../../../../core/ledger/mends.ts';
import { openRejectedFiles, type RejectedFile } from '../../../../core/ledger/rejected-files.ts';
import { hostNamed } from '../../../../core/runtime/jobs.sql.ts';
import { dropperOf, othersMayWrite, ownCopy } from '../../../../intake/dropper.ts';
import { sheetEndings } from '../../../../intake/file-name.ts';
import { isPlainFile } from '../../../../intake/moves.ts';
import { asksSecondPerson } from '../../../../sending/approval.ts';
import { acknowledgeVerb } from '../../../../verbs/decide-discrepancies.ts';
import type { RouteDeps } from '../../../admin/admin-server.ts';
import { html } from '../../kit/html.ts';
import { Declined } from '../actions.ts';
import { seesBank } from '../frame.ts';
import { dashboardBanner, to } from '../parts.ts';
import { orderIn } from '../post-routes.ts';
import { showsEverybody } from '../query.ts';
import type { Shared } from '../shared.ts';
import { dropScript } from './drop-script.ts';
import { dropView, problemCells, seesDrop } from './drop-view.ts';
import type { Drop } from './drops.ts';
import { type FileProblem, filesView, newFilesView } from './files-view.ts';
import { decisionLog, mostFiles, receiveRoute, safeName, tooMany } from './receive-files.ts';

type Params = { Params: { name: string } };

const sweepEveryMs = 3_600_000;
/** Of so many refused files the page shows so many problems each. */
const mostSheets = 20;
const mostProblems = 20;
const mostMended = 20;
const drop = { config: { right: 'drop' as const } };

/** Dropping files, their check, mending them, and taking them in; and what became of the files of the inbox. */
export function fileRoutes(scope: FastifyInstance, shared: Shared, admin: RouteDeps): void {
  const { deps, send, viewFor, looks, actions, drops } = shared;
  const { app } = deps.desk;
  const { config, paths } = app;
  const { db } = app.ledger;
  const { maxBytes } = config.intake;

  const onFailed = (err: unknown): void => deps.log.warn({ err }, 'old dropped files could not be removed');
  const sweeping = setInterval(() => void drops.sweep(false).catch(onFailed), sweepEveryMs).unref();
  admin.closing.addEventListener('abort', () => clearInterval(sweeping));
  scope.addHook('onReady', () => drops.sweep(true));

  const logged = decisionLog(deps);
  const pathOf = (id: string): string => `/files/checks/${id}`;
  /** The file of the path, for somebody who may see what is in it. */
  const seen = async (request: FastifyRequest<Params>): Promise<Drop> => {
    const found = await drops.find(request.params.name);
    if (!found) throw gone();
    if (!seesDrop(request, found)) admin.requireRight(request, 'read');
    return found;
  };

  scope.get('/files', async (request, reply) => {
    const rejected = await openRejectedFiles(db);
    const look = {
      ...(await drops.list()),
      lying: await app.lying(),
      loading: (await loadingBatches(db)).map(({ id }) => id),
      rejected,
      mended: await mendedLately(db, mostMended),
      elsewhere: await elsewhereOf(rejected),
    };
    const view = await viewFor(request);
    const problems = seesBank(view) ? await problemsOf(look.rejected) : new Map();
    const main = filesView({ ...look, problems }, view);
    return send(request, reply, { title: 'Files', place: '/files', main, renews: 'live' });
  });

  scope.get('/batches/new', async (request, reply) => {
    const main = newFilesView({ maxBytes, mostFiles }, await viewFor(request));
    return send(request, reply, {
      title: 'Drop files',
      place: '/files',
      main,
      renews: 'still',
      script: dropScript,
    });
  });

  receiveRoute(scope, shared, { drops, closing: admin.closing });

  scope.get<Params & { Querystring: { page?: string } }>('/files/checks/:name', async (request, reply) => {
    shared.requireToken(request);
    const found = await drops.find(request.params.name);
    if (!found) throw gone();
    if (found.mendedAs) return reply.redirect(pathOf(found.mendedAs.id), 303);
    const page = Math.min(1000, Math.max(1, Number.parseInt(request.query.page ?? '', 10) || 1));
    const about = {
      found: await drops.checkOf(found),
      batch: await drops.batchOf(found.checked?.content),
      until: drops.until(found),
      page,
      everybody: showsEverybody(request),
    };
    const main = dropView(found, about, await viewFor(request));
    return send(request, reply, { title: found.name, place: '/files', main, renews: 'still' });
  });

  scope.get<Params>('/files/checks/:name/errors.csv', async (request, reply) => {
    const found = await seen(request);
    const check = await drops.checkOf(found);
    if (!check) throw gone();
    const text = stringify(problemCells(check), { record_delimiter: 'windows', bom: config.reports.bom });
    return csv(reply, found.name.replace(readEnding, sheetEndings.errors)).send(text);
  });

  scope.post<Params>(
    '/files/checks/:name/mend',
    { ...drop, bodyLimit: 1_048_576 },
    async (request, reply) => {
      const { by, fields } = orderIn(request, shared);
      const { id, name } = await seen(request);
      const changes = new Map(
        [...fields].flatMap(([key, text]) =>
          key.startsWith('cell-') ? [[key.slice(5), text] as const] : [],
        ),
      );
      const done = await drops.mend(id, changes, by);
      if (done.kind === 'gone') throw gone();
      if (done.kind === 'differs')
        throw new Declined(
          409,
          'Its cells were changed meanwhile. Nothing was changed: look at the file again.',
        );
      if (done.kind === 'mended') logged(by, 'mend', { file: name });
      return reply.redirect(pathOf(done.kind === 'mended' ? done.id : id), 303);
    },
  );

  scope.post<Params>('/files/checks/:name/discard', drop, async (request, reply) => {
    const { by } = orderIn(request, shared);
    const { id, name } = await seen(request);
    await drops.remove(id);
    logged(by, 'discard', { file: name });
    return reply.redirect('/files', 303);
  });

  scope.post<Params>('/files/checks/:name/take', drop, async (request, reply) => {
    const { by, fields } = orderIn(request, shared);
    const { name: id } = request.params;
    const found = await drops.find(id);
    if (found) await seen(request);
    const order = { sha256: fields.get('digest') ?? '', payOn: fields.get('pay_on') ?? '' };
    const took = found && (await drops.take(id, order, by).finally(looks.forget));
    if (took?.kind === 'taken') logged(by, 'take in', { batch: took.batch, file: found?.name });
    // A second click finds the batch of the first one.
    const batch =
      took?.kind === 'taken' ? took.batch : took ? null : await drops.batchOf(fields.get('content'));
    if (batch !== null) return reply.redirect(`/batches/${encodeURIComponent(batch)}`, 303);
    if (!took && !found) throw gone();
    if (took?.kind !== 'refused')
      throw new Declined(409, 'It was mended meanwhile. Nothing was taken in: look at the mended file.');
    const lines = took.problems.slice(0, 5).map((one) => html`<p>${problemSentence(one)}</p>`);
    const why =
      took.batch === undefined
        ? html`${lines}<p><a href="${pathOf(id)}">See all problems</a></p>`
        : html`<p>Its content was taken in as ${to(['batches', took.batch], took.batch)}, and is not taken in twice.</p>`;
    const main = dashboardBanner('warn', 'Nothing was taken in', why);
    return send(request, reply, { title: 'Nothing was taken in', main, renews: 'still' }, 409);
  });

  const rejectedOf = async (id: string): Promise<RejectedFile> => {
    const found = (await openRejectedFiles(db)).find((one) => one.id.toString() === id);
    if (!found) throw new Declined(404, 'There is no such refused file.');
    return found;
  };
  /** A file of the folder of refused files; the ledger of several machines names files of the others too. */
  const isKept = async (path: string): Promise<boolean> =>
    dirname(path) === resolve(paths.rejected) && (await isPlainFile(path));
  const kept = async (path: string | null): Promise<string> => {
    if (path !== null && (await isKept(path))) return path;
    throw new Declined(
      404,
      'The folder of refused files on this machine does not have it: it was moved, or another machine refused it.',
    );
  };

  /** Where the files lie that this folder does not have, by the names of their hosts; empty for one that nobody knows. */
  async function elsewhereOf(rejected: readonly RejectedFile[]): Promise<Map<bigint, string>> {
    const found = new Map<bigint, string>();
    for (const { id, place, machine } of rejected)
      if (!(await isKept(place))) found.set(id, machine === app.host.id ? '' : await hostNamed(db, machine));
    return found;
  }

  /** The first problems of the newest refused files; of one that is gone from the folder none. */
  async function problemsOf(rejected: readonly RejectedFile[]): Promise<Map<bigint, FileProblem[]>> {
    const found = new Map<bigint, FileProblem[]>();
    for (const { id, errors_file: file } of rejected.slice(-mostSheets))
      if (file !== null && (await isKept(file))) found.set(id, await firstProblems(file));
    return found;
  }

  scope.get<Params>(
    '/files/rejected/:name/errors.csv',
    { config: { right: 'read' } },
    async (request, reply) => {
      const path = await kept((await rejectedOf(request.params.name)).errors_file);
      return csv(reply, basename(path)).send(createReadStream(path));
    },
  );

  scope.post<Params>('/files/rejected/:name/mend', drop, async (request, reply) => {
    const { by } = orderIn(request, shared);
    // The person sees what is in the file, and did not drop it here.
    admin.requireRight(request, 'read');
    const file = await rejectedOf(request.params.name);
    const path = await kept(file.place);
    const name = safeName(file.kind === 'refused' ? file.name : basename(path));
    if (name === null) throw new Declined(422, `It is no ${readNames} file by its name: ${saveAsCsv}.`);
    if (await drops.isFull()) throw tooMany();
    const stats = await stat(path);
    // Others may still be at it, and would count as somebody else than who mended it.
    if (asksSecondPerson(config.submission) && othersMayWrite(stats))
      throw new Declined(409, `Others than its owner may write this file: ${ownCopy}.`);
    const owner = await dropperOf(stats, { origin: 'inbox' });
    const preparers = owner ? [{ name: owner.name, uid: owner.uid, did: 'dropped' as const }] : [];
    return reply.redirect(pathOf(await drops.copy(path, { name, by }, preparers)), 303);
  });

  scope.post<Params>(
    '/files/rejected/:name/end',
    { config: { right: acknowledgeVerb.can } },
    async (request, reply) => {
      const { by, fields } = orderIn(request, shared);
      const { place } = await rejectedOf(request.params.name);
      const note = fields.get('note')?.trim() ?? '';
      if (note === '') throw new Declined(422, 'Write a note that says why it can be ended.');
      const logged = () => ({ action: 'end a refused file', file: basename(place) });
      await actions
        .order(acknowledgeVerb, { by, input: { files: [place], note }, logged })
        .finally(looks.forget);
      return reply.redirect('/files', 303);
    },
  );
}

/** Reads no more of a sheet than the page shows. */
async function firstProblems(path: string): Promise<FileProblem[]> {
  const sheet = createReadStream(path).on('error', (error) => rows.destroy(error));
  const rows = sheet.pipe(parse({ bom: true, from: 2, to: mostProblems + 1, relax_column_count: true }));
  const found: FileProblem[] = [];
  try {
    for await (const [row = '', column = '', value = '', problem = '', fix = ''] of rows)
      found.push([row, column, value, problem, fix]);
  } finally {
    sheet.destroy();
  }
  return found;
}

function gone(): Declined {
  return new Declined(
    404,
    'This file is not here: it was taken in or discarded, nobody decided for a day, or it was dropped on another machine.',
  );
}

/** A file to save, whatever a browser makes of its bytes. */
function csv(reply: FastifyReply, name: string): FastifyReply {
  return reply.type('text/csv; charset=utf-8').headers({
    'content-disposition': `attachment; filename*=UTF-8''${encodeURIComponent(name)}`,
  });
}
