import { basename } from 'node:path';
import type * as submitJob from '../../jobs/submit.ts';
import type { App } from '../app/app.ts';
import { visible } from '../domain/hidden.ts';
import { givenBackText, leftOutJson, leftOutText } from '../domain/left-out.ts';
import type { Mode } from '../domain/payout.ts';
import { progressText } from '../domain/progress.ts';
import { type BatchCounts, batchCounts } from '../ledger/batches.ts';
import { readReasons } from '../ledger/hold-reasons.ts';
import { submitCommand } from '../reporting/advice-text.ts';
import { payoutOverview } from '../reporting/overview.sql.ts';
import { type Attention, findAttention } from '../sending/attention.sql.ts';
import { findHalt } from '../sending/halts.sql.ts';
import { holdTexts } from '../sending/hold-words.ts';
import {
  collectionLines,
  countsText,
  haltText,
  problemLines,
  standText,
  totalsText,
  unknownLines,
  withheldLines,
} from './describe.ts';
import { type Result, worst } from './result.ts';
import { needsPerson, waitingJson, waitingText } from './waiting.ts';
import type { Context } from './world.ts';

export type Taken = Awaited<ReturnType<App<'local'>['intake']['takeIn']>>;
/** The result of sending; `uncleared`: the service did not answer the list request before the first payout. */
export type Sent =
  | Pick<Awaited<ReturnType<typeof submitJob.run>>, 'ended' | 'detail'>
  | { ended: 'not_started' | 'uncleared'; detail: string };

/** More warnings would hide what matters below them. */
const shownWarnings = 20;

/** Files of expected collections. */
type GivenBack = ReturnType<App<'local'>['intake']['givenBack']>[number];
export type Expected = Awaited<ReturnType<App<'local'>['intake']['takeCollections']>>['taken'][number];

/** `unwritten`: why the result files could not be written, though the recorded payouts were sent. */
type Done = {
  taken: Taken[];
  expected: Expected[];
  /** Rows that a dead process left out, returned now. */
  givenBack: GivenBack[];
  sent: Sent;
  /** The batches of which this run sent a payout. */
  sentFrom: ReadonlySet<string>;
  only: string[] | undefined;
  unwritten?: string | undefined;
};

type Refused = Extract<Taken, { kind: 'refused' }>;
type TakenBatch = Extract<Taken, { kind: 'taken' }>;
type Standing = Awaited<ReturnType<typeof standing>>;

/** What `submit` did, where its batches stand now, and who must do what next. */
export async function describeSubmit(context: Context, app: App<'local'>, done: Done): Promise<Result> {
  const { taken, expected, givenBack, sent, unwritten } = done;
  const { mode } = app.config;
  const now = await standing(app, done);
  const { shown, halted } = now;
  const waiting = readyIn(shown);
  const refused = [...taken, ...expected].filter((one) => one.kind === 'refused');
  if (!context.options.json)
    for (const line of [...refusedLines(refused), ...givenBackLines(givenBack)]) context.say(line);
  const failed = ['unreachable', 'stuck', 'uncleared'].includes(sent.ended);
  const stopped = failed ? whyStopped(sent) : context.signal.aborted && waiting > 0 ? 'interrupted' : null;
  const problems = [
    ...(stopped === null ? [] : [`${stopped}. ${whatWaits(taken, shown, waiting, mode)}`]),
    ...(unwritten === undefined ? [] : [unwritten]),
  ];
  const rowsLeft =
    givenBack.length > 0 || [...taken, ...expected].some((t) => t.kind === 'taken' && t.skipped !== null);
  const person =
    shown.some(({ state }) => state === 'held') ||
    now.needed.unknown.count > 0 ||
    Boolean(halted) ||
    now.waits.some(needsPerson);
  // --quiet hides only success: everything behind a non-zero exit code is printed.
  if (context.options.quiet) for (const line of troubleLines(app, done, now)) context.say(line);
  const error = stopped ?? unwritten;
  return {
    code: worst(
      failed || unwritten !== undefined || refused.some(({ unkept }) => unkept !== undefined) ? 1 : 0,
      refused.length > 0 || rowsLeft ? 3 : 0,
      person ? 4 : 0,
    ),
    ...(problems.length > 0 && { problem: problems.join('. ') }),
    lines: context.options.quiet ? [] : allLines(app, done, now),
    json: {
      ...standingJson(now, done),
      ...refusedJson(refused, expected),
      ...givenBackJson(givenBack),
      ...(error !== undefined && { error }),
    },
  };
}

