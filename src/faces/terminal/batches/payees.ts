import { maskAccount } from '../../../core/domain/redact.ts';
import { listPayees } from '../../../core/ledger/payee-list.ts';
import { payeeJson } from '../../json/list-json.ts';
import { payeesCsv } from '../../json/payees-csv.ts';
import { Stop } from '../context/result.ts';
import { withApp } from '../context/with-app.ts';
import type { Handler } from '../context/world.ts';
import { terminalOf } from '../kit/terminal.ts';
import { readLimit } from './payouts.ts';

/** `payees`: lists the accounts that were paid before, with every name under which they were. */
export const payees: Handler = async (context, _args, options) => {
  const limit = readLimit(options.limit);
  if (options.csv && context.options.json) throw new Stop('name --json or --csv, not both');
  return withApp(context, { level: 'looking', use: 'reads' }, async (app) => {
    const account = options.fullAccounts ? (text: string) => text : maskAccount;
    const found = await listPayees(app.ledger.db, { changed: options.changed === true, limit });
    const listed = found.map((one) => payeeJson(one, account));
    if (options.csv) {
      context.write(payeesCsv(listed, app.config.reports));
      return { code: 0 };
    }
    const terminal = terminalOf(context, app.config, app.clock.iso());
    const lines = terminal.table(
      [
        { title: 'Account', cell: (one) => one.account_number },
        { title: 'Bank', cell: (one) => one.bank_code },
        { title: 'Currency', cell: (one) => one.currency },
        { title: 'Names', cell: (one) => one.names.join(' / '), cut: true },
        { title: 'First paid', cell: (one) => terminal.time(one.first_paid_at), right: true },
        { title: 'Last paid', cell: (one) => terminal.time(one.last_paid_at), right: true },
        { title: 'Batches', cell: (one) => String(one.batches), right: true },
      ],
      listed,
    );
    return {
      code: 0,
      lines: listed.length > 0 ? lines : ['no payee was paid yet'],
      json: { shape: 'payees', fields: { payees: listed } },
    };
  });
};
