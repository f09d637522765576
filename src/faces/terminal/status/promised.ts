import type { App } from '../../../app/app.ts';
import { batchesDue } from '../../../books/batch-results.sql.ts';
import { runsDue } from '../../../books/reports-due.sql.ts';
import { runFolder } from '../../../core/domain/run-folder.ts';
import { type FileTask, openFileTasks } from '../../../core/ledger/file-tasks.ts';
import type { StatusJson } from '../../../core/shapes/status-shapes.ts';
import { lostFindings } from '../../../findings/file-findings.ts';
import type { ChangedFile, Finding } from '../../../findings/finding.ts';
import { changedText, lostText, promisedText } from '../../../words/file-words.ts';

const shownAtOnce = 10;

type Standing = {
  lines: string[];
  json: Pick<StatusJson, 'files' | 'reports_due'>;
  /** Lost files, and archives that differ from what was read. */
  findings: Finding<'file_lost'>[];
};

/** File work that is promised and not done yet (P34), and files that differ from the promise. */
export async function promisedStanding(app: App<'looking'>): Promise<Standing> {
  const { ledger, clock } = app;
  const open = await openFileTasks(ledger.db);
  const findings = await lostFindings(ledger.db, clock.now());
  const lost = findings.flatMap(({ facts }) => facts.lost);
  const changed = findings.flatMap(({ facts }) => facts.changed);
  const reports = [
    ...(await runsDue(ledger.db)).map((run) => runFolder(run)),
    ...(await batchesDue(ledger.db)),
  ];
  const lines = [
    ...open.slice(0, shownAtOnce).map((task) => `  to do: ${promisedText(task)}`),
    ...more(open.length),
    ...lost.map((task) => `  lost: ${lostText(task)}`),
    ...changed.map((one) => `  changed: ${changedText(one)}`),
    ...(reports.length === 0
      ? []
      : [
          `  Reports due: ${reports.slice(0, shownAtOnce).join(', ')}: counterfoil report, or serve, writes them`,
        ]),
  ];
  const files = { open: open.map(shown), lost: lost.map(shown), changed: changed.map(changedJson) };
  return { lines, json: { files, reports_due: reports }, findings };
}

function changedJson({ task: { owner, target, bytes }, size }: ChangedFile) {
  return { owner, file: target, bytes_read: Number(bytes), bytes_now: size };
}

function more(count: number): string[] {
  return count > shownAtOnce ? [`  to do: and ${count - shownAtOnce} files more`] : [];
}

function shown({ kind, owner, source, target, outcome }: FileTask) {
  return { kind, owner, source, target, outcome };
}
