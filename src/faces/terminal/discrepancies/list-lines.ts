import { grouped } from '../../../core/domain/counted.ts';
import { plainKind } from '../../../core/domain/plain-kind.ts';
import { isUsable, type ListStanding } from '../../../core/domain/verdict.ts';
import type { Discrepancy } from '../../../core/storage/tables/tables.ts';
import { actionFor, commandFor } from '../../../words/discrepancy-words.ts';
import { readable } from '../../../words/readable.ts';
import { firstOf } from '../../../words/row-messages.ts';
import type { Screen } from '../context/result.ts';
import { discrepancyTable } from '../kit/open-table.ts';
import type { Terminal } from '../kit/terminal.ts';

/**
 * `all`: how many the filter finds, `open`: how many of them nobody works on yet. `list`: what the last run could compare
 * with; undefined before the first run.
 */
type View = {
  all: number;
  open: number;
  list: ListStanding | null | undefined;
  nowMs: number;
  terminal: Terminal;
};

/** Discrepancies as a table, each with what differs below it; then what to do, once for all that need the same. */
export function listScreen(found: readonly Discrepancy[], view: View): Screen {
  const { all, open, nowMs, terminal } = view;
  const unchecked = uncheckedText(view);
  if (all === 0) return { blocks: [[unchecked || 'no open discrepancies']] };
  const acknowledged = all > open ? `, ${grouped(`${all - open}`)} acknowledged` : '';
  const shown = found.map((one) => ({ ...one, which: nameOf(one), since: one.first_seen_at }));
  const [titles = '', ...rows] = discrepancyTable(shown, terminal, nowMs);
  const listed = found.flatMap((one, index) => [rows[index] ?? '', ...detailLines(one, terminal)]);
  const rest = all - found.length;
  const [first] = found;
  if (rest > 0)
    listed.push(
      `  … and ${grouped(`${rest}`)} more: narrow them with --kind, --batch or --older-than, or take all with --export FILE.xlsx`,
    );
  return {
    blocks: [
      [
        `${grouped(`${open}`)} open${acknowledged}; the gravest and oldest first.`,
        ...(unchecked === '' ? [] : [`Others ${unchecked}.`]),
      ],
      [titles, ...listed],
      ['What to do', ...actionLines(found, terminal)],
    ],
    end: {
      Next: first ? commandFor(first) : '',
      'When dealt with': 'counterfoil resolve ID --note "what was done"',
    },
  };
}

/** Why nothing may say that none is open (P35); empty after a run with a usable list. */
function uncheckedText({ list }: View): string {
  if (list === undefined) return 'not checked: nothing was reconciled yet';
  return isUsable(list) ? '' : 'not checked: the last reconciliation had no list to compare with';
}

function nameOf({ reference, subject }: Discrepancy): string {
  return reference || subject;
}

function detailLines(one: Discrepancy, { time, paint }: Terminal): string[] {
  const state = one.state === 'acknowledged' ? `${paint('doubt', 'acknowledged')}, ` : '';
  const text = `    ${one.id}  ${state}expected ${one.expected || '-'}, found ${one.actual || '-'}`;
  return [text, ...(one.note === '' ? [] : [`      note: ${one.note}`])].map((line) =>
    readable(oneLine(line), time),
  );
}

/** Without line ends: names and notes from outside stay in their line. */
function oneLine(text: string): string {
  return text.replaceAll(/[\n\t]/g, ' ');
}

/** What to do, each advice once with the kind and the first of those that need it. */
function actionLines(found: readonly Discrepancy[], { time }: Terminal): string[] {
  const advised = found.map((one) => ({
    what: plainKind(one.kind),
    name: nameOf(one),
    action: readable(oneLine(actionFor(one)), time),
  }));
  const groups = Map.groupBy(advised, ({ what, action }) => `${what}\n${action}`);
  return [...groups.values()].flatMap((all) => {
    const [first] = all;
    if (!first) return [];
    return [`  ${first.what}: ${firstOf(all.map(({ name }) => name))}`, `    ${first.action}`];
  });
}
