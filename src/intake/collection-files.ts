import { basename } from 'node:path';
import { checkExpectation, collectionColumns, type Expectation } from '../core/domain/collection-rules.ts';
import { batchId, foldReference } from '../core/domain/ids.ts';
import { dayOf } from '../core/domain/pay-day.ts';
import { type Problem, wholeFile } from '../core/domain/problem.ts';
import type { PromisedFile } from '../core/ledger/file-tasks.ts';
import { recordTakenFile } from '../core/ledger/rejected-files.ts';
import type { Clock } from '../core/runtime/clock.ts';
import type { Config } from '../core/settings/settings.ts';
import type { Ledger } from '../core/storage/ledger.ts';
import {
  closeFile,
  dropPromises,
  expectSome,
  findFile,
  findFileByHash,
  loadingFiles,
  openFile,
  promisedBefore,
} from '../watching/collections/expectations.sql.ts';
import { controlProblems } from './control.ts';
import {
  type BadRow,
  type FileItem,
  fileRows,
  hiddenIn,
  type RowJudge,
  repeatedReferences,
  short,
} from './file-rows.ts';
import type { Header, RequiredColumns } from './header.ts';
import { allExist } from './moves.ts';
import { problemSheets, type Sheets } from './problem-sheets.ts';
import { finishPromised } from './promised-files.ts';
import type { ReadLimits } from './read.ts';
import { droppedName, rowsLeftIn } from './rejections.ts';
import { addSum, capped, formatTotals, newScan, noteEnd, rowRules, type Scan } from './scan.ts';
import {
  archived,
  leftOutSheets,
  type Paths,
  refuse,
  type Skipped,
  skippedOf,
  type TakenFile,
} from './take.ts';
import { unfitName } from './unreadable.ts';

/** The result of one file of expected collections. */
export type TakenCollections =
  | {
      kind: 'taken';
      /** `collections-NAME-YYYYMMDD-HHHHHH`: its name in the archive and in the ledger. */
      id: string;
      file: string;
      rows: number;
      totals: Record<string, string>;
      skipped: Skipped | null;
    }
  | Extract<TakenFile, { kind: 'refused' }>;

type Deps = { ledger: Ledger; config: Config; clock: Clock; paths: Paths };
const origin = { origin: 'inbox' } as const;
const rowsPerStep = 5_000;

/** Takes one file of expected collections in, or refuses it whole. Only for the holder of the intake lock. */
export async function takeExpectations(deps: Deps, path: string): Promise<TakenCollections> {
  const { config, paths } = deps;
  const sheets = problemSheets(paths.rejected, basename(path), config.reports.bom);
  const unfit = unfitName(path);
  if (unfit) return refuse(deps, path, origin, { problems: capped(0) }, [unfit], sheets);
  try {
    const scan = await scanExpectations(deps, path, sheets);
    const again = await takenBefore(deps, scan);
    if (again) {
      // Its rows repeat their own expectations; that is no problem of the file.
      await sheets.discard();
      const own = problemSheets(paths.rejected, basename(path), config.reports.bom);
      return await refuse(deps, path, origin, { problems: capped(0) }, [again], own);
    }
    const extra = await verdicts(path, scan, config);
    const rejects = config.intake.onInvalidRow === 'reject_file';
    if (scan.broken || scan.good.count === 0 || extra.length > 0 || (scan.badRows > 0 && rejects))
      return await refuse(deps, path, origin, scan, extra, sheets);
    const left = await leftOutSheets(deps, path, scan, sheets);
    if (left.kind === 'problem') return await refuse(deps, path, origin, scan, [left.problem], sheets);
    const promised = (owner: string): PromisedFile[] => {
      sheets.keep();
      return [archived(paths, path, owner, scan), ...left.files];
    };
    const sources = left.files.map(({ source }) => source);
    const id = await load(deps, path, scan, { promised, sheets: sources });
    if (id === null) {
      const fix = 'drop it again when it is complete';
      const changed = wholeFile('the file or the ledger changed while the file was read', fix);
      return await refuse(deps, path, origin, scan, [changed], sheets);
    }
    const skipped = skippedOf(id, scan, await finishPromised({ ...deps, inbox: paths.inbox }));
    const totals = formatTotals(scan.good.totals);
    return { kind: 'taken', id, file: path, rows: scan.good.count, totals, skipped };
  } finally {
    await sheets.discard();
  }
}

