import { resolve } from 'node:path';
import type { z } from 'zod';
import { countOpen } from '../../../books/discrepancies/discrepancies.sql.ts';
import {
  discrepancyMark,
  findByIds,
  stateAfter,
} from '../../../books/discrepancies/discrepancy-decisions.sql.ts';
import { counted } from '../../../core/domain/counted.ts';
import type { Problem } from '../../../core/domain/problem.ts';
import type { Discrepancy } from '../../../core/storage/tables/tables.ts';
import { decideVerb } from '../../../verbs/decide-discrepancies.ts';
import { orderer, stopFor } from '../context/person.ts';
import { type Result, Stop } from '../context/result.ts';
import { withApp } from '../context/with-app.ts';
import type { Context } from '../context/world.ts';
import { readDecisions, type SheetDecision, says } from '../decisions/decision-sheet.ts';
import { leftOpen, problemLines } from '../kit/describe.ts';

/** `discrepancies --import FILE`: applies the decisions of an exported workbook, all or none. */
export async function importWorkbook(
  context: Context,
  file: string,
  options: Record<string, unknown>,
): Promise<Result> {
  if (['kind', 'batch', 'olderThan'].some((name) => options[name] !== undefined))
    throw new Stop(
      '--import takes the decisions that are in the file: leave --kind, --batch and --older-than out',
    );
  const path = resolve(context.cwd, file);
  const sheet = await readDecisions(path);
  return withApp(context, { level: 'local', use: 'writes' }, async (app) => {
    const look = async () => {
      const ids = sheet.asked.map(({ id }) => id);
      return sort(sheet.asked, await findByIds(app.ledger.db, ids));
    };
    const refuse = async (problems: Problem[]): Promise<Result> => {
      const all = [...sheet.problems, ...problems].toSorted((a, b) => a.row - b.row);
      return refused(path, all, await countOpen(app.ledger.db));
    };
    const { fresh, already, problems } = await look();
    if (sheet.problems.length + problems.length > 0) return refuse(problems);
    const done = await decideVerb.run(app, { decisions: groups(fresh) }, orderer(context));
    if (done.kind === 'refused') {
      // Something changed since the look above: the rows say what.
      const now = await look();
      if (now.problems.length === 0) throw stopFor(done);
      return refuse(now.problems);
    }
    const { changed, open } = done;
    const left = leftOpen(open);
    return {
      code: left.code,
      lines: [...told({ changed, already }, sheet.undecided), left.text],
      json: {
        shape: 'discrepancies --import',
        fields: { file: path, changed, already, undecided: sheet.undecided, open },
      },
    };
  });
}

type Fresh = { asked: SheetDecision; now: Discrepancy };

/** One decision for all rows that decide the same, bound to what the ledger showed of each. */
function groups(fresh: readonly Fresh[]): z.infer<typeof decideVerb.input>['decisions'] {
  const same = Map.groupBy(fresh, ({ asked: { verdict, note } }) => `${verdict} ${note}`);
  return [...same.values()].flatMap((rows) => {
    const [first] = rows;
    if (!first) return [];
    const { verdict, note } = first.asked;
    const shown = Object.fromEntries(rows.map(({ now }) => [now.id, discrepancyMark(now)]));
    return [{ verdict, note, ids: Object.keys(shown), shown }];
  });
}

/** Sorts the rows: to decide now, already decided the same way, and changed since the export. */
function sort(
  all: readonly SheetDecision[],
  found: readonly Discrepancy[],
): { fresh: Fresh[]; already: number; problems: Problem[] } {
  const known = new Map(found.map((one) => [one.id, one]));
  const fresh: Fresh[] = [];
  const problems: Problem[] = [];
  let already = 0;
  for (const asked of all) {
    const now = known.get(asked.id);
    const problem = now ? changedSince(asked, now) : unknownId(asked);
    if (now && isDecided(asked, now)) already += 1;
    else if (problem) problems.push(problem);
    else if (now) fresh.push({ asked, now });
  }
  return { fresh, already, problems };
}

/** True when the row's decision is the last one recorded. */
function isDecided(asked: SheetDecision, row: Discrepancy): boolean {
  const { verdict, note, expected, actual } = asked;
  const sameFacts = says(expected, row.expected) && says(actual, row.actual);
  const byPerson = row.state !== 'resolved' || row.resolved_by === 'person';
  return sameFacts && byPerson && row.state === stateAfter[verdict] && says(note, row.note);
}

function unknownId({ row, id }: SheetDecision): Problem {
  const problem = 'is no discrepancy of this ledger and mode';
  const fix = 'check that the workbook is of this ledger';
  return { row, column: 'discrepancy_id', value: id.slice(0, 100), problem, fix };
}

function changedSince({ row, ...asked }: SheetDecision, now: Discrepancy): Problem | undefined {
  for (const column of ['expected', 'actual', 'state'] as const) {
    if (says(asked[column], now[column])) continue;
    const state = column === 'state' ? `: it is ${now.state} now` : '';
    const value = hidden(String(asked[column] ?? '')).slice(0, 100);
    const fix = 'look again with counterfoil discrepancies, and decide in a new export';
    return { row, column, value, problem: `has changed since the export${state}`, fix };
  }
  return undefined;
}

/** Hides all but the last four of long digits: they may be an account number. */
function hidden(text: string): string {
  return text.replaceAll(/\d{6,}(?=\d{4})/g, (digits) => '*'.repeat(digits.length));
}

function refused(path: string, problems: Problem[], open: Record<string, number>): Result {
  const problem = `${path} was not imported: ${counted(problems.length, 'problem')}; nothing was changed`;
  const fields = { error: problem, file: path, changed: 0, problems, open };
  const json = { shape: 'discrepancies --import', fields } as const;
  return { code: 3, problem, lines: problemLines(problems, problems.length), json };
}

function told({ changed, already }: { changed: number; already: number }, undecided: number): string[] {
  const before = already > 0 ? `; ${already} were decided so before` : '';
  const nothing =
    already > 0
      ? 'nothing was changed: the file was imported before'
      : 'nothing was changed: no row has a decision';
  const lines = [changed > 0 ? `${changed} decided as the file says${before}` : nothing];
  if (undecided > 0)
    lines.push(`${undecided} row(s) have a note and no decision: nothing was done about them`);
  return lines;
}
