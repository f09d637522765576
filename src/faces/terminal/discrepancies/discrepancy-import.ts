import { resolve } from 'node:path';
import { countOpen } from '../../../books/discrepancies/discrepancies.sql.ts';
import { decide, findByIds, stateAfter } from '../../../books/discrepancies/discrepancy-decisions.sql.ts';
import { counted } from '../../../core/domain/counted.ts';
import type { Problem } from '../../../core/domain/problem.ts';
import type { Discrepancy } from '../../../core/storage/tables/tables.ts';
import { person } from '../context/person.ts';
import { type Result, Stop } from '../context/result.ts';
import { withApp } from '../context/with-app.ts';
import type { Context } from '../context/world.ts';
import { readDecisions, type SheetDecision, says } from '../decisions/decision-sheet.ts';
import { leftOpen, problemLines } from '../kit/describe.ts';

type Outcome =
  | { kind: 'refused'; problems: Problem[] }
  | { kind: 'applied'; changed: number; already: number };

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
    const outcome: Outcome = await app.ledger.write(async (trx) => {
      const ids = sheet.asked.map(({ id }) => id);
      const known = new Map((await findByIds(trx, ids)).map((one) => [one.id, one]));
      const { fresh, already, problems } = sort(sheet.asked, known);
      const all = [...sheet.problems, ...problems].toSorted((a, b) => a.row - b.row);
      if (all.length > 0) return { kind: 'refused', problems: all };
      let changed = 0;
      for (const group of Map.groupBy(fresh, ({ verdict, note }) => `${verdict} ${note}`).values()) {
        const [first] = group;
        if (!first) continue;
        const word = { verdict: first.verdict, note: first.note, person: person(), at: app.clock.iso() };
        changed += await decide(trx, { ids: group.map(({ id }) => id) }, word);
      }
      return { kind: 'applied', changed, already };
    });
    const open = await countOpen(app.ledger.db);
    if (outcome.kind === 'refused') return refused(path, outcome.problems, open);
    const left = leftOpen(open);
    return {
      code: left.code,
      lines: [...told(outcome, sheet.undecided), left.text],
      json: {
        shape: 'discrepancies --import',
        fields: {
          file: path,
          changed: outcome.changed,
          already: outcome.already,
          undecided: sheet.undecided,
          open,
        },
      },
    };
  });
}

/** Sorts the rows: to decide now, already decided the same way, and changed since the export. */
function sort(
  asked: readonly SheetDecision[],
  known: ReadonlyMap<string, Discrepancy>,
): { fresh: SheetDecision[]; already: number; problems: Problem[] } {
  const fresh: SheetDecision[] = [];
  const problems: Problem[] = [];
  let already = 0;
  for (const one of asked) {
    const row = known.get(one.id);
    const problem = row ? changedSince(one, row) : unknownId(one);
    if (row && isDecided(one, row)) already += 1;
    else if (problem) problems.push(problem);
    else fresh.push(one);
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