/**
 * Deletes half-loaded expectations that a crash left; their file is still in the inbox. Only under the intake
 * lock.
 */
export async function dropHalfExpected({ ledger }: Pick<Deps, 'ledger'>): Promise<void> {
  for (const id of await loadingFiles(ledger.db)) await drop(ledger, id);
}

async function drop(ledger: Ledger, id: string): Promise<void> {
  for (let done = false; !done; )
    ({ done } = await ledger.write((trx) => dropPromises(trx, id, rowsPerStep)));
}

/** Pass 1: collects every problem of every row, the totals and the content hash. */
async function scanExpectations(deps: Deps, path: string, sheets: Sheets): Promise<Scan> {
  const { config } = deps;
  const scan = newScan(rowRules(deps));
  const say = async (problem: Problem): Promise<void> => {
    scan.problems.add(problem);
    await sheets.problem(problem);
  };
  let header: Parameters<Sheets['badRow']>[1] | null = null;
  for await (const item of expectationRows(path, config.intake)) {
    if (item.kind === 'header') header = item.header;
    else if (item.kind === 'broken') {
      scan.broken = true;
      await say(item.problem);
    } else if (item.kind === 'end') {
      noteEnd(scan, item);
    } else {
      const { good, bad } = await withoutPromised(item, deps);
      for (const row of bad) {
        scan.badRows++;
        for (const problem of row.problems) await say(problem);
        if (header && config.intake.onInvalidRow === 'skip_row') await sheets.badRow(row.cells, header);
      }
      for (const { parsed } of good) addSum(scan.good, parsed.currency, parsed.amount);
    }
  }
  return scan;
}

/** Turns rows whose reference is expected already into bad rows that name the earlier file (P22). */
async function withoutPromised(
  chunk: { good: GoodExpectation[]; bad: BadRow[] },
  { ledger }: Pick<Deps, 'ledger'>,
): Promise<{ good: GoodExpectation[]; bad: BadRow[] }> {
  const keyOf = ({ parsed }: GoodExpectation): string => foldReference(parsed.reference);
  const before = await promisedBefore(ledger.db, chunk.good.map(keyOf));
  if (before.size === 0) return chunk;
  const bad = chunk.good
    .filter((row) => before.has(keyOf(row)))
    .map((one) => {
      const { row, cells, parsed } = one;
      const problem = `is expected already, by ${before.get(keyOf(one))}; references are unique for ever`;
      const fix =
        'remove the row; if the amount changed, let the payer use another reference, or resolve what a run reports with a note';
      return { row, cells, problems: [{ row, column: 'reference', value: parsed.reference, problem, fix }] };
    });
  return {
    good: chunk.good.filter((row) => !before.has(keyOf(row))),
    bad: [...chunk.bad, ...bad].sort((a, b) => a.row - b.row),
  };
}

async function takenBefore({ ledger, config }: Deps, { contentHash }: Scan): Promise<Problem | null> {
  const before = contentHash === '' ? undefined : await findFileByHash(ledger.db, contentHash);
  if (!before) return null;
  const problem = `this content was already taken as ${before.id} on ${dayOf(before.created_at, config.reports.timezone)}`;
  return wholeFile(problem, 'nothing to do with this file: what it expects is watched');
}

