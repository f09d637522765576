import { basename } from 'node:path';
import { fastifyMultipart } from '@fastify/multipart';
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify';
import { counted } from '../../../../core/domain/counted.ts';
import { endingOf, readEnding, readNames } from '../../../../core/domain/file-formats.ts';
import { saveAsCsv } from '../../../../core/domain/save-as.ts';
import { harmlessName } from '../../../../intake/file-name.ts';
import { formParts } from '../../../admin/uploads.ts';
import { type Html, html } from '../../kit/html.ts';
import { Declined } from '../actions.ts';
import { callerName } from '../forms.ts';
import { dashboardBanner } from '../parts.ts';
import { demandForm } from '../post-routes.ts';
import type { Shared } from '../shared.ts';
import { type Drops, mostDrops } from './drops.ts';

/** At once, in one form. */
export const mostFiles = 20;

/** The form with which files arrive: each is kept and checked by itself. */
export function receiveRoute(
  scope: FastifyInstance,
  shared: Shared,
  { drops, closing }: { drops: Drops; closing: AbortSignal },
): void {
  const { deps, send } = shared;
  const { clock, config } = deps.desk.app;
  const { maxBytes } = config.intake;
  const logged = decisionLog(deps);

  scope.register(async (inner) => {
    inner.register(fastifyMultipart, {
      limits: { files: mostFiles, fields: 1, parts: mostFiles + 1, fieldSize: 1000, fileSize: maxBytes + 1 },
    });
    inner.post('/batches/new', { config: { right: 'drop', streams: true } }, (request, reply) =>
      receive(request, reply),
    );
  });

  /** Reads the rest of a body for a moment: a browser whose connection ends early shows no answer. */
  const readOn = ({ raw }: FastifyRequest): Promise<unknown> => {
    const ended = new Promise((resolve) => raw.once('end', resolve).once('close', resolve));
    return Promise.race([ended, clock.sleep(2000, closing)]);
  };

  /** Keeps each file of the form and checks it alone. */
  async function receive(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> {
    if (!request.isMultipart()) throw new Declined(422, 'Use the form of this page.');
    const by = callerName(request.caller);
    const ids: string[] = [];
    const faults: Html[] = [];
    // What is not read of a refused body must not reach the next request.
    reply.header('connection', 'close');
    try {
      await keepParts(request, by, { ids, faults });
    } catch (error) {
      request.raw.unpipe().resume();
      await readOn(request);
      throw error;
    }
    const [only, ...others] = ids;
    if (only === undefined && faults.length === 0) throw new Declined(422, 'Choose a file first.');
    if (faults.length === 0) {
      const to = only !== undefined && others.length === 0 ? `/files/checks/${only}` : '/files';
      return reply.redirect(to, 303);
    }
    const kept =
      ids.length > 0 &&
      html`<p>${counted(ids.length, 'other file')} arrived and ${ids.length === 1 ? 'is' : 'are'} checked.</p>`;
    const more = html`${faults}${kept}<p><a href="/batches/new">Drop files</a> · <a href="/files">Files that wait</a></p>`;
    const title = 'Not every file could be read';
    const main = dashboardBanner('warn', title, more);
    return send(request, reply, { title, main, renews: 'still' }, 422);
  }

  async function keepParts(
    request: FastifyRequest,
    by: string,
    { ids, faults }: { ids: string[]; faults: Html[] },
  ): Promise<void> {
    let isOurs = false;
    for await (const part of formParts(request)) {
      if (part.type === 'field') {
        demandForm(by, part.fieldname === 'form' ? String(part.value) : null, shared.forms);
        isOurs = true;
        continue;
      }
      // Before its bytes are read: the form says who made it in its first part.
      if (!isOurs) demandForm(by, null, shared.forms);
      const name = safeName(part.filename);
      if (name === null) {
        part.file.resume();
        // A form without a chosen file has one without a name.
        if (part.filename !== '')
          faults.push(
            html`<p>${harmlessName(part.filename)} is no ${readNames} file by its name: ${saveAsCsv}.</p>`,
          );
        continue;
      }
      if (await drops.isFull()) throw tooMany();
      ids.push(await drops.add(part.file, { name, by }));
      logged(by, 'drop', { file: name });
    }
  }
}

/** Writes what people decide about files into the log. */
export function decisionLog({ log }: Pick<Shared['deps'], 'log'>) {
  return (by: string, action: string, about: object): void =>
    log.info({ by, action, ...about }, 'decided on the dashboard');
}

export function tooMany(): Declined {
  return new Declined(409, `${mostDrops} files wait for a decision. Take in or discard some first.`);
}

/** A name of one path segment with the ending of a format, without invisible characters; null where it ends otherwise. */
export function safeName(given: string): string | null {
  const name = basename(given.replaceAll('\\', '/'));
  const stem = name.replace(readEnding, '');
  if (stem === name || !/[^.]/.test(stem)) return null;
  return `${harmlessName(stem).replace(/^\.+/, '').slice(0, 120)}${endingOf(name)}`;
}
