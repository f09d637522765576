import type { App } from '../../../app/app.ts';
import { countOpen, type DiscrepancyFilter } from '../../../books/discrepancies/discrepancies.sql.ts';
import {
  type DiscrepancyDecision,
  decide,
  findByIds,
  openTo,
} from '../../../books/discrepancies/discrepancy-decisions.sql.ts';
import {
  acknowledgeRejected,
  openRejectedFiles,
  type RejectedFile,
  rejectedNamed,
} from '../../../core/ledger/rejected-files.ts';
import { rejectedJson } from '../../../words/rejected-words.ts';
import { finished, leftOpen } from '../describe.ts';
import { person } from '../person.ts';
import { type Result, Stop } from '../result.ts';
import { withApp } from '../with-app.ts';
import type { Context, Handler } from '../world.ts';
import { readFilter } from './discrepancy-filter.ts';

const longestNote = 2_000;
const done: Record<DiscrepancyDecision, string> = { acknowledge: 'acknowledged', resolve: 'resolved' };

/** `ack ID…`: records that somebody works on it. It stays listed, and reopens when something else is found. */
export const acknowledge: Handler = (context, ids, options) => speak(context, 'acknowledge', ids, options);

/** `resolve ID…`: records a person's decision that it is dealt with. It reopens when something else is found. */
export const resolve: Handler = async (context, ids, options) => {
  if (typeof options.note !== 'string' || options.note.trim() === '')
    throw new Stop(
      '--note: say what was done about it, for example --note "returned by the bank, statement of 3 May, line 12"',
    );
  return speak(context, 'resolve', ids, options);
};

/** Records a decision on the named discrepancies, or on all that match the filters. Exits 4 while any stays open. */
async function speak(
  context: Context,
  verdict: DiscrepancyDecision,
  ids: readonly string[],
  options: Record<string, unknown>,
): Promise<Result> {
  const note = typeof options.note === 'string' ? options.note.trim() : '';
  if (note.length > longestNote) throw new Stop(`--note: at most ${longestNote} characters`);
  return withApp(context, { level: 'local', use: 'writes' }, async (app) => {
    const filter = await readFilter(app, options);
    const word = { verdict, note, person: person(), at: app.clock.iso() };
    if (ids.length > 0 && Object.keys(filter).length > 0)
      throw new Stop('name ids or filters (--kind, --batch, --older-than), not both');
    const { db } = app.ledger;
    // Files are acknowledged by their names; they are not resolved.
    const rejected = verdict === 'acknowledge' ? await openRejectedFiles(db) : [];
    const files = new Set(ids.flatMap((id) => rejectedNamed(rejected, id)));
    const others = ids.filter((id) => rejectedNamed(rejected, id).length === 0);
    const [changed, already] =
      ids.length > 0
        ? await onNamed(app, others, word, [...files])
        : [await onFiltered(app, filter, word), [] as string[]];
    const open = await countOpen(db);
    const left = leftOpen(open);
    const ended = [...files].map((file) => `${file.name} ${done[verdict]}`);
    const rest = ids.length > 0 && others.length === 0 ? [] : [`${changed} ${done[verdict]}; ${left.text}`];
    const json = { verdict, changed, already, open, files: [...files].map(rejectedJson) };
    const next = left.code === 0 ? '' : 'counterfoil discrepancies';
    return { code: left.code, lines: finished(context, [...ended, ...already, ...rest], next), json };
  });
}

type Spoken = Parameters<typeof decide>[2];

/** Decides the named discrepancies. An unknown id is a typing error and stops everything. One already closed to this decision is reported. */
async function onNamed(
  app: App<'local'>,
  given: readonly string[],
  word: Spoken,
  files: readonly RejectedFile[],
): Promise<[number, string[]]> {
  const { mode } = app.config;
  const ids = [...new Set(given)];
  return app.ledger.write(async (trx) => {
    const known = new Map((await findByIds(trx, ids)).map((one) => [one.id, one]));
    const wrong = ids.filter((id) => !known.has(id));
    if (wrong.length > 0) {
      const more = wrong.length > 5 ? ` and ${wrong.length - 5} more` : '';
      throw new Stop(
        `no ${word.verdict === 'acknowledge' ? 'refused file and no ' : ''}discrepancy "${wrong.slice(0, 5).join('", "')}"${more} in this ledger (mode ${mode}): counterfoil discrepancies lists them. Nothing was changed`,
      );
    }
    const already = [...known.values()].flatMap(({ id, state, resolved_by, note }) => {
      if (openTo[word.verdict].includes(state)) return [];
      const by = state === 'resolved' ? ` by ${resolved_by === 'person' ? 'a person' : 'evidence'}` : '';
      return [`${id} is ${state}${by} already${note === '' ? '' : `: ${note}`}`];
    });
    const { at, person: by, note } = word;
    await acknowledgeRejected(
      trx,
      files.map(({ id }) => id),
      { at, by, note },
    );
    return [ids.length === 0 ? 0 : await decide(trx, { ids }, word), already];
  });
}

/** Decides all that match the filters, without a question: no money moves, and every note says who decided. */
async function onFiltered(app: App<'local'>, filter: DiscrepancyFilter, word: Spoken): Promise<number> {
  if (Object.keys(filter).length === 0)
    throw new Stop('name ids, or narrow with --kind, --batch or --older-than. Nothing was changed');
  return app.ledger.write((trx) => decide(trx, filter, word));
}
