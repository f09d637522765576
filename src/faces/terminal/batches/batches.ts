import type { App } from '../../../app/app.ts';
import { counted, grouped } from '../../../core/domain/counted.ts';
import { batchCounts } from '../../../core/ledger/batches.ts';
import type { ListedBatchJson } from '../../../core/shapes/list-shapes.ts';
import { listedBatchJson } from '../../json/list-json.ts';
import type { Result } from '../context/result.ts';
import { withApp } from '../context/with-app.ts';
import type { Context } from '../context/world.ts';
import { batchColours } from '../kit/colours.ts';
import type { TerminalColumn } from '../kit/table.ts';
import { type Terminal, terminalOf } from '../kit/terminal.ts';

/** The newest batches are printed; `--json` has all of them. */
const mostShown = 50;

/** `batches`: lists batches, the newest first, with what is paid and what is open. */
export async function batches(context: Context): Promise<Result> {
  return withApp(context, { level: 'looking', use: 'reads' }, async (app: App<'looking'>) => {
    const all = (await batchCounts(app.ledger.db)).map((one) => listedBatchJson(one)).toReversed();
    const terminal = terminalOf(context, app.config, app.clock.iso());
    return { code: 0, lines: listLines(terminal, all), json: { shape: 'batches', fields: { batches: all } } };
  });
}

/** A batch in one of its currencies; only the first line names the batch. */
type Line = { batch: ListedBatchJson; currency: string; first: boolean };

/** How much of a batch's name the columns that may go leave whole: the date and hash, and a name of nine letters. */
const leastOfName = 24;

function listLines(terminal: Terminal, all: ListedBatchJson[]): string[] {
  const shown = all.slice(0, mostShown);
  const [newest] = shown;
  if (!newest) return ['no batches: nothing was taken in yet', '', 'Next: counterfoil submit FILE.csv'];
  const rows = shown.flatMap((batch): Line[] => {
    const currencies = Object.keys(batch.totals).toSorted();
    return (currencies.length > 0 ? currencies : ['']).map((currency, at) => {
      return { batch, currency, first: at === 0 };
    });
  });
  const amount = (text: string | undefined): string => grouped(text ?? '');
  const columns: TerminalColumn<Line>[] = [
    // A prefix that only one batch has is enough in every command.
    { title: 'Batch', cell: ({ batch, first }) => (first ? batch.batch : ''), cut: true, least: leastOfName },
    {
      title: 'State',
      cell: ({ batch: { state }, first }) => ({ text: first ? state : '', colour: batchColours[state] }),
    },
    { title: 'Rows', cell: ({ batch, first }) => (first ? grouped(`${batch.rows}`) : ''), right: true },
    { title: '', cell: ({ currency }) => currency },
    {
      title: 'Total',
      cell: ({ batch, currency }) => amount(batch.totals[currency]),
      right: true,
      // What is paid, open and ended together.
      spare: true,
    },
    { title: 'Paid', cell: ({ batch, currency }) => amount(batch.paid[currency]?.amount), right: true },
    { title: 'Open', cell: ({ batch, currency }) => amount(batch.open[currency]?.amount), right: true },
  ];
  const rest = all.length - shown.length;
  return [
    ...terminal.table(columns, rows),
    ...(rest > 0 ? ['', `  … and ${counted(rest, 'older batch', 'older batches')}: --json lists all`] : []),
    '',
    `Next: counterfoil payouts --batch ${newest.batch}`,
  ];
}
