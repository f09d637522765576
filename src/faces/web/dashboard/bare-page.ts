import type { Mode } from '../../../core/domain/payout.ts';
import { pageFrame } from '../kit/frame.ts';
import { type Html, html } from '../kit/html.ts';
import { dashboardStyle } from './dashboard-style.ts';
import { deskLinks } from './frame.ts';
import { dashboardBanner } from './parts.ts';
import { lookAgainSeconds, waitScript } from './wait-script.ts';

/** A page in the desk's look that needs nothing of the ledger. `renews`: it looks again by itself. */
export function barePage({
  mode,
  title,
  content,
  renews,
}: {
  mode: Mode;
  title: string;
  content: Html;
  renews: boolean;
}): string {
  const again = html`<noscript><meta http-equiv="refresh" content="${lookAgainSeconds}"></noscript>\n`;
  return pageFrame({
    title: `${title} · Counterfoil (${mode})`,
    style: dashboardStyle,
    ...(renews && { head: again, script: waitScript }),
    body: html`<header><div class="bar"><b>Counterfoil</b>
${deskLinks(undefined)}
<p class="soft">${mode} mode</p>
</div></header>
<main id="main" tabindex="-1">
${dashboardBanner('bad', title, content)}
</main>
`,
  });
}
