import type { PaidSum } from '../../../books/month-facts.sql.ts';
import { money } from '../../../books/presentation.ts';
import { counted, grouped } from '../../../core/domain/counted.ts';
import {
  type CountedState,
  countedStates,
  isReplaced,
  type PayoutState,
} from '../../../core/domain/payout.ts';
import { plainKind } from '../../../core/domain/plain-kind.ts';
import type { Config } from '../../../core/settings/settings.ts';
import { haltAdvice } from '../../../sending/halt.ts';
import { verdictWords } from '../../../words/verdict-words.ts';
import type { LedgerFigures } from '../../admin/ledger-figures.sql.ts';
import { type Html, html } from '../kit/html.ts';
import { separated, way } from '../kit/parts.ts';
import { wideTable } from '../kit/table.ts';
import { batchTable } from './batch-parts.ts';
import { decision } from './forms.ts';
import type { View } from './frame.ts';
import { laterTable } from './later-view.ts';
import { type DashboardFacts, decidedIn } from './look.ts';
import { machineryPart } from './machinery-view.ts';
import { isQuiet, needsOf } from './needs.ts';
import { needsTable, needsTitle } from './needs-table.ts';
import { mostPaidLately, type PaidLately } from './paid-lately.sql.ts';
import {
  ago,
  amount,
  countText,
  dashboardBanner,
  panel,
  sentence,
  stateText,
  time,
  to,
  verdictText,
  wholeAmount,
} from './parts.ts';
import { stateList, unpaidElsewhere } from './unpaid-view.ts';

type Schedules = Config['schedules'];

/** The page that answers with one look: is everything fine, and if not, what is wrong? */
export function todayView(
  look: DashboardFacts,
  view: View,
  { schedules, limits }: { schedules: Schedules; limits: ReadonlyMap<string, bigint> },
): Html {
  const needs = needsOf(look, view);
  return html`${answer(look, view, { needs, schedules })}
${tiles(look, view)}
${panel('Needs a person', needsTable(needs, look, view))}
<div class="columns"><div>
${panel('Batches of today, and not done', batchesPart(look, view))}
${panel('Money by state', moneyTable(look, view))}
</div><div>
${look.later.ready.length + (look.later.held?.length ?? 1) > 0 && panel('Goes out later', laterTable(look.later, limits))}
${machineryPart(look, view, schedules)}
${
  look.halt === null &&
  decision(view, {
    id: 'halt',
    name: 'Stop all sending',
    action: '/halt',
    sure: 'Hold everything until somebody releases it',
  })
}
</div></div>`;
}

function answer(
  look: DashboardFacts,
  view: View,
  { needs, schedules }: { needs: ReturnType<typeof needsOf>; schedules: Schedules },
): Html {
  if (look.halt) return haltBanner(look, view);
  const sends =
    schedules.submit.trim() === ''
      ? 'Sending by schedule is off: schedules.submit is empty.'
      : 'Sending is on.';
  if (!isQuiet(look)) return dashboardBanner('warn', needsTitle(needs), html`<p>${sends}</p>`);
  if (look.lastRun === null)
    return dashboardBanner(
      'warn',
      'Nothing was compared with the service yet',
      html`<p>${sends} The first reconciliation shows whether everything is fine.</p>`,
    );
  if (look.lastRun.verdict === 'none')
    return dashboardBanner(
      'none',
      'Nothing to state',
      html`<p>${sends} Nothing waits for a person. ${verdictWords.none.sentence}</p>`,
    );
  return dashboardBanner('good', 'Everything is fine', html`<p>${sends} Nothing waits for a person.</p>`);
}

const adviceWords: Record<ReturnType<typeof haltAdvice>, string> = {
  as_the_cause_says: '',
  doctor: 'First let the operator’s doctor show what was signed, and with which key.',
  reconcile: 'First “Reconcile now” on Runs, which asks what became of them.',
  none: '',
};

