import type { Mode } from '../../../core/domain/payout.ts';
import { maskAccount } from '../../../core/domain/redact.ts';
import type { Config } from '../../../core/settings/settings.ts';
import type { Role } from '../../../core/settings/settings-schema.ts';
import { shortTimeWithSeconds } from '../../../words/short-times.ts';
import { type Caller, hasRight } from '../../admin/access.ts';
import { pageFrame, sourceOf } from '../kit/frame.ts';
import { type Html, html } from '../kit/html.ts';
import { bankText } from '../kit/parts.ts';
import { dashboardStyle } from './dashboard-style.ts';
import { dropScript } from './files/drop-script.ts';
import { liveScript } from './live-script.ts';
import { waitScript } from './wait-script.ts';

/** What every page knows: the reader, the time, and how to make a form that the server will take. */
export type View = {
  mode: Mode;
  zone: string;
  /** Names the banks; undefined where `intake.banks_file` is not set. */
  banks?: Config['banks'];
  /** ISO UTC. */
  now: string;
  caller: Caller;
  /** Whether a link to this page of the desk leads somewhere. */
  mayOpen(address: string): boolean;
  /** The people who have a role. */
  holders(role: Role): readonly string[];
  /** Changes with every figure: a page of another version is out of date. */
  version: string;
  /** The token that a form of this reader needs; null for a reader without a name. */
  formToken: string | null;
};

export function seesBank({ caller }: Pick<View, 'caller'>): boolean {
  return hasRight(caller, 'read');
}

/** An account and its bank within a table; masked for a reader who may not see bank details. */
export function accountText(
  { account_number: account, bank_code: bank }: { account_number: string; bank_code: string },
  view: Pick<View, 'caller' | 'banks'>,
): string {
  return `${seesBank(view) ? account : maskAccount(account)} · ${bankText(bank, view)}`;
}

export type DashboardPage = {
  title: string;
  /** The entry of the navigation that is this page. */
  place?: keyof typeof places;
  main: Html;
  /** `live`: renewed when something changes; without JavaScript `/` renews itself. `still`: never. */
  renews: 'live' | 'still';
  /** The script of a page that stays still. */
  script?: typeof dropScript;
};

const places = {
  '/': 'Today',
  '/batches': 'Batches',
  '/files': 'Files',
  '/payouts': 'Payouts',
  '/payees': 'Payees',
  '/discrepancies': 'Discrepancies',
  '/runs': 'Runs',
  '/months': 'Months',
  '/reports/': 'Reports',
};

/** The headers of every page. `same-origin`: without the origin, the server could not tell its own forms from others. */
export const pageHeaders = {
  'content-type': 'text/html; charset=utf-8',
  'content-security-policy': [
    "default-src 'none'",
    `style-src ${sourceOf(dashboardStyle)}`,
    `script-src ${[liveScript, dropScript, waitScript].map(sourceOf).join(' ')}`,
    "connect-src 'self'",
    "form-action 'self'",
    "base-uri 'none'",
    "frame-ancestors 'none'",
  ].join('; '),
  'referrer-policy': 'same-origin',
  'cross-origin-opener-policy': 'same-origin',
  'cross-origin-resource-policy': 'same-origin',
};

export function pageOf({ title, place, main, renews, script }: DashboardPage, view: View): string {
  // With its year: a page may be printed and kept.
  const at = shortTimeWithSeconds(view.now, view.zone, '');
  const isLive = renews === 'live';
  const refresh = html`<noscript><meta http-equiv="refresh" content="30"></noscript>\n`;
  const body = html`<header>${bar(view, place, title !== 'Sign in')}<p id="news" class="spoken" role="status"></p></header>
<main id="main" tabindex="-1" data-version="${view.version}" data-at="${at}">
${main}
<p class="soft">As of ${at} (${view.zone}).</p>
</main>
`;
  return pageFrame({
    title: `${title} · Counterfoil (${view.mode})`,
    style: dashboardStyle,
    ...(isLive ? { script: liveScript } : script !== undefined && { script }),
    ...(isLive && place === '/' && { head: refresh }),
    body,
  });
}

/** The navigation, the reader, whether the page is live, and the search: not beside the field for a token. */
function bar(view: View, place: DashboardPage['place'], hasSearch: boolean): Html {
  const search = html`<input name="q" aria-label="Find payouts and batches"
 placeholder="Find a payout" required maxlength="200" autocomplete="off"><button>Find</button>`;
  return html`<div class="bar"><b>Counterfoil</b>
${deskLinks(place, view)}
<p class="soft">${view.mode} mode · ${reader(view.caller)}</p>
<p id="live" role="status" class="soft" hidden></p>
${hasSearch && html`<form action="/find" method="get" role="search">${search}</form>`}
</div>${view.caller.kind === 'token' && view.caller.signedIn && html`<form id="signout" method="post" action="/signout"></form>`}`;
}

/** The ways to every list of the desk; without a reader, all are links. */
export function deskLinks(place: DashboardPage['place'], view?: Pick<View, 'mayOpen'>): Html {
  const links = Object.entries(places).map(([path, name]) =>
    view?.mayOpen(path) === false
      ? html`<li class="soft">${name}</li>`
      : html`<li><a href="${path}"${place === path && html` aria-current="page"`}>${name}</a></li>`,
  );
  return html`<nav aria-label="Main"><ul>${links}</ul></nav>`;
}

function reader(caller: Caller): Html {
  if (caller.kind !== 'token') return html`<a href="/signin">Sign in</a>`;
  const out = html` <button form="signout" class="link">Sign out</button>`;
  return html`signed in as ${caller.name}${caller.signedIn && out}`;
}
