import { countFiltered, countOpen, listOpen } from '../../../books/discrepancies/discrepancies.sql.ts';
import { lastRun } from '../../../books/run-verdicts.sql.ts';
import { foreignOrigins } from '../../../core/ledger/origins.ts';
import type { Discrepancy } from '../../../core/storage/tables/tables.ts';
import { discrepanciesJson } from '../../json/list-json.ts';
import { Stop } from '../context/result.ts';
import { withApp } from '../context/with-app.ts';
import type { Handler } from '../context/world.ts';
import { terminalOf } from '../kit/terminal.ts';
import { readFilter } from './discrepancy-filter.ts';
import { listScreen } from './list-lines.ts';

/** How many are printed; `--json` and `--export` have all of them. */
const shown = 100;

/** `discrepancies`: lists what is open, the gravest and oldest first, each with what to do. Exits 4 while any is open. */
export const discrepancies: Handler = async (context, args, options) => {
  const [verb, ...ids] = args;
  const words = () => import('./decide-discrepancies.ts');
  if (verb === 'ack') return (await words()).acknowledge(context, ids, options);
  if (verb === 'resolve') return (await words()).resolve(context, ids, options);
  if (verb !== undefined)
    throw new Stop(`discrepancies has no "${verb}": use ack ID… or resolve ID…, or no verb for the list`);
  if (typeof options.note === 'string') throw new Stop('--note goes with ack or resolve');
  if (typeof options.export === 'string' && typeof options.import === 'string')
    throw new Stop('name --export or --import, not both');
  if (typeof options.export === 'string')
    return (await import('./export-workbook.ts')).exportWorkbook(context, options.export, options);
  if (typeof options.import === 'string')
    return (await import('./discrepancy-import.ts')).importWorkbook(context, options.import, options);
  return withApp(context, { level: 'local', use: 'reads' }, async (app) => {
    const filter = await readFilter(app, options);
    const counts = await countFiltered(app.ledger.db, filter);
    const found = await listOpen(app.ledger.db, filter, context.options.json ? undefined : shown);
    const sum = (state?: Discrepancy['state']): number =>
      counts.reduce((n, row) => n + (state === undefined || row.state === state ? Number(row.n) : 0), 0);
    const open = sum('open');
    const terminal = terminalOf(context, app.config, app.clock.iso());
    const last = await lastRun(app.ledger.db, await foreignOrigins(app.ledger.db, app.account));
    return {
      code: open > 0 ? 4 : 0,
      screen: listScreen(found, { all: sum(), open, list: last?.list, nowMs: app.clock.now(), terminal }),
      json: {
        shape: 'discrepancies',
        fields: {
          discrepancies: context.options.json
            ? await discrepanciesJson(app.ledger.db, found, app.clock.iso())
            : [],
          open: await countOpen(app.ledger.db),
        },
      },
    };
  });
};