function standingJson(
  { shown, fresh, halted, needed, waits }: Standing,
  { only, sentFrom }: Done,
): Record<string, unknown> {
  const ofThisRun = shown.filter(({ batch }) => only || fresh.has(batch.id) || sentFrom.has(batch.id));
  return {
    batches: ofThisRun.map((one) => batchJson(one, fresh.get(one.batch.id))),
    halted: halted ? { cause: halted.cause, at: halted.at } : null,
    unknown: needed.unknown.first.map(({ reference }) => reference),
    withheld: needed.withheld.first,
    waits: waits.map(waitingJson),
  };
}

function refusedJson(refused: Refused[], expected: Expected[]): Record<string, unknown> {
  return {
    refused: refused.map((t) => ({
      file: t.file,
      problem_count: t.problemCount,
      problems: t.problems,
      errors_file: t.errorsFile,
      ...(t.unkept !== undefined && { error: t.unkept }),
      batch: t.batch ?? null,
    })),
    ...(expected.length > 0 && { collections: expected.flatMap(expectedJson) }),
  };
}

function givenBackLines(back: GivenBack[]): string[] {
  return back.map((one) => `left out ${one.owner}: ${givenBackText(one)}`);
}

function givenBackJson(back: GivenBack[]): Record<string, unknown> {
  if (back.length === 0) return {};
  const shown = back.map(({ owner, errorsFile, invalidFile }) => ({
    owner,
    errors_file: errorsFile,
    invalid_file: invalidFile,
  }));
  return { given_back: shown };
}

/** Reads the batches of this run, and what stops payouts, from the ledger. */
async function standing(app: App<'local'>, { taken, sentFrom, only }: Done) {
  const fresh = new Map(taken.flatMap((t) => (t.kind === 'taken' ? [[t.batch, t] as const] : [])));
  const all = await batchCounts(app.ledger.db, only);
  const shown = all.filter(
    ({ batch, state }) =>
      only || fresh.has(batch.id) || sentFrom.has(batch.id) || !['done', 'cancelled'].includes(state),
  );
  const needed = await findAttention(app.ledger.db, only);
  const halted = await findHalt(app.ledger.db);
  const waits = await app.brakes.waits(only && { batches: only });
  // A halt stops every batch, not only those that this command was given.
  const stands = !halted
    ? 0
    : only
      ? ((await payoutOverview(app.ledger.db)).payouts.ready ?? 0)
      : readyIn(shown);
  return { fresh, shown, needed, halted, waits, stands };
}

function readyIn(batches: BatchCounts[]): number {
  return batches.reduce((sum, { counts }) => sum + (counts.ready ?? 0), 0);
}

function allLines(app: App<'local'>, { taken, expected }: Done, now: Standing): string[] {
  const { shown, fresh, waits, needed } = now;
  const lines = [
    ...shown.flatMap((one) => batchLines(one, fresh.get(one.batch.id))),
    ...expected.flatMap(expectedLines),
  ];
  if (shown.length === 0 && taken.length === 0 && expected.length === 0)
    lines.push(`nothing to do: no whole file in ${app.paths.inbox}, nothing ready to send`);
  lines.push(...waits.map((one) => waitingText(one, app.config)));
  return [...lines, ...attentionLines(needed), ...haltLines(now)];
}

/** Only what was left out or is stopped, and what to do; empty when the exit code is 0. */
function troubleLines(app: App<'local'>, { expected }: Done, now: Standing): string[] {
  const { shown, fresh, waits, needed } = now;
  return [
    ...shown.flatMap((one) => {
      const left = leftOutLines(fresh.get(one.batch.id));
      return one.state === 'held' || left.length > 0 ? [batchLine(one), ...left, ...heldLines(one)] : [];
    }),
    ...expected.filter((one) => one.kind === 'taken' && one.skipped !== null).flatMap(expectedLines),
    ...waits.filter(needsPerson).map((one) => waitingText(one, app.config)),
    ...attentionLines(needed),
    ...haltLines(now),
  ];
}

