import { existsSync } from 'node:fs';
import { readFile, rename, rm } from 'node:fs/promises';
import { resolve } from 'node:path';
import type { App } from '../../../app/app.ts';
import { countFiltered, countOpen, listOpen } from '../../../books/discrepancies/discrepancies.sql.ts';
import type { Discrepancy } from '../../../core/storage/tables/tables.ts';
import { type Result, Stop } from '../context/result.ts';
import { withApp } from '../context/with-app.ts';
import type { Context } from '../context/world.ts';
import { leftOpen } from '../kit/describe.ts';
import { readFilter } from './discrepancy-filter.ts';
import { tooLargeToFillIn } from './workbook-guard.ts';

const narrow = 'Narrow them with --kind, --batch or --older-than; discrepancies.csv of the last run has all';

/** `discrepancies --export FILE`: writes what the filters find; people fill in `decision` and `note`. */
export async function exportWorkbook(
  context: Context,
  file: string,
  options: Record<string, unknown>,
): Promise<Result> {
  const path = resolve(context.cwd, file);
  if (!/\.xlsx$/i.test(file))
    throw new Stop(
      `${file}: name a workbook, such as open.xlsx; discrepancies.csv of the last run is the list as CSV`,
    );
  // Somebody may have filled in the existing file.
  if (existsSync(path) && !context.options.yes)
    throw new Stop(`${path} is there already: name another file, or add --yes to write over it`);
  return withApp(context, { level: 'local', use: 'reads' }, async (app) => {
    const filter = await readFilter(app, options);
    const counts = await countFiltered(app.ledger.db, filter);
    const total = counts.reduce((sum, row) => sum + Number(row.n), 0);
    const workbook = app.reporting.discrepancyWorkbook;
    if (total > workbook.limit)
      throw new Stop(`${total} discrepancies: a workbook holds ${workbook.limit}. ${narrow}`);
    await writeReadable(path, await listOpen(app.ledger.db, filter), app);
    const open = await countOpen(app.ledger.db);
    const lines = [
      `${total} discrepancies written to ${path}`,
      'Fill in decision (ack or resolve) and note where you decide, leave the rest empty, then: counterfoil discrepancies --import FILE',
    ];
    return {
      code: leftOpen(open).code,
      lines,
      json: { shape: 'discrepancies --export', fields: { file: path, exported: total, open } },
    };
  });
}

/** Writes the workbook, and keeps it only if `--import` would accept it: otherwise a person fills it in in vain. */
async function writeReadable(path: string, found: Discrepancy[], app: App<'local'>): Promise<void> {
  const draft = `${path}.tmp`;
  try {
    await app.reporting.discrepancyWorkbook.write(draft, found, app.clock.now());
    const trouble = tooLargeToFillIn(await readFile(draft));
    if (trouble !== null)
      throw new Stop(
        `the workbook of these ${found.length} could not be read back with --import: ${trouble}. ${narrow}`,
      );
    await rename(draft, path);
  } finally {
    await rm(draft, { force: true });
  }
}
