import type { App } from '../../../app/app.ts';
import { amountText, counted, grouped } from '../../../core/domain/counted.ts';
import { dayOrInstant } from '../../../core/domain/local-day.ts';
import { exponentOf } from '../../../core/domain/money.ts';
import { likely } from '../../../core/domain/nearest.ts';
import { type PayoutState, payoutStates } from '../../../core/domain/payout.ts';
import { maskAccount } from '../../../core/domain/redact.ts';
import { listPayouts, type PayoutFilter, sumPayouts } from '../../../core/ledger/payout-list.ts';
import type { ListedPayoutJson, PayoutsJson } from '../../../core/shapes/list-shapes.ts';
import { stateWords } from '../../../words/state-words.ts';
import { listedPayoutJson, payoutTotalsJson } from '../../json/list-json.ts';
import { payoutsCsv } from '../../json/payouts-csv.ts';
import { namedBatch } from '../context/named-batch.ts';
import { didYouMean, Stop } from '../context/result.ts';
import { withApp } from '../context/with-app.ts';
import type { Handler } from '../context/world.ts';
import { payoutColours } from '../kit/colours.ts';
import type { TerminalColumn } from '../kit/table.ts';
import { type Terminal, terminalOf } from '../kit/terminal.ts';

/** `payouts`: lists payouts that match, the newest first, with the totals of all that match. */
export const payouts: Handler = async (context, _args, options) => {
  const limit = readLimit(options.limit);
  if (options.csv && context.options.json) throw new Stop('name --json or --csv, not both');
  return withApp(context, { level: 'looking', use: 'reads' }, async (app) => {
    const filter = await readFilter(app, options);
    const account = options.fullAccounts ? (text: string) => text : maskAccount;
    const pages = listPayouts(app.ledger.db, filter, limit);
    if (options.csv) {
      for await (const text of payoutsCsv(pages, app.config.reports, account))
        if (!context.write(text)) break;
      return { code: 0 };
    }
    const listed: ListedPayoutJson[] = [];
    for await (const page of pages) listed.push(...page.map((one) => listedPayoutJson(one, account)));
    const fields = { payouts: listed, ...payoutTotalsJson(await sumPayouts(app.ledger.db, filter)) };
    const terminal = terminalOf(context, app.config, app.clock.iso());
    return {
      code: 0,
      lines: listLines(terminal, fields, Boolean(options.fullAccounts)),
      json: { shape: 'payouts', fields },
    };
  });
};

/** Reads `--limit`. Anything but a whole number above zero stops with 2. */
export function readLimit(limit: unknown): number {
  if (typeof limit === 'string' && /^[1-9]\d{0,8}$/.test(limit)) return Number(limit);
  throw new Stop(`--limit: expected a whole number above zero, got "${String(limit)}"`);
}

/** Reads the options that narrow the list. An unknown name or a bad date stops with 2. */
async function readFilter(app: App<'looking'>, options: Record<string, unknown>): Promise<PayoutFilter> {
  const text = (name: string): string | undefined => {
    const value = options[name];
    return typeof value === 'string' ? value : undefined;
  };
  const [state, batch, currency, since] = [text('state'), text('batch'), text('currency'), text('since')];
  return {
    state: state === undefined ? undefined : readState(state),
    batch: batch === undefined ? undefined : (await namedBatch(app, batch)).id,
    currency: currency === undefined ? undefined : readCurrency(currency),
    since: since === undefined ? undefined : readSince(since, app.config.reports.timezone),
    reference: text('reference'),
  };
}

/** A state by its name, or by its word in `show`, `status` and the dashboard. */
function readState(text: string): PayoutState {
  const state = payoutStates.find((one) => one === text || stateWords[one] === text);
  if (state) return state;
  const meant = didYouMean(likely(text, payoutStates), '.');
  throw new Stop(`--state: there is no state "${text}"${meant} There are ${payoutStates.join(', ')}`);
}

function readCurrency(text: string): string {
  const currency = text.toUpperCase();
  if (exponentOf(currency) !== undefined) return currency;
  throw new Stop(`--currency: expected a currency of ISO 4217 such as NGN, got "${text}"`);
}

/** The instant, ISO UTC, that a person wrote as a day or an ISO time in this zone. Anything else stops with 2. */
function readSince(text: string, zone: string): string {
  const instant = dayOrInstant(text, zone);
  if (instant !== null) return instant;
  throw new Stop(`--since: expected a day or a time such as 2026-11-22 or 2026-11-22T16:00, got "${text}"`);
}

/** Columns that need a wide terminal; `--json` and `--csv` always have them. */
const wideEnoughForAccounts = 100;
const wideEnoughForBatches = 130;

function listLines(
  terminal: Terminal,
  { payouts: listed, matching, totals }: PayoutsJson,
  full: boolean,
): string[] {
  const [first] = listed;
  if (!first) return ['no payouts match'];
  const all: (TerminalColumn<ListedPayoutJson> & { from?: number })[] = [
    { title: 'Reference', cell: (one) => one.reference },
    { title: 'State', cell: ({ state }) => ({ text: state, colour: payoutColours[state] }) },
    { title: 'Amount', cell: ({ currency, amount }) => amountText(currency, amount), right: true },
    { title: 'Beneficiary', cell: (one) => one.account_name, cut: true },
    { title: 'Account', cell: (one) => one.account_number, from: full ? 0 : wideEnoughForAccounts },
    { title: 'Batch', cell: (one) => one.batch, from: wideEnoughForBatches },
    { title: 'Changed', cell: (one) => terminal.time(one.updated_at), right: true },
  ];
  const sums: TerminalColumn<[string, PayoutsJson['totals'][string]]>[] = [
    { title: 'Total', cell: ([currency]) => currency },
    { title: 'Payouts', cell: ([, { count }]) => grouped(`${count}`), right: true },
    { title: 'Amount', cell: ([, { amount }]) => grouped(amount), right: true },
  ];
  const rest = matching - listed.length;
  return [
    ...terminal.table(
      all.filter(({ from = 0 }) => terminal.width >= from),
      listed,
    ),
    ...(rest > 0 ? ['', `  … and ${counted(rest, 'older payout')}: --limit ${matching} lists all`] : []),
    '',
    ...terminal.table(sums, Object.entries(totals)),
    '',
    `Next: counterfoil show ${first.reference}`,
  ];
}