function haltBanner({ halt, haltMarks, figures }: DashboardFacts, view: View): Html {
  if (!halt) return html``;
  const advice = haltAdvice(halt.kinds);
  const waiting = countIn(figures, ['ready', 'held']);
  const release =
    advice !== 'as_the_cause_says' &&
    decision(view, {
      id: 'release',
      name: 'Release',
      action: '/release',
      sure: 'The cause is gone: payouts that are ready may be sent',
      shown: haltMarks,
    });
  return dashboardBanner(
    'bad',
    `Sending is halted`,
    html`<p>Since ${time(halt.at, view)}: ${sentence(halt.cause, view)}. ${counted(waiting, 'payout')} ${waiting === 1 ? 'waits' : 'wait'}. ${adviceWords[advice]}</p>${release}`,
  );
}

function countIn({ payouts }: LedgerFigures, states: readonly CountedState[]): number {
  return payouts.filter(({ state }) => states.includes(state)).reduce((sum, { count }) => sum + count, 0);
}

function sumsIn({ payouts }: LedgerFigures, states: readonly CountedState[]): Html[] {
  const byCurrency = Map.groupBy(
    payouts.filter(({ state }) => states.includes(state)),
    ({ currency }) => currency,
  );
  return [...byCurrency].flatMap(([currency, some]) => {
    const minor = some.reduce((sum, one) => sum + one.amount, 0n);
    return minor === 0n ? [] : [html`<small>${amount(currency, minor)}</small>`];
  });
}

function tiles(look: DashboardFacts, view: View): Html {
  const { figures } = look;
  const oldest = (states: readonly PayoutState[]): Html[] => {
    const [since] = figures.oldest
      .filter(({ state }) => states.includes(state))
      .map((one) => one.since)
      .toSorted();
    return since === undefined ? [] : [html`<small>oldest ${ago(since, view)}</small>`];
  };
  const tile = (name: string, states: readonly PayoutState[]): Html =>
    html`<div class="tile"><dt>${name}</dt><dd>${tileCount(figures, states, view)}${sumsIn(figures, states)}${oldest(states)}</dd></div>`;
  return html`<dl class="tiles">
${tile('Waiting', ['ready', 'held'])}
${tile('In flight', ['sending', 'pending'])}
<div class="tile"><dt>Paid today</dt><dd>${paidTile(look.paid)}</dd></div>
${tile('Unknown', ['unknown'])}
<div class="tile"><dt>Paid twice?</dt><dd>${paidTwiceTile(look, view)}</dd></div>
<div class="tile"><dt>Last verdict</dt><dd>${verdictTile(look, view)}</dd></div>
</dl>`;
}

/** How many there are, with the way to each list that is counted. */
function tileCount(figures: LedgerFigures, states: readonly PayoutState[], view: View): Html {
  const number = (some: readonly PayoutState[]): string => countText(countIn(figures, some));
  const [first, ...others] = states.filter((state) => countIn(figures, [state]) > 0);
  if (first === undefined) return html`<b>${number(states)}</b>`;
  if (others.length === 0) return listWay(first, view, html`<b>${number(states)}</b>`);
  const each = [first, ...others].map((one) => listWay(one, view, html`${number([one])} ${stateText(one)}`));
  return html`<b>${number(states)}</b><small>${separated(each, ' · ')}</small>`;
}

function batchesPart({ batches }: DashboardFacts, view: View): Html {
  if (batches.looks.length === 0)
    return html`<p>No batch was taken in today, and none is open. <a href="/batches">All batches</a></p>`;
  return html`${batchTable('Batches of today, and open ones', batches.looks, view, { short: true })}
${batches.more > 0 && html`<p>… and ${counted(batches.more, 'more open batch', 'more open batches')}: <a href="/batches">all batches</a></p>`}`;
}

