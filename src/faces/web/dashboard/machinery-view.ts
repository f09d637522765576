import { counted } from '../../../core/domain/counted.ts';
import { nextDue } from '../../../core/runtime/next-due.ts';
import { scheduleList } from '../../../core/settings/schedule-list.ts';
import type { Config } from '../../../core/settings/settings.ts';
import type { LedgerFigures } from '../../admin/ledger-figures.sql.ts';
import { type Html, html } from '../kit/html.ts';
import { wideTable } from '../kit/table.ts';
import type { View } from './frame.ts';
import type { DashboardFacts } from './look.ts';
import { ago, countText, panel, time } from './parts.ts';

type Schedules = Config['schedules'];

const jobNames = new Map([
  ['intake', 'Intake'],
  ['submit', 'Submit'],
  ['follow_up', 'Follow-up'],
  ['reconcile', 'Reconcile'],
  ['reconcile_full', 'Full reconcile'],
  ['report', 'Reports'],
]);

/** One line while everything runs; what does not run stays open. */
export function machineryPart(look: DashboardFacts, view: View, schedules: Schedules): Html {
  const table = machinery(look, view, schedules);
  const isFailed = look.figures.jobs.some(({ kind }) => kind === 'failed' || kind === 'incomplete');
  if (look.unready.length > 0 || isFailed) return panel('Machinery', table);
  const on = scheduleList(schedules).filter(({ expression }) => expression.trim() !== '').length;
  return html`<details class="panel" id="machinery"><summary>✓ Everything runs: webhooks, queue, ledger, disk, ${counted(on, 'schedule')}</summary>${table}</details>`;
}

function machinery({ figures, unready }: DashboardFacts, view: View, schedules: Schedules): Html {
  const { oldestUnapplied, lastReceivedAt, rejected } = figures.webhooks;
  const turnedAway = Object.values(rejected).reduce((sum, count) => sum + count, 0);
  const lag = oldestUnapplied === null ? 'all applied' : `oldest waits ${ago(oldestUnapplied, view)}`;
  const received =
    lastReceivedAt === null ? html`none yet` : html`${lag}; last ${time(lastReceivedAt, view)}`;
  const bad = new Set(unready.map(({ check }) => check));
  const mark = (check: string): Html =>
    bad.has(check) ? html`<span class="bad">■ trouble</span>` : html`<span class="good">✓ works</span>`;
  const rows = [
    [
      'Webhooks',
      mark('webhooks'),
      html`${received}${turnedAway > 0 && `; ${countText(turnedAway)} turned away`}`,
    ],
    ['Queue', mark('queue'), ''],
    ['Ledger', mark('ledger'), size(figures.ledgerBytes)],
    ['Disk', mark('disk'), `${size(figures.freeBytes)} free`],
  ];
  const rowOf = (job: string, expression: string, past: LedgerFigures['jobs'][number] | undefined) => {
    const due = nextDue(expression, schedules.timezone, Date.parse(view.now));
    const ended = past?.kind ?? null;
    const look = ended === 'failed' || ended === 'incomplete' ? 'bad' : 'soft';
    return [
      `${jobNames.get(job) ?? job}${past?.place ? ` on ${past.place}` : ''}`,
      html`<span class="${look}">${ended ?? 'has not run'}</span>`,
      html`last ${time(past?.lastRunAt ?? null, view)}; ${due ? html`next ${time(due.toISOString(), view)}` : 'off'}`,
    ];
  };
  const jobs = scheduleList(schedules).flatMap(({ job, expression }) => {
    const pasts = figures.jobs.filter((one) => one.job === job);
    return (pasts.length === 0 ? [undefined] : pasts).map((past) => rowOf(job, expression, past));
  });
  return wideTable('Machinery and schedules', ['Part', 'State', 'Facts'], [...rows, ...jobs]);
}

function size(bytes: number): string {
  const mib = bytes / 1024 / 1024;
  return mib >= 1024 ? `${(mib / 1024).toFixed(1)} GiB` : `${mib.toFixed(1)} MiB`;
}
