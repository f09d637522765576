import { basename } from 'node:path';
import type { App } from '../../../app/app.ts';
import { counted } from '../../../core/domain/counted.ts';
import type { Forbidden } from '../../../core/domain/forbidden.ts';
import { leftOutJson } from '../../../core/domain/left-out.ts';
import type { Mode } from '../../../core/domain/payout.ts';
import { progressText } from '../../../core/domain/progress.ts';
import type { BatchCounts } from '../../../core/ledger/batches.ts';
import type { SubmitJson } from '../../../core/shapes/intake-shapes.ts';
import type { Sent } from '../../../verbs/submit.ts';
import { submitCommand } from '../../../words/advice-text.ts';
import { preflightText } from '../../../words/preflight-words.ts';
import { stopReason, stopText } from '../../../words/stop-words.ts';
import { heldBecause } from '../../json/list-json.ts';
import { waitingJson, withheldJson } from '../../json/status-json.ts';
import { type Result, worst } from '../context/result.ts';
import type { Context } from '../context/world.ts';
import { terminalOf } from '../kit/terminal.ts';
import { needsPerson } from '../status/waiting.ts';
import { givenBackLines, refusedLines, submitScreen, submitTrouble } from './submit-lines.ts';
import {
  type ExpectedFile,
  type GivenBackFile,
  type RefusedFile,
  readyIn,
  type SubmitFacts,
  type Submitted,
  standing,
  type TakenBatch,
  type TakenFiles,
} from './submit-standing.ts';

/** What `submit` did, where its batches stand now, and who must do what next. */
export async function describeSubmit(context: Context, app: App<'local'>, done: Submitted): Promise<Result> {
  const { taken, expected, givenBack, sent } = done;
  const { mode } = app.config;
  const now = await standing(app, done);
  const { shown, halted } = now;
  const waiting = readyIn(shown);
  const refused = [...taken, ...expected].filter((one) => one.kind === 'refused');
  if (!context.options.json)
    for (const line of [...refusedLines(refused, context.cwd), ...givenBackLines(givenBack)])
      context.say(line);
  const unwritten = done.unwritten ? unwrittenText(done.unwritten) : undefined;
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
  const terminal = terminalOf(context, app.config, app.clock.iso());
  const view = {
    app,
    cwd: context.cwd,
    terminal,
    stopped: stopped === null ? null : context.signal.aborted ? 'interrupted' : 'failed',
  } as const;
  // --quiet hides only success: everything behind a non-zero exit code is printed.
  if (context.options.quiet) for (const line of submitTrouble(view, done, now)) context.say(line);
  const error = stopped ?? unwritten;
  return {
    code: worst(
      failed || unwritten !== undefined || refused.some(({ unkept }) => unkept !== undefined) ? 1 : 0,
      refused.length > 0 || rowsLeft ? 3 : 0,
      person ? 4 : 0,
    ),
    ...(problems.length > 0 && { problem: problems.join('. ') }),
    ...(!context.options.quiet && { screen: submitScreen(view, done, now) }),
    json: {
      shape: 'submit',
      fields: {
        ...standingJson(now, done),
        ...refusedJson(refused, expected),
        ...givenBackJson(givenBack),
        ...(error !== undefined && { error }),
      },
    },
  };
}

function standingJson(
  { shown, fresh, halted, needed, waits }: SubmitFacts,
  { only, sentFrom }: Submitted,
): Pick<SubmitJson, 'batches' | 'halted' | 'unknown' | 'withheld' | 'waits'> {
  const ofThisRun = shown.filter(({ batch }) => only || fresh.has(batch.id) || sentFrom.has(batch.id));
  return {
    batches: ofThisRun.map((one) => batchJson(one, fresh.get(one.batch.id))),
    halted: halted ? { cause: halted.cause, at: halted.at } : null,
    unknown: needed.unknown.first.map(({ reference }) => reference),
    withheld: withheldJson(needed.withheld),
    waits: waits.map(waitingJson),
  };
}

function refusedJson(
  refused: RefusedFile[],
  expected: ExpectedFile[],
): Pick<SubmitJson, 'refused' | 'collections'> {
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

function givenBackJson(back: GivenBackFile[]): Pick<SubmitJson, 'given_back'> {
  if (back.length === 0) return {};
  const shown = back.map(({ owner, errorsFile: errors_file, invalidFile: invalid_file }) => {
    return { owner, errors_file, invalid_file };
  });
  return { given_back: shown };
}

function batchJson(one: BatchCounts, taken: TakenBatch | undefined): SubmitJson['batches'][number] {
  const { batch, state, counts, totals } = one;
  return {
    batch: batch.id,
    file: batch.file_name,
    rows: Number(batch.row_count),
    totals,
    state,
    payouts: counts,
    hold_reasons: heldBecause({ batch, state }),
    ...(taken && { delimiter: taken.delimiter, ...leftOutJson(taken.skipped) }),
    warnings: taken?.warnings ?? [],
  };
}

function expectedJson(one: ExpectedFile) {
  if (one.kind === 'refused') return [];
  const { id, file, rows, totals, skipped } = one;
  return [{ id, file, rows, totals, ...leftOutJson(skipped) }];
}

function unwrittenText({ place, why }: Forbidden): string {
  return `the result files could not be written: ${place} (${why}). What was sent is recorded, nothing is lost: make it writable for this account, then run counterfoil report`;
}

function whyStopped(sent: Sent): string {
  if (sent.ended === 'not_started') return '';
  if (sent.ended === 'uncleared') return preflightText(sent.problem);
  if (sent.ended === 'unreachable') return `${stopText(sent)}: check the network and service.base_url`;
  return stopReason(sent);
}

/**
 * What is recorded and how to go on after sending stopped. Without it people submit the file again, are refused, and
 * may try new references.
 */
function whatWaits(taken: TakenFiles[], shown: BatchCounts[], waiting: number, mode: Mode): string {
  const countsOf = new Map(shown.map(({ batch, counts }) => [batch.id, counts]));
  const recorded = taken.flatMap((t) =>
    t.kind === 'taken'
      ? [`${basename(t.file)} is recorded as batch ${t.batch}: ${progressText(countsOf.get(t.batch) ?? {})}`]
      : [],
  );
  if (recorded.length === 0)
    return `${counted(waiting, 'payout waits', 'payouts wait')}. Go on with: ${submitCommand(mode)}`;
  const rest = recorded.length > 5 ? [`and ${recorded.length - 5} files more`] : [];
  return `${[...recorded.slice(0, 5), ...rest].join('; ')}. Go on with: ${submitCommand(mode)} (without the file, which is taken only once)`;
}
