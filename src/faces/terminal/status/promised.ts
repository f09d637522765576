import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import type { App } from '../../../app/app.ts';
import { batchesDue } from '../../../books/batch-results.sql.ts';
import { runsDue } from '../../../books/reports-due.sql.ts';
import { visible } from '../../../core/domain/hidden.ts';
import { runFolder } from '../../../core/domain/run-folder.ts';
import {
  type FileTask,
  lostFileTasks,
  openFileTasks,
  recentArchives,
} from '../../../core/ledger/file-tasks.ts';
import type { StatusJson } from '../../../core/shapes/status-shapes.ts';
import type { FileTaskKind } from '../../../core/storage/tables/file-tables.ts';

/** How long lost files and changed archives are shown. */
const lostShownMs = 30 * 86_400_000;
const shownAtOnce = 10;
const lookedAt = 200;

const what: Record<FileTaskKind, string> = {
  archive: 'its file into the archive',
  errors: 'the problems of the rows left out of it',
  invalid: 'the rows left out of it',
};

type Standing = {
  lines: string[];
  json: Pick<StatusJson, 'files' | 'reports_due'>;
  /** What a person should look at: lost files, and archives that differ from what was read. */
  faults: string[];
};

/** File work that is promised and not done yet (P34), and files that differ from the promise. */
export async function promisedStanding(app: App<'looking'>): Promise<Standing> {
  const { ledger, clock } = app;
  const open = await openFileTasks(ledger.db);
  const since = new Date(clock.now() - lostShownMs).toISOString();
  const lost = await lostFileTasks(ledger.db, since);
  const changed = await changedArchives(await recentArchives(ledger.db, since, lookedAt));
  const reports = [
    ...(await runsDue(ledger.db)).map((run) => runFolder(run)),
    ...(await batchesDue(ledger.db)),
  ];
  const lines = [
    ...open.slice(0, shownAtOnce).map((task) => `  to do: ${task.owner}: ${openText(task)}`),
    ...more(open.length),
    ...lost.map((task) => `  lost: ${task.owner}: ${lostText(task)}`),
    ...changed.map((one) => `  changed: ${changedText(one)}`),
    ...(reports.length === 0
      ? []
      : [
          `  Reports due: ${reports.slice(0, shownAtOnce).join(', ')}: counterfoil report, or serve, writes them`,
        ]),
  ];
  const files = { open: open.map(shown), lost: lost.map(shown), changed: changed.map(changedJson) };
  const faults = [...lost.map((task) => `${task.owner}: ${lostText(task)}`), ...changed.map(changedText)];
  return { lines, json: { files, reports_due: reports }, faults };
}

/** An archived file whose size differs from what was read. */
type Changed = { task: FileTask; size: number };

async function changedArchives(tasks: readonly FileTask[]): Promise<Changed[]> {
  const changed: Changed[] = [];
  for (const task of tasks) {
    const size = await stat(task.target).then(
      (found) => found.size,
      () => null,
    );
    // A file may be removed from the archive, but not changed there.
    if (size !== null && BigInt(size) !== task.bytes) changed.push({ task, size });
  }
  return changed.slice(0, shownAtOnce);
}

function changedText({ task: { owner, target, bytes }, size }: Changed): string {
  const more = size - Number(bytes);
  const what =
    more > 0 ? `${more} bytes came after it was read, and are in no batch` : 'is shorter than what was read';
  return `${owner}: ${visible(target)}: ${what}`;
}

function changedJson({ task: { owner, target, bytes }, size }: Changed) {
  return { owner, file: target, bytes_read: Number(bytes), bytes_now: size };
}

function more(count: number): string[] {
  return count > shownAtOnce ? [`  to do: and ${count - shownAtOnce} files more`] : [];
}

function openText({ kind, target }: FileTask): string {
  return `${what[kind]}: ${visible(target)} (counterfoil submit, or serve, brings it there)`;
}

function lostText({ kind, source, target, outcome }: FileTask): string {
  if (kind === 'archive' && outcome === 'differs')
    return `${visible(source)} was changed after it was read, so that it is not in the archive`;
  return `${what[kind]}: neither ${visible(basename(source))} nor ${visible(target)} was there`;
}

function shown({ kind, owner, source, target, outcome }: FileTask) {
  return { kind, owner, source, target, outcome };
}
