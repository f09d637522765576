import {
  type DiscrepancyDecision,
  stateAfter,
} from '../../../books/discrepancies/discrepancy-decisions.sql.ts';
import { openRejectedFiles, rejectedNamed } from '../../../core/ledger/rejected-files.ts';
import { acknowledgeVerb, noteObstacle, resolveVerb } from '../../../verbs/decide-discrepancies.ts';
import { decidedJson } from '../../json/order-json.ts';
import { orderer, stopFor } from '../context/person.ts';
import { type Result, Stop } from '../context/result.ts';
import { withApp } from '../context/with-app.ts';
import type { Context, Handler } from '../context/world.ts';
import { leftOpen } from '../kit/describe.ts';
import { readFilter } from './discrepancy-filter.ts';

/** `ack ID…`: records that somebody works on it. It stays listed, and reopens when something else is found. */
export const acknowledge: Handler = (context, ids, options) => speak(context, 'acknowledge', ids, options);

/** `resolve ID…`: records a person's decision that it is dealt with. It reopens when something else is found. */
export const resolve: Handler = (context, ids, options) => speak(context, 'resolve', ids, options);

/** Records a decision on the named discrepancies, or on all that match the filters. Exits 4 while any stays open. */
async function speak(
  context: Context,
  verdict: DiscrepancyDecision,
  names: readonly string[],
  options: Record<string, unknown>,
): Promise<Result> {
  const note = typeof options.note === 'string' ? options.note.trim() : '';
  const why = noteObstacle(verdict, note);
  if (why) throw stopFor({ why });
  return withApp(context, { level: 'local', use: 'writes' }, async (app) => {
    const filter = await readFilter(app, options);
    const hasFilter = Object.keys(filter).length > 0;
    if (names.length > 0 && hasFilter)
      throw new Stop('name ids or filters (--kind, --batch, --older-than), not both');
    if (names.length === 0 && !hasFilter)
      throw new Stop('name ids, or narrow with --kind, --batch or --older-than. Nothing was changed');
    // Files are acknowledged by their names; they are not resolved.
    const rejected = verdict === 'acknowledge' ? await openRejectedFiles(app.ledger.db) : [];
    const isFile = (name: string): boolean => rejectedNamed(rejected, name).length > 0;
    const ids = names.filter((name) => !isFile(name));
    const order = hasFilter ? { note, filter } : { note, ids };
    const done = await (verdict === 'resolve'
      ? resolveVerb.run(app, order, orderer(context))
      : acknowledgeVerb.run(app, { ...order, files: names.filter(isFile) }, orderer(context)));
    if (done.kind === 'refused') throw stopFor(done);
    const { changed, open, files } = done;
    const fields = decidedJson(done);
    const left = leftOpen(open);
    const word = stateAfter[verdict];
    const ended = files.map((file) => `${file.name} ${word}`);
    const rest = hasFilter || ids.length > 0 ? [`${changed} ${word}; ${left.text}`] : [];
    const next = left.code === 0 ? '' : 'counterfoil discrepancies';
    return {
      code: left.code,
      screen: { blocks: [[...ended, ...fields.already, ...rest]], end: { Next: next } },
      json: { shape: 'ack', fields },
    };
  });
}
