import type { App } from '../../../app/app.ts';
import { readableTime } from '../../../books/presentation.ts';
import { grouped } from '../../../core/domain/counted.ts';
import { lineWords } from '../../../words/line-words.ts';
import { type Result, Stop } from '../context/result.ts';
import type { Context } from '../context/world.ts';
import { pathText } from '../kit/file-lines.ts';

type Comparison = Extract<
  Awaited<ReturnType<App<'local'>['reporting']['compareRuns']>>,
  { kind: 'compared' }
>['comparison'];
type LineChange = Comparison['lines'][number];

/** How many payouts are named under each line; the file has all of them. */
const most = 10;

/** `report RUN --against RUN`: explains what changed between two runs, line by line. Stops with 2 for an unknown run. */
export async function compareRuns(
  context: Context,
  app: App<'local'>,
  names: [string, string],
): Promise<Result> {
  const done = await app.reporting.compareRuns(names);
  if (done.kind === 'refused') throw new Stop(done.why);
  const { comparison, file, began } = done;
  const named = (run: 'run' | 'against'): string =>
    `${readableTime(began[run], app.config.reports.timezone)} (${comparison[run]})`;
  const { opened, closed } = comparison.discrepancies;
  const changed = comparison.lines.filter((line) => line.moved.length > 0 || isChanged(line));
  const lines = [
    `reconciliation of ${named('run')} against that of ${named('against')}`,
    ...(changed.length === 0 ? ['the statements are the same'] : changed.flatMap(lineText)),
    ...discrepancyText('opened', opened),
    ...discrepancyText('closed', closed),
    '',
    `File: ${pathText(context.cwd, file)}`,
  ];
  return {
    isNews: true,
    code: 0,
    screen: { blocks: [lines] },
    json: { shape: 'report --against', fields: { ...comparison, file } },
  };
}

function isChanged({ difference }: LineChange): boolean {
  return difference.count !== 0 || /[1-9]/.test(difference.amount);
}

function lineText({ currency, line, was, now, difference, follows_from, moved }: LineChange): string[] {
  const sign = difference.amount.startsWith('-') ? '' : '+';
  const head =
    line === 'unreadable'
      ? `${currency} ${lineWords[line]}: ${was.count} → ${now.count} transfers`
      : `${currency} ${lineWords[line]}: ${grouped(was.amount)} → ${grouped(now.amount)} (${sign}${grouped(difference.amount)})`;
  if (follows_from) return [`${head}, follows from ${follows_from.map((one) => lineWords[one]).join(', ')}`];
  const shown = moved.slice(0, most).map(({ reference, transfer_id, from, to, amount, why }) => {
    const states = from === to ? to : `${from || 'not there'} → ${to || 'not there'}`;
    return `    ${reference || transfer_id}  ${states}  ${grouped(amount)}${why === '' ? '' : `  ${why}`}`;
  });
  return [head, ...shown, ...more(moved.length - shown.length)];
}

function discrepancyText(what: string, all: Comparison['discrepancies']['opened']): string[] {
  if (all.length === 0) return [];
  const shown = all
    .slice(0, most)
    .map(({ discrepancy_id, kind, reference }) => `    ${discrepancy_id} ${kind} ${reference}`);
  return [`discrepancies ${what}: ${all.length}`, ...shown, ...more(all.length - shown.length)];
}

function more(count: number): string[] {
  return count > 0 ? [`    and ${count} more`] : [];
}
