import { amountText, counted } from '../../../core/domain/counted.ts';
import { visible } from '../../../core/domain/hidden.ts';
import { leftOutCollectionsText } from '../../../core/domain/left-out.ts';
import { type Problem, problemSentence } from '../../../core/domain/problem.ts';
import type { WaivedListing } from '../../../core/ledger/barriers.ts';
import type { LeftOutJson } from '../../../core/shapes/parts.ts';
import type { Discrepancy, Webhook } from '../../../core/storage/tables/tables.ts';
import { type HaltAdvice, haltAdvice } from '../../../sending/halt.ts';
import type { releaseBatch } from '../../../sending/holds.sql.ts';
import type { SaidHalt } from '../../../words/halt-words.ts';
import { readable } from '../../../words/readable.ts';
import { webhookText } from '../../../words/word-texts.ts';
import { said } from '../../json/order-json.ts';
import { withheldLines } from '../status/unknown-lines.ts';
import type { Terminal } from './terminal.ts';

/** `NGN 1,200,000.00, ZAR 5,000.00`; `nothing` for none. */
export function totalsText(totals: Record<string, string>): string {
  const parts = Object.entries(totals).map(([currency, amount]) => amountText(currency, amount));
  return parts.length > 0 ? parts.join(', ') : 'nothing';
}

/** `12 success, 1 failed`; `none` for none. */
export function countsText(counts: Record<string, number | undefined>): string {
  const parts = Object.entries(counts).flatMap(([name, n]) => (n ? [`${n} ${name}`] : []));
  return parts.length > 0 ? parts.join(', ') : 'none';
}

/** A title and a line for each thing under it; nothing where there is none. */
export function textSection<T>(title: string, things: readonly T[], line: (thing: T) => string): string[] {
  return things.length === 0 ? [] : ['', title, ...things.map((thing) => `  ${line(thing)}`)];
}

export function webhookLine(one: Webhook, { time }: Pick<Terminal, 'time'>): string {
  return `${time(one.received_at)}  received ${counted(one.deliveries, 'time')}: ${webhookText(one)}`;
}

export function discrepancyLine(
  one: Pick<Discrepancy, 'first_seen_at' | 'id' | 'kind' | 'state' | 'expected' | 'actual'>,
  { time }: Pick<Terminal, 'time'>,
): string {
  return `${time(one.first_seen_at)}  ${one.id} ${one.kind} ${one.state}: expected ${one.expected}, found ${one.actual}`;
}

/** The discrepancies that stay open, with exit code 4 while there are any. */
export function leftOpen(open: Record<string, number>): { code: number; text: string } {
  return Object.keys(open).length === 0
    ? { code: 0, text: 'nothing is open' }
    : { code: 4, text: `still open: ${countsText(open)}` };
}

/** The first problems as sentences, and how many more there are. */
export function problemLines(problems: readonly Problem[], count: number): string[] {
  const shown = problems.slice(0, 20).map((problem) => `  ${problemSentence(problem)}`);
  return count > shown.length ? [...shown, `  … and ${count - shown.length} more`] : shown;
}

/** An accepted file of expected collections, and its rows that were left out. */
export function collectionLines(
  one: { id: string; rows: number; totals: Record<string, string> } & LeftOutJson,
): string[] {
  const taken = `${one.id}: ${counted(one.rows, 'collection')} expected, ${totalsText(one.totals)}`;
  const { skipped: rows, problem_count: problemCount, errors_file, invalid_file } = one;
  if (rows === 0 || problemCount === undefined) return [taken];
  const left = { rows, problemCount, errorsFile: errors_file ?? null, invalidFile: invalid_file ?? null };
  return [taken, `  ${leftOutCollectionsText(left)}`];
}

type Retried = { row: number; reference: string; pays_again: string; state: string; changed: string[] };

/** The payouts that a file's rows would pay again, and where the account differs. Further rows are counted. */
export function retryLines(retries: readonly Retried[]): string[] {
  const lines = retries.slice(0, 20).map(({ row, reference, pays_again, state, changed }) => {
    const where = changed.length > 0 ? `, with another ${changed.join(' and ')}` : ', to the same account';
    return `  row ${row}: would pay ${pays_again} (${state}) again as ${reference}${where}`;
  });
  const rest = retries.length - lines.length;
  return rest > 0 ? [...lines, `  … and ${rest} more`] : lines;
}

export function standText(ready: number): string {
  return ready === 1 ? '1 payout waits' : `${ready} payouts wait`;
}

const before: Record<Exclude<HaltAdvice, 'as_the_cause_says'>, string> = {
  doctor: ' First counterfoil doctor, which shows what was signed, and with which key.',
  reconcile: ' First counterfoil reconcile, which asks what became of them.',
  none: '',
};

/** The decision to send new batches without a complete list, and what the list did not prove (P32). */
export function waivedText(
  { at, by, note, notProven }: WaivedListing,
  time: (instant: string) => string,
): string {
  return `New batches are sent without a complete list since ${time(at)}, as ${by} decided: "${visible(note)}". Not proven: ${readable(notProven, time)}`;
}

/** Why nothing is sent, and what to do: release a halt (P11), or follow a ledger barrier's own text (P25, P26). */
export function haltText({ at, cause, kinds }: SaidHalt, { time }: Pick<Terminal, 'time'>): string {
  const advice = haltAdvice(kinds);
  const since = `since ${time(at)}: ${readable(cause, time)}.`;
  if (advice === 'as_the_cause_says') return since;
  return `${since}${before[advice]} When the cause is gone: counterfoil release --mode`;
}

type Released = Awaited<ReturnType<typeof releaseBatch>>;

/** True when a release left payouts that a person must look at. */
export function notReleased({ kept, doubted }: Released): boolean {
  return kept + doubted > 0;
}

/** The payouts that were not released, and why: some stay held, some are unknown again. */
export function notReleasedLines({ kept, first, doubted, firstDoubted }: Released): string[] {
  const unknown = said(firstDoubted).map(({ reference, why }) => `  unknown: ${reference}: ${why}`);
  const rest = doubted - firstDoubted.length;
  return [
    ...(kept > 0
      ? [`${kept} ${kept === 1 ? 'stays' : 'stay'} held:`, ...withheldLines(kept, said(first))]
      : []),
    ...(doubted > 0 ? [`${doubted} ${doubted === 1 ? 'is' : 'are'} unknown again, and not sent:`] : []),
    ...unknown,
    ...(rest > 0 ? [`  and ${rest} more like these`] : []),
  ];
}