/** The way to the list of a state; how a payout counts that is paid again is no state of its own. */
function listWay(state: CountedState, view: View, name: Html | string = stateText(state)): Html {
  return isReplaced(state) ? html`${name}` : way(view, stateList(state), name);
}

function moneyTable({ figures: { payouts }, findings }: DashboardFacts, view: View): Html {
  const currencies = [...new Set(payouts.map(({ currency }) => currency))];
  if (payouts.every(({ count }) => count === 0)) return html`<p>The ledger holds no payout yet.</p>`;
  const rows = countedStates.flatMap((state) => {
    const some = payouts.filter((one) => one.state === state && one.count > 0);
    if (some.length === 0) return [];
    const cells = currencies.map((currency) => {
      const one = some.find((figure) => figure.currency === currency);
      return one ? grouped(money(one.amount, currency)) : '–';
    });
    return [[listWay(state, view), countText(some.reduce((n, { count }) => n + count, 0)), ...cells]];
  });
  const columns = currencies.map((currency) => ({ number: currency }));
  return html`${wideTable('Money by state', ['State', { number: 'Payouts' }, ...columns], rows)}
${unpaidElsewhere(payouts, findings)}`;
}

/** What was paid today and in this month, with the way to the list of both, the newest first. */
function paidTile({ month, today, inMonth }: PaidLately): Html {
  const sumsOf = (sums: readonly PaidSum[]): Html[] =>
    sums.map(({ currency, minor }) => html`<small>${amount(currency, minor)}</small>`);
  const count = today?.reduce((all, one) => all + one.count, 0);
  const all = inMonth?.map(({ currency, minor }) => wholeAmount(amount(currency, minor)));
  const first =
    count === undefined ? html`<b>over ${countText(mostPaidLately)}</b>` : html`<b>${countText(count)}</b>`;
  return html`<a href="/months/${month}">${first}</a>${sumsOf(today ?? [])}<small>this month ${all === undefined ? to(['months', month], 'on its page') : all.length > 0 ? separated(all, ', ') : 'nothing'}</small>`;
}

/** Whether somebody was paid twice: "none" only where a complete list showed it, and only up to that list (P35). */
function paidTwiceTile({ paidTwice: found, birth }: DashboardFacts, view: View): Html {
  switch (found.kind) {
    case 'found': {
      const open = found.open.reduce((sum, { count }) => sum + count, 0);
      const ways = found.open.map(
        ({ kind, count }) =>
          html`<small><a href="/discrepancies?kind=${kind}">${countText(count)} ${plainKind(kind)}</a></small>`,
      );
      const closed =
        found.closed > 0 &&
        html`<small><a href="/discrepancies?state=resolved">${countText(found.closed)} resolved by a person</a></small>`;
      return html`${open > 0 ? html`<b class="bad">■ ${countText(open)} open</b>${ways}` : html`<b>none open</b>`}${closed}`;
    }
    case 'none': {
      const { payouts, listOf, later } = found;
      return html`<b>none</b><small>in ${counted(payouts, 'payout')}, checked against the list of ${time(listOf, view)}</small>${later && html`<small>not checked since then</small>`}`;
    }
    case 'unchecked':
      return html`<b>not checked</b><small>since ${time(birth, view)}: no complete list was read</small>`;
  }
}

/** The verdict on each currency, when it was given, and the way to its run. */
function verdictTile(look: DashboardFacts, view: View): Html {
  const { lastRun } = look;
  if (!lastRun) return html`<b>not checked</b>`;
  const { run, verdict, currencies, startedAt } = lastRun;
  const each = currencies.map((one) => html`<small>${one.currency} ${verdictText(one.verdict)}</small>`);
  return html`${each.length > 0 ? each : html`<b>${verdictText(verdict)}</b>`}<small><a href="/runs/${run}">${time(startedAt, view)}</a></small>${decidedIn(look, run) > 0 && html`<small>decided since, none open</small>`}`;
}