function haltLines({ halted, stands }: Standing): string[] {
  if (!halted) return [];
  return [`sending is halted ${haltText(halted)} (${standText(stands)})`];
}

function batchLine({ batch, state, counts, totals }: BatchCounts): string {
  return `${batch.id}: ${state}, ${countsText(counts)}; ${totalsText(totals)}`;
}

function heldLines({ batch, state }: BatchCounts): string[] {
  return heldBecause(batch, state).map((reason) => `  held: ${reason}`);
}

function heldBecause(batch: BatchCounts['batch'], state: BatchCounts['state']): string[] {
  return state === 'held' ? holdTexts(readReasons(batch.hold_reasons), batch.id) : [];
}

function leftOutLines(taken: TakenBatch | undefined): string[] {
  return taken?.skipped ? [`  ${leftOutText(taken.skipped)}`] : [];
}

function batchLines(one: BatchCounts, taken: TakenBatch | undefined): string[] {
  const { warnings, delimiter } = taken ?? { warnings: [], delimiter: 'comma' };
  const columns = delimiter === 'comma' ? '' : `; separated by ${delimiter}`;
  return [
    `${batchLine(one)}${columns}`,
    ...leftOutLines(taken),
    ...warnings.slice(0, shownWarnings).map((warning) => `  warning: ${warning}`),
    ...(warnings.length > shownWarnings
      ? ['  warning: and more: counterfoil submit --json, or check FILE, names them']
      : []),
    ...heldLines(one),
  ];
}

function batchJson(one: BatchCounts, taken: TakenBatch | undefined): Record<string, unknown> {
  const { batch, state, counts, totals } = one;
  return {
    batch: batch.id,
    file: batch.file_name,
    rows: Number(batch.row_count),
    totals,
    state,
    payouts: counts,
    hold_reasons: heldBecause(batch, state),
    ...(taken && { delimiter: taken.delimiter, ...leftOutJson(taken.skipped) }),
    warnings: taken?.warnings ?? [],
  };
}

function expectedLines(one: Expected): string[] {
  if (one.kind === 'refused') return [];
  return collectionLines({ ...one, ...leftOutJson(one.skipped) });
}

function expectedJson(one: Expected): Record<string, unknown>[] {
  if (one.kind === 'refused') return [];
  const { id, file, rows, totals, skipped } = one;
  return [{ id, file, rows, totals, ...leftOutJson(skipped) }];
}

function whyStopped({ ended, detail }: Sent): string {
  return ended === 'unreachable' ? `${detail}: check the network and service.base_url` : detail;
}

/** What keeps payouts unsent or unknown, each with what to do. */
export function attentionLines({ unknown, withheld }: Attention): string[] {
  const first = withheld.first.map(({ reference, message }) => ({ reference, why: message }));
  return [...withheldLines(withheld.count, first), ...unknownLines(unknown)];
}

/**
 * What is recorded and how to go on after sending stopped. Without it people submit the file again, are refused, and
 * may try new references.
 */
function whatWaits(taken: Taken[], shown: BatchCounts[], waiting: number, mode: Mode): string {
  const countsOf = new Map(shown.map(({ batch, counts }) => [batch.id, counts]));
  const recorded = taken.flatMap((t) =>
    t.kind === 'taken'
      ? [`${basename(t.file)} is recorded as batch ${t.batch}: ${progressText(countsOf.get(t.batch) ?? {})}`]
      : [],
  );
  if (recorded.length === 0) return `${waiting} payouts wait. Go on with: ${submitCommand(mode)}`;
  const rest = recorded.length > 5 ? [`and ${recorded.length - 5} files more`] : [];
  return `${[...recorded.slice(0, 5), ...rest].join('; ')}. Go on with: ${submitCommand(mode)} (without the file, which is taken only once)`;
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
      ...(t.unkept === undefined ? [] : [`  ${t.unkept}`]),
    ];
  });
}
