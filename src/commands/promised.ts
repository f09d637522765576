import { basename } from 'node:path';
import { visible } from '../domain/hidden.ts';
import { batchesDue } from '../ledger/figures/reports.ts';
import { runsDue } from '../ledger/figures/reports-due.ts';
import { type FileTask, lostFileTasks, openFileTasks } from '../ledger/payouts/file-tasks.ts';
import type { FileTaskKind } from '../ledger/tables/file-tables.ts';
import type { LookingApp } from '../looking-app.ts';

/** What could not be brought to its place is shown for so long. */
const lostShownMs = 30 * 86_400_000;
const shownAtOnce = 10;

const what: Record<FileTaskKind, string> = {
  archive: 'its file into the archive',
  errors: 'the problems of the rows left out of it',
  invalid: 'the rows left out of it',
};

/** What is promised beside the ledger and not done yet (P34), and what cannot be done any more. */
export async function promisedStanding(
  app: LookingApp,
): Promise<{ lines: string[]; json: Record<string, unknown> }> {
  const { ledger, clock, config } = app;
  const open = await openFileTasks(ledger.db);
  const lost = await lostFileTasks(ledger.db, new Date(clock.now() - lostShownMs).toISOString());
  const reports = [
    ...(await runsDue(ledger.db, config.mode)).map((run) => `reconciliation-${run}`),
    ...(await batchesDue(ledger.db, config.mode)),
  ];
  const lines = [
    ...open.slice(0, shownAtOnce).map((task) => `to do          ${task.owner}: ${openText(task)}`),
    ...more(open.length),
    ...lost.map((task) => `lost           ${task.owner}: ${lostText(task)}`),
    ...(reports.length === 0
      ? []
      : [
          `reports due    ${reports.slice(0, shownAtOnce).join(', ')}: counterfoil report, or serve, writes them`,
        ]),
  ];
  return { lines, json: { files: { open: open.map(shown), lost: lost.map(shown) }, reports_due: reports } };
}

function more(count: number): string[] {
  return count > shownAtOnce ? [`to do          and ${count - shownAtOnce} files more`] : [];
}

function openText({ kind, target }: FileTask): string {
  return `${what[kind]}: ${visible(target)} (counterfoil submit, or serve, brings it there)`;
}

function lostText({ kind, source, target, outcome }: FileTask): string {
  if (kind === 'archive' && outcome === 'differs')
    return `${visible(source)} was changed after it was read, so that it is not in the archive`;
  return `${what[kind]}: neither ${visible(basename(source))} nor ${visible(target)} was there`;
}

function shown({ kind, owner, source, target, outcome }: FileTask): Record<string, unknown> {
  return { kind, owner, source, target, outcome };
}
