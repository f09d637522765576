import type { LastRun } from '../../../books/run-verdicts.sql.ts';
import { counted } from '../../../core/domain/counted.ts';
import { verdictWords } from '../../../words/verdict-words.ts';
import { type Html, html } from '../kit/html.ts';
import type { View } from './frame.ts';
import { countText, dashboardBanner, time, to } from './parts.ts';
import type { UnendedRun } from './runs.sql.ts';

const steps: Record<Extract<UnendedRun, { kind: 'runs' }>['step'], string> = {
  begins: 'It applies webhooks, and is about to read the list.',
  reads: 'It reads the list and compares it.',
  freezes: 'It has read the list, and adds up its figures.',
  writes: 'It has a verdict, and writes its files.',
};

/** What a reconciliation does now, or that it died; without one, what the last one found. */
export function reconcilingPart(unended: UnendedRun | null, last: LastRun | null, view: View): Html {
  if (!unended) return last ? lastPart(last, view) : html``;
  const since = html`since ${time(unended.since, view, true)}`;
  if (unended.kind === 'died')
    return dashboardBanner(
      'bad',
      'A reconciliation died',
      html`<p>It ran ${since}, and its process ended before it had a verdict. Begin another.</p>`,
    );
  const { step, seen, listed } = unended;
  const way = listed === null ? null : Math.max(listed, seen, 1);
  const far = html`<p>${way !== null && html`<progress value="${seen}" max="${way}" aria-label="Transfers seen"></progress> `}${counted(seen, 'transfer')} seen${listed !== null && html`; the last whole list had ${countText(listed)}`}.</p>`;
  return dashboardBanner(
    'none',
    'A reconciliation runs',
    html`<p>${steps[step]} It runs ${since}.</p>${step === 'begins' ? '' : far}`,
  );
}

const looks = { good: 'good', bad: 'bad', doubt: 'warn', faint: 'none' } as const;

function lastPart({ run, verdict, startedAt }: LastRun, view: View): Html {
  const { colour, name } = verdictWords[verdict];
  return dashboardBanner(
    looks[colour],
    `The last reconciliation: ${name}`,
    html`<p>It began ${time(startedAt, view)}. ${to(['runs', run], 'See the run')}</p>`,
  );
}
