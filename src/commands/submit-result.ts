import { basename } from 'node:path';
import type * as submitJob from '../../jobs/submit.ts';
import type { LocalApp } from '../app.ts';
import { visible } from '../domain/hidden.ts';
import { progressText } from '../domain/progress.ts';
import { type Attention, findAttention } from '../ledger/attention.ts';
import { type BatchCounts, batchCounts, readReasons } from '../ledger/batches.ts';
import { findHalt } from '../ledger/halts.ts';
import type { Context } from './context.ts';
import { countsText, haltText, problemLines, totalsText, unknownLines, withheldLines } from './describe.ts';
import { type Result, worst } from './result.ts';
import { needsPerson, waitingJson, waitingText } from './waiting.ts';

export type Taken = Awaited<ReturnType<LocalApp['intake']['takeIn']>>;
/** What came of sending; `uncleared`: the service did not answer the question that comes before the first payout. */
export type Sent =
  | Pick<Awaited<ReturnType<typeof submitJob.run>>, 'ended' | 'detail'>
  | { ended: 'not_started' | 'uncleared'; detail: string };

/** A page of warnings hides what matters below it. */
const shownWarnings = 20;

/** Files of expected collections. */
export type Expected = Awaited<ReturnType<LocalApp['intake']['takeCollections']>>['taken'][number];

type Done = { taken: Taken[]; expected: Expected[]; sent: Sent; only: string[] | undefined };

/** What `submit` did, where its batches stand now, and who must do what next. */
export async function describeSubmit(
  context: Context,
  app: LocalApp,
  { taken, expected, sent, only }: Done,
): Promise<Result> {
  const { mode } = app.config;
  const fresh = new Map(taken.flatMap((t) => (t.kind === 'taken' ? [[t.batch, t] as const] : [])));
  const all = await batchCounts(app.ledger.db, mode, only);
  const shown = all.filter(
    ({ batch, state }) => only || fresh.has(batch.id) || !['done', 'cancelled'].includes(state),
  );
  const needed = await findAttention(app.ledger.db, mode, only);
  const halted = await findHalt(app.ledger.db, mode);
  const lines = shown.flatMap((one) => batchLines(one, fresh.get(one.batch.id)));
  lines.push(...expected.flatMap(expectedLines));
  if (shown.length === 0 && taken.length === 0 && expected.length === 0)
    lines.push(`nothing to do: no whole file in ${app.paths.inbox}, nothing ready to send`);
  const waits = await app.brakes.waits(only && { batches: only });
  lines.push(...waits.map((one) => waitingText(one, app.config.submission.timezone)));
  lines.push(...attentionLines(needed));
  const waiting = shown.reduce((sum, { counts }) => sum + (counts.ready ?? 0), 0);
  const halt = halted ? [`sending is halted ${haltText(halted)} (${waiting} payouts wait)`] : [];
  const refused = [...taken, ...expected].filter((one) => one.kind === 'refused');
  if (!context.options.json) for (const line of refusedLines(refused)) context.say(line);
  // Quiet is for what went well; that nothing is sent did not.
  if (context.options.quiet) for (const line of halt) context.say(line);
  const person =
    shown.some(({ state }) => state === 'held') ||
    needed.unknown.count > 0 ||
    Boolean(halted) ||
    waits.some(needsPerson);
  const failed = ['unreachable', 'stuck', 'uncleared'].includes(sent.ended);
  const skipped = [...taken, ...expected].some(
    (t) => t.kind === 'refused' || (t.kind === 'taken' && t.skipped !== null),
  );
  const stopped = failed ? whyStopped(sent) : context.signal.aborted && waiting > 0 ? 'interrupted' : null;
  return {
    code: worst(failed ? 1 : 0, skipped ? 3 : 0, person ? 4 : 0),
    ...(stopped !== null && { problem: `${stopped}. ${whatWaits(taken, shown, waiting)}` }),
    lines: context.options.quiet ? [] : [...lines, ...halt],
    json: {
      batches: shown.map(({ batch, state, counts, totals }) => ({
        batch: batch.id,
        file: batch.file_name,
        rows: Number(batch.row_count),
        totals,
        state,
        payouts: counts,
        ...(fresh.has(batch.id) && { delimiter: fresh.get(batch.id)?.delimiter }),
        warnings: fresh.get(batch.id)?.warnings ?? [],
      })),
      refused: refused.map((t) => ({
        file: t.file,
        problems: t.problems,
        errors_file: t.errorsFile,
        batch: t.batch ?? null,
      })),
      ...(expected.length > 0 && { collections: expected.flatMap(expectedJson) }),
      halted: halted ? { cause: halted.cause, at: halted.at } : null,
      unknown: needed.unknown.first.map(({ reference }) => reference),
      withheld: needed.withheld.first,
      waits: waits.map(waitingJson),
      ...(stopped !== null && { error: stopped }),
    },
  };
}