async function verdicts(path: string, scan: Scan, { intake }: Config): Promise<Problem[]> {
  if (scan.broken) return [];
  if (scan.fileRows === 0) return [wholeFile('the file has a header and no rows', 'add at least one row')];
  if (scan.badRows > 0 && intake.onInvalidRow === 'reject_file') return [];
  return controlProblems(path, {}, scan.good);
}

/**
 * Pass 2: records expectations in chunks and completes them in one last transaction. Returns null, and keeps
 * nothing, when file or ledger differ from pass 1.
 */
async function load(
  { ledger, config, clock, paths }: Deps,
  path: string,
  scan: Scan,
  { promised, sheets }: { promised: (owner: string) => PromisedFile[]; sheets: readonly string[] },
): Promise<string | null> {
  const at = clock.iso();
  const id = await freeId(ledger, basename(path), at, scan.contentHash);
  await ledger.write((trx) =>
    openFile(trx, {
      id,
      file_name: basename(path),
      content_hash: scan.contentHash,
      row_count: BigInt(scan.good.count),
      created_at: at,
    }),
  );
  let loaded = 0;
  let hash = '';
  for await (const item of expectationRows(path, config.intake)) {
    if (item.kind === 'end') hash = item.bytesHash;
    if (item.kind !== 'chunk') continue;
    loaded += await ledger.write(async (trx) => {
      const keys = item.good.map(({ parsed }) => foldReference(parsed.reference));
      const before = await promisedBefore(trx, keys);
      const rows = item.good.flatMap(({ row, parsed: { reference, amount, currency } }) => {
        const referenceKey = foldReference(reference);
        return before.has(referenceKey) ? [] : [{ row, reference, referenceKey, amount, currency }];
      });
      await expectSome(trx, id, at, rows);
      return rows.length;
    });
  }
  if (hash !== scan.bytesHash || loaded !== scan.good.count || !(await allExist(sheets))) {
    await drop(ledger, id);
    return null;
  }
  const files = promised(id);
  const [name, left, closedAt] = [droppedName(paths, path), rowsLeftIn(files, scan), clock.iso()];
  await ledger.write(async (trx) => {
    await closeFile(trx, { id, at: closedAt, files });
    const { contentHash } = scan;
    await recordTakenFile(trx, { owner: id, name, contentHash, at: closedAt, left });
  });
  return id;
}

/** Returns an id that no file has. */
async function freeId(ledger: Ledger, fileName: string, at: string, contentHash: string): Promise<string> {
  for (let i = 0; i < 58; i += 6) {
    const id = `collections-${batchId(fileName, at, contentHash.slice(i))}`;
    if (!(await findFile(ledger.db, id))) return id;
  }
  throw new Error(`no free id for ${fileName}`);
}

type GoodExpectation = { row: number; cells: string[]; parsed: Expectation };

const wanted: RequiredColumns = {
  required: collectionColumns,
  missingFix: (column) => `add a column with the header ${column}`,
};

/** The rows of a file of expected collections. */
function expectationRows(path: string, limits: ReadLimits): AsyncGenerator<FileItem<GoodExpectation>> {
  return fileRows(path, { wanted, limits }, judge);
}

function judge(header: Header): RowJudge<GoodExpectation> {
  const repeated = repeatedReferences();
  const hidden = hiddenIn(header);
  return (row, cells, tidied) => {
    const cell = (column: (typeof collectionColumns)[number]): string | undefined => {
      const i = header.at[column];
      return i === undefined ? undefined : (tidied[i] ?? '');
    };
    const problems = hidden(row, tidied);
    const checked = checkExpectation(cell);
    if (checked.kind === 'bad')
      problems.push(...checked.problems.map((one) => ({ row, ...one, value: short(one.value) })));
    problems.push(...repeated(row, cell('reference') ?? ''));
    return checked.kind === 'ok' && problems.length === 0
      ? { kind: 'good', good: { row, cells, parsed: checked.row } }
      : { kind: 'bad', problems };
  };
}
