import { dirname, join } from 'node:path';
import type { App } from '../../../app/app.ts';
import { counted } from '../../../core/domain/counted.ts';
import { visible } from '../../../core/domain/hidden.ts';
import { givenBackText, leftOutJson, leftOutText } from '../../../core/domain/left-out.ts';
import type { BatchCounts } from '../../../core/ledger/batches.ts';
import type { Attention } from '../../../sending/attention.sql.ts';
import { haltAdvice } from '../../../sending/halt.ts';
import { reasonText, submitCommand } from '../../../words/advice-text.ts';
import { batchHead, heldLines, progressLine } from '../batches/batch-lines.ts';
import type { Screen } from '../context/result.ts';
import { collectionLines, haltText, problemLines, standText } from '../kit/describe.ts';
import { pathText } from '../kit/file-lines.ts';
import type { Terminal } from '../kit/terminal.ts';
import { unknownLines, withheldLines } from '../status/unknown-lines.ts';
import { needsPerson, waitingLines, waitingText } from '../status/waiting.ts';
import type {
  ExpectedFile,
  GivenBackFile,
  SubmitFacts,
  Submitted,
  TakenBatch,
  TakenFiles,
} from './submit-standing.ts';
import { warningLines } from './warning-lines.ts';

type View = {
  app: App<'local'>;
  cwd: string;
  terminal: Terminal;
  /** Why sending ended early. */
  stopped: 'failed' | 'interrupted' | null;
};

/** Where each batch stands, what needs a person, the result files and the next command. */
export function submitScreen(view: View, done: Submitted, now: SubmitFacts): Screen {
  const { taken, expected } = done;
  const { shown, fresh, waits, needed } = now;
  const { app, terminal } = view;
  const blocks = [
    ...shown.map((one) => batchLines(view, one, fresh.get(one.batch.id))),
    expected.flatMap(expectedLines),
    waitingLines(waits, app.config, terminal),
    attentionLines(needed),
    haltLines(now, terminal),
  ];
  if (shown.length === 0 && taken.length === 0 && expected.length === 0)
    blocks.unshift([
      `Nothing to do: no whole file in ${pathText(view.cwd, app.paths.inbox)}, nothing ready to send.`,
    ]);
  const end = { Results: resultFiles(view, done, now), Next: nextCommand(view, done, now) };
  return { blocks, end };
}

/** Only what was left out or is stopped, and what to do; empty when the exit code is 0. */
export function submitTrouble(
  { app, terminal }: Pick<View, 'app' | 'terminal'>,
  { expected }: Submitted,
  now: SubmitFacts,
): string[] {
  const { shown, fresh, waits, needed } = now;
  return [
    ...shown.flatMap((one) => {
      const left = leftOutLines(fresh.get(one.batch.id));
      if (one.state !== 'held' && left.length === 0) return [];
      return [batchHead(one, app.config.mode), progressLine(one, terminal.paint), ...left, ...heldLines(one)];
    }),
    ...expected.filter((one) => one.kind === 'taken' && one.skipped !== null).flatMap(expectedLines),
    ...waits.filter(needsPerson).map((one) => waitingText(one, app.config, terminal)),
    ...attentionLines(needed),
    ...haltLines(now, terminal),
  ];
}

function batchLines({ app, terminal }: View, one: BatchCounts, taken: TakenBatch | undefined): string[] {
  const delimiter = taken?.delimiter ?? 'comma';
  const columns = delimiter === 'comma' ? '' : `   ${delimiter}`;
  const warnings = taken ? warningLines(taken, { verbose: false }) : [];
  return [
    `${batchHead(one, app.config.mode)}${columns}`,
    ...leftOutLines(taken),
    ...warnings,
    progressLine(one, terminal.paint),
    ...heldLines(one),
  ];
}

function leftOutLines(taken: TakenBatch | undefined): string[] {
  return taken?.skipped ? [`  ${leftOutText(taken.skipped)}`] : [];
}

function expectedLines(one: ExpectedFile): string[] {
  if (one.kind === 'refused') return [];
  return collectionLines({ ...one, ...leftOutJson(one.skipped) });
}

function haltLines({ halted, stands }: SubmitFacts, terminal: Terminal): string[] {
  if (!halted) return [];
  return [`Sending is halted ${haltText(halted, terminal)} (${standText(stands)})`];
}

/** What keeps payouts unsent or unknown, each with what to do. */
export function attentionLines({ unknown, withheld }: Attention): string[] {
  const first = withheld.first.map((one) => ({ reference: one.reference, why: reasonText(one) }));
  return [...withheldLines(withheld.count, first), ...unknownLines(unknown)];
}

/** The workbooks that this run wrote for the batches it shows; the index where they are many. */
function resultFiles({ app, cwd }: View, { files }: Submitted, { shown }: SubmitFacts): string[] {
  const names = new Set(shown.map(({ batch }) => join(app.paths.reports, batch.id)));
  const own = files.filter((path) => path.endsWith('results.xlsx') && names.has(dirname(path)));
  const paths = own.length > 3 ? [join(app.paths.reports, 'index.html')] : own;
  return paths.map((path) => pathText(cwd, path));
}

function nextCommand({ app, stopped }: View, { sent }: Submitted, now: SubmitFacts): string {
  const { shown, halted } = now;
  if (stopped === 'failed') return 'counterfoil doctor';
  if (halted) {
    const next = { doctor: 'counterfoil doctor', reconcile: 'counterfoil reconcile' } as const;
    const advice = haltAdvice(halted.kinds);
    return advice === 'doctor' || advice === 'reconcile' ? next[advice] : 'counterfoil status';
  }
  const ready = shown.some(({ counts }) => (counts.ready ?? 0) > 0);
  const goesOn = sent.ended === 'not_started' || stopped === 'interrupted';
  if (goesOn && ready && now.waits.length === 0) return submitCommand(app.config.mode);
  const went = shown.some(({ counts }) => (counts.pending ?? 0) + (counts.unknown ?? 0) > 0);
  return went ? 'counterfoil reconcile' : '';
}

export function refusedLines(taken: readonly TakenFiles[], cwd: string): string[] {
  return taken.flatMap((t) => {
    if (t.kind !== 'refused') return [];
    const why =
      t.batch === undefined
        ? `${counted(t.problemCount, 'problem')}; nothing of it was recorded or sent`
        : 'it is recorded already; nothing was recorded twice or sent';
    return [
      `refused  ${visible(pathText(cwd, t.file))}: ${why}`,
      ...problemLines(t.problems, t.problemCount),
      ...(t.errorsFile && t.batch === undefined ? [`  every problem: ${pathText(cwd, t.errorsFile)}`] : []),
      ...(t.unkept === undefined ? [] : [`  ${t.unkept}`]),
    ];
  });
}

export function givenBackLines(back: readonly GivenBackFile[]): string[] {
  return back.map((one) => `left out ${one.owner}: ${givenBackText(one)}`);
}
