import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { type EventPage, newestCursor, readEvents } from '../../core/ledger/event-feed.ts';
import type { Lost } from '../../core/ledger/event-places.ts';
import type { Clock } from '../../core/runtime/clock.ts';
import type { Db } from '../../core/storage/ledger.ts';
import { type Answer, jsonAnswer, type Runs } from './endpoint.ts';
import { ApiProblem } from './problem.ts';
import type { watchOperations } from './watch-operations.ts';

/** Each stream holds a connection, and reads the ledger once a second. */
const mostStreams = 50;
const lookEveryMs = 1000;
const pageOfStream = 500;
/** A comment that keeps a quiet stream open through proxies. */
const stillEvery = 15;
/** A reader that takes nothing for so long is let go, and comes back at its cursor. */
const stallMs = 30_000;

export const eventEndpoints: Runs<Pick<typeof watchOperations, 'listEvents'>> = {
  async listEvents({ app, closing, streams }, { query: { after, limit }, request, reply }): Promise<Answer> {
    const { ledger, clock } = app;
    const source = { db: ledger.db, details: app.config.events.details };
    const isStream = (request.headers.accept ?? '').includes('text/event-stream');
    const last = request.headers['last-event-id'];
    const asked = typeof last === 'string' && last !== '' ? last : after;
    const from = asked === 'latest' ? await newestCursor(ledger.db) : (asked ?? null);
    const page = await pageAfter(source, from, isStream ? pageOfStream : limit);
    if (!isStream)
      return jsonAnswer({ events: page.events, next: page.next ?? (asked === 'latest' ? from : null) });
    if (streams.size >= mostStreams || closing.aborted) throw tooManyStreams();
    reply.hijack();
    void follow({ source, clock, closing, streams }, reply.raw, page);
    return { kind: 'own' };
  },
};

/** `details`: with bank details, as `events.details` says. */
type Source = { db: Db; details: boolean };
type Following = {
  source: Source;
  clock: Pick<Clock, 'sleep'>;
  closing: AbortSignal;
  streams: Set<ServerResponse>;
};

async function pageAfter({ db, details }: Source, after: string | null, limit: number): Promise<EventPage> {
  const read = await readEvents(db, { after, limit, details });
  if (read.kind === 'page') return read;
  throw new ApiProblem(...gone[read.why]);
}

/** Writes events until the reader leaves or the server closes. */
async function follow(
  { source, clock, closing, streams }: Following,
  raw: ServerResponse,
  first: EventPage,
): Promise<void> {
  streams.add(raw);
  const left = new AbortController();
  raw.once('close', () => left.abort());
  raw.on('error', () => raw.destroy());
  const over = AbortSignal.any([closing, left.signal]);
  try {
    raw.writeHead(200, {
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-store',
      'x-content-type-options': 'nosniff',
    });
    raw.write('retry: 2000\n\n');
    let page = first;
    for (let turn = 1; !over.aborted; turn++) {
      for (const one of page.events)
        raw.write(`id: ${one.cursor}\nevent: ${one.type}\ndata: ${JSON.stringify(one)}\n\n`);
      if (raw.writableNeedDrain)
        await once(raw, 'drain', { signal: AbortSignal.any([over, AbortSignal.timeout(stallMs)]) });
      if (page.next === null) await clock.sleep(lookEveryMs, over);
      if (turn % stillEvery === 0) raw.write(': still here\n\n');
      if (!over.aborted) page = await pageAfter(source, page.reached, pageOfStream);
    }
    raw.end();
  } catch {
    // The reader comes back, and hears as a problem what is wrong.
    raw.destroy();
  } finally {
    streams.delete(raw);
  }
}

const fromNow = 'begin at ?after=latest, and read lists once for what you missed';
const gone: Record<Lost, ConstructorParameters<typeof ApiProblem>> = {
  archived: [
    410,
    { kind: 'events_archived', problem: 'what follows this cursor is in an archive', fix: fromNow },
  ],
  went_back: [
    410,
    {
      kind: 'events_forked',
      problem: 'the ledger went back in time since this cursor was given',
      fix: fromNow,
    },
  ],
  unreadable: [
    422,
    { kind: 'cursor', problem: 'after is no cursor of events', fix: 'repeat one as it was given' },
  ],
};

function tooManyStreams(): ApiProblem {
  return new ApiProblem(503, {
    kind: 'streams',
    problem: 'too many streams of events are open, or the server is closing',
    fix: 'come back in a moment, or read pages',
    retryAfterSeconds: 10,
  });
}