function batchLines(
  { batch, state, counts, totals }: BatchCounts,
  taken: { warnings: string[]; delimiter: string } | undefined,
): string[] {
  const { warnings, delimiter } = taken ?? { warnings: [], delimiter: 'comma' };
  const columns = delimiter === 'comma' ? '' : `; separated by ${delimiter}`;
  const reasons = state === 'held' ? readReasons(batch.hold_reasons) : [];
  return [
    `${batch.id}: ${state}, ${countsText(counts)}; ${totalsText(totals)}${columns}`,
    ...warnings.slice(0, shownWarnings).map((warning) => `  warning: ${warning}`),
    ...(warnings.length > shownWarnings
      ? ['  warning: and more: counterfoil submit --json, or check FILE, names them']
      : []),
    ...reasons.map((reason) => `  held: ${reason}`),
  ];
}

function expectedLines(one: Expected): string[] {
  if (one.kind === 'refused') return [];
  const left = one.skipped ? `; ${one.skipped.problemCount} problem(s), see ${one.skipped.errorsFile}` : '';
  return [`${one.id}: ${one.rows} collections expected, ${totalsText(one.totals)}${left}`];
}

function expectedJson(one: Expected): Record<string, unknown>[] {
  if (one.kind === 'refused') return [];
  const { id, file, rows, totals, skipped } = one;
  return [{ id, file, rows, totals, skipped: skipped?.problemCount ?? 0 }];
}

function whyStopped({ ended, detail }: Sent): string {
  return ended === 'unreachable' ? `${detail}: check the network and service.base_url` : detail;
}

/** What keeps payouts from being sent or known, each with what to do. */
export function attentionLines({ unknown, withheld }: Attention): string[] {
  const first = withheld.first.map(({ reference, message }) => ({ reference, why: message }));
  return [...withheldLines(withheld.count, first), ...unknownLines(unknown)];
}

/**
 * What is recorded and how to go on after sending stopped. Without it people give the file again, are refused, and may
 * think that new references help.
 */
function whatWaits(taken: Taken[], shown: BatchCounts[], waiting: number): string {
  const countsOf = new Map(shown.map(({ batch, counts }) => [batch.id, counts]));
  const recorded = taken.flatMap((t) =>
    t.kind === 'taken'
      ? [`${basename(t.file)} is recorded as batch ${t.batch}: ${progressText(countsOf.get(t.batch) ?? {})}`]
      : [],
  );
  if (recorded.length === 0) return `${waiting} payouts wait. Go on with: counterfoil submit`;
  const rest = recorded.length > 5 ? [`and ${recorded.length - 5} files more`] : [];
  return `${[...recorded.slice(0, 5), ...rest].join('; ')}. Go on with: counterfoil submit (without the file, which is taken only once)`;
}

/** Why files were refused, for stderr. */
export function refusedLines(taken: Taken[]): string[] {
  return taken.flatMap((t) => {
    if (t.kind !== 'refused') return [];
    const why =
      t.batch === undefined
        ? `${t.problemCount} problem(s); nothing of it was recorded or sent`
        : 'it is recorded already; nothing was recorded twice or sent';
    return [
      `refused  ${visible(t.file)}: ${why}`,
      ...problemLines(t.problems, t.problemCount),
      ...(t.errorsFile && t.batch === undefined ? [`  every problem: ${t.errorsFile}`] : []),
    ];
  });
}
