import { counted } from '../../../core/domain/counted.ts';
import { type Html, html } from '../kit/html.ts';
import { wideTable } from '../kit/table.ts';
import type { View } from './frame.ts';
import type { DashboardFacts } from './look.ts';
import { isQuiet, type Need } from './needs.ts';
import { ago, countText, severity } from './parts.ts';

/** A discrepancy was found then: its payout may differ for longer. */
function ageOf({ kind, since }: Need, view: View): string {
  if (since === null) return '';
  return kind === 'discrepancy_open' ? `found ${ago(since, view)} ago` : ago(since, view);
}

/** What needs a person, and what somebody is at work on already. */
export function needsTable(needs: readonly Need[], look: DashboardFacts, view: View): Html {
  return html`${waitingTable(needs, look, view)}
${look.acknowledged.length > 0 && acknowledgedPart(look)}`;
}

/** Nothing hides behind an acknowledgement: it says that somebody has seen it, and ends nothing. */
function acknowledgedPart({ acknowledged, findings }: DashboardFacts): Html {
  const open = findings.reduce(
    (sum, { kind, count }) => (kind === 'discrepancy_open' ? sum + count : sum),
    0,
  );
  const seen = acknowledged.reduce((sum, { count }) => sum + count, 0);
  const grades = acknowledged.map(
    (one) => html` <span class="whole">${severity(one.severity)} (${countText(one.count)})</span>`,
  );
  return html`<p>Discrepancies: <a href="/discrepancies?state=open">${countText(open)} open</a>, <a href="/discrepancies?state=acknowledged">${countText(seen)} acknowledged</a>${grades}</p>`;
}

function waitingTable(needs: readonly Need[], look: DashboardFacts, view: View): Html {
  if (needs.length > 0) {
    const columns = ['What', { number: 'How many' }, { number: 'Since' }, { act: 'Next' }];
    // Where nothing has an age or a page, the words take the whole width.
    const used = columns.filter(
      (_, at) =>
        at === 0 ||
        needs.some((one) => (at < 3 ? ageOf(one, view) !== '' : one.decide !== null || one.look !== null)),
    );
    const first = needs.find(({ decide }) => decide !== null);
    const rows = needs.map((one) => {
      const { what, count, about, decide, look: page, others } = one;
      const next = decide
        ? html`<a class="${one === first ? 'go' : 'btn'}" href="${decide.href}">${decide.name}</a>`
        : page !== null && html`<a class="btn" href="${page}">Look</a>`;
      const each = about.length > 0 && html`<ul class="about">${about}</ul>`;
      const cells = [
        html`${what}${each}${others !== '' && html`<br><small class="soft">for ${others}</small>`}`,
        count === null ? '' : countText(count),
        ageOf(one, view),
        html`${next}`,
      ];
      return cells.filter((_, at) => used.includes(columns[at] ?? ''));
    });
    return wideTable('What needs a person', used, rows);
  }
  if (!isQuiet(look)) return html`<p>Nothing but the halt waits for a person.</p>`;
  if (look.lastRun === null)
    return html`<p>Nothing is known to wait. Discrepancies are <strong>not checked</strong>: no reconciliation has finished.</p>`;
  return html`<p>Nothing waits for a person.</p>`;
}

/** `3 things need a person; 1 is for you`, where the reader may not decide all of it. */
export function needsTitle(needs: readonly Need[]): string {
  const mine = needs.filter(({ isMine }) => isMine === true).length;
  const yours = needs.some(({ isMine }) => isMine === false)
    ? `; ${mine === 0 ? 'none' : mine} ${mine < 2 ? 'is' : 'are'} for you`
    : '';
  return `${counted(needs.length, 'thing')} ${needs.length === 1 ? 'needs' : 'need'} a person${yours}`;
}
