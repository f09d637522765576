import { amountText, counted } from '../../../core/domain/counted.ts';
import { plainKind } from '../../../core/domain/plain-kind.ts';
import type { Finding } from '../../../findings/finding.ts';
import { type AlertKind, type FindingKind, findingRules, type KindsOn } from '../../../findings/kinds.ts';
import { findingWords } from '../../../words/finding-words.ts';
import { rejectedText } from '../../../words/rejected-words.ts';
import { hasRight } from '../../admin/access.ts';
import { type Html, html } from '../kit/html.ts';
import { wideTable } from '../kit/table.ts';
import type { View } from './frame.ts';
import type { DashboardFacts } from './look.ts';
import { ago, countText, sentence, severity, stateText, time, to, verdictText } from './parts.ts';

/** Something that waits for a person: what, how many, and since when. */
type Need = { what: Html; count: string; age: string };
type Open = Finding<KindsOn<'today'>>;

/** At most this many files are named. */
const mostFiles = 20;

/** Whether nothing waits for a person: the only thing that may be shown in green. */
export function isQuiet({ halt, unready, findings }: DashboardFacts): boolean {
  return halt === null && unready.length === 0 && findings.length === 0;
}

/** Everything that waits for a person, the gravest first. A halt has its own place. */
export function needsOf(look: DashboardFacts, view: View): Need[] {
  const jobs = new Set(look.unready.map(({ job }) => job));
  const said = (one: Open): boolean => one.facts !== null && 'job' in one.facts && jobs.has(one.facts.job);
  const open = look.findings
    .filter((one) => one.kind !== 'sending_halted' && !said(one))
    .toSorted((a, b) => rankOf(a.kind) - rankOf(b.kind));
  return [
    ...unreadyBeside(look).map(({ problem, fix }) => ({
      what: html`${grave('high', sentence(problem, view))}: ${sentence(fix, view)}`,
      count: '',
      age: '',
    })),
    ...open.flatMap((one) => needsIn(one, view)),
  ];
}

const rankOf = (kind: FindingKind): number => (findingRules[kind].gravity === 'high' ? 0 : 1);

/** The part of a sentence that says what is wrong; what is grave stands out. */
function grave(gravity: 'high' | 'medium', text: string): Html {
  return gravity === 'high' ? html`<span class="bad">${text}</span>` : html`${text}`;
}

type Row = { what(finding: Open, view: View): Html }['what'];

const batchRow =
  (words: string): Row =>
  ({ subject, kind }) =>
    html`${to(['batches', subject], subject)} ${grave(findingRules[kind].gravity, words)}`;

/** In the words of its message, which name no folder of this machine: the page needs no token. */
const asMessage =
  (kind: KindsOn<'today'> & AlertKind): Row =>
  (finding, view) => {
    const { problem, fix } = findingWords[kind].alerts(finding);
    return html`${grave(findingRules[kind].gravity, sentence(problem, view))} ${sentence(fix, view)}`;
  };

const asReady =
  (kind: KindsOn<'today'> & KindsOn<'ready'>): Row =>
  (finding, view) => {
    const { problem, fix } = findingWords[kind].ready(finding);
    return html`${grave(findingRules[kind].gravity, sentence(problem, view))}: ${sentence(fix, view)}`;
  };

const rows: Record<KindsOn<'today'>, Row> = {
  sending_halted: asMessage('sending_halted'),
  canary_failed: batchRow('failed its canary'),
  discrepancy_open: ({ subject, facts }: Finding<'discrepancy_open'>) =>
    html`${severity(facts.severity)} <a href="/discrepancies?kind=${subject}">${plainKind(subject)}</a>`,
  schedule_failed: asReady('schedule_failed'),
  schedule_missed: asReady('schedule_missed'),
  outcome_unknown: () =>
    html`<a href="/payouts?state=unknown">${grave('high', stateText('unknown'))}</a>: may be paid; do not pay another way`,
  payout_unpaid: ({ subject, totals }: Finding<'payout_unpaid'>, view) => {
    const sums = Object.entries(totals).map(([currency, sum]) => amountText(currency, sum));
    const again = html` <a class="go" href="/batches/${encodeURIComponent(subject)}/again">Pay again…</a>`;
    return html`${to(['batches', subject], subject)} has unpaid failures: ${sums.join(', ')}${hasRight(view.caller, 'decide') && again}`;
  },
  batch_held: ({ subject, facts }: Finding<'batch_held'>) =>
    html`${to(['batches', subject], subject)} ${facts.waitsForApproval ? 'waits for approval' : 'is held'}`,
  approval_unanswered: batchRow('was not decided by the server of submission.approval_url'),
  // The folders of this machine are nothing for a page without a token.
  file_rejected: ({ facts: { files } }: Finding<'file_rejected'>) =>
    html`${files.map((file) => rejectedText({ ...file, errors_file: null })).join('; ')}. ${
      files.every(({ kind }) => kind === 'taken_before')
        ? html`<a href="/files">See it</a>`
        : html`<a href="/files">Correct it</a> and drop it again`
    }`,
  file_lost: ({ names }) =>
    html`A file of ${names.join(', ')} was lost, or changed after it was read: the operator’s doctor says more`,
  signatures_wrong: asMessage('signatures_wrong'),
  receiver_silent: asMessage('receiver_silent'),
  service_silent: asMessage('service_silent'),
  certificate_ends: asMessage('certificate_ends'),
  disk_low: asMessage('disk_low'),
  answer_awaited: batchRow('waits for an answer to service.extras'),
  payout_kept: batchRow('waits, since its file cannot be checked: the operator’s status says why'),
  backup_late: () => html`The scheduled backup was missed: the operator’s doctor says more`,
  events_undelivered: (finding: Finding<'events_undelivered'>, view) => {
    const { problem, fix } = findingWords.events_undelivered.doctor(finding);
    return html`${sentence(problem, view)}: ${sentence(fix, view)}`;
  },
  message_lost: () =>
    html`Messages could not be sent in a day: the operator’s doctor --alert tries each channel`,
  run_unsound: ({ subject, facts: { startedAt, verdict } }: Finding<'run_unsound'>, view) => {
    const cause = verdict === 'not_compared' ? '. The operator’s doctor finds the cause.' : '';
    return html`The last reconciliation, ${time(startedAt, view)}: ${verdictText(verdict)}. ${to(['runs', subject], 'See the run')}${cause}`;
  },
};

/** What its words do not say already. */
const withCount: ReadonlySet<FindingKind> = new Set([
  'discrepancy_open',
  'outcome_unknown',
  'payout_unpaid',
  'batch_held',
  'file_rejected',
  'answer_awaited',
  'payout_kept',
  'message_lost',
]);

function needsIn(finding: Open, view: View): Need[] {
  if (finding.kind === 'file_rejected') return fileNeeds(finding, view);
  return [needOf(finding, view)];
}

function needOf(finding: Open, view: View): Need {
  return {
    what: rows[finding.kind](finding, view),
    count: withCount.has(finding.kind) ? countText(finding.count) : '',
    age: ageOf(finding, view),
  };
}

/** A discrepancy was found then: its payout may differ for longer. */
function ageOf({ kind, since }: Open, view: View): string {
  if (since === null) return '';
  return kind === 'discrepancy_open' ? `found ${ago(since, view)} ago` : ago(since, view);
}

/** Each file by itself. */
function fileNeeds(finding: Finding<'file_rejected'>, view: View): Need[] {
  const { files } = finding.facts;
  const more = files.length - mostFiles;
  return [
    ...files.slice(0, mostFiles).map((file) => {
      const { kind, problems, rows_left: left, since } = file;
      const count = Number(kind === 'left_out' ? left : problems);
      return needOf({ ...finding, count, since, facts: { files: [file] } }, view);
    }),
    ...(more > 0
      ? [{ what: html`More files that were refused or taken in part`, count: countText(more), age: '' }]
      : []),
  ];
}

const comparing: ReadonlySet<string> = new Set(['reconcile', 'reconcile_full']);

/** Why work does not move, without the runs that compared nothing: the verdict says that once. */
function unreadyBeside({ unready, figures, lastRun }: DashboardFacts): DashboardFacts['unready'] {
  if (lastRun?.verdict !== 'not_compared') return unready;
  const incomplete = figures.jobs.flatMap(({ job, kind }) => (kind === 'incomplete' ? job : []));
  return unready.filter(({ job }) => job === undefined || !comparing.has(job) || !incomplete.includes(job));
}

export function needsTable(needs: readonly Need[], look: DashboardFacts): Html {
  if (needs.length > 0) {
    const columns = ['What', { number: 'How many' }, { number: 'Since' }];
    const rows = needs.map(({ what, count, age }) => [what, count, age]);
    // Where nothing has an age, the words take the whole width.
    const used = needs.some(({ age }) => age !== '') ? columns.length : 1;
    return wideTable(
      'What needs a person',
      columns.slice(0, used),
      rows.map((row) => row.slice(0, used)),
    );
  }
  if (!isQuiet(look)) return html`<p>Nothing but the halt waits for a person.</p>`;
  if (look.lastRun === null)
    return html`<p>Nothing is known to wait. Discrepancies are <strong>not checked</strong>: no reconciliation has finished.</p>`;
  return html`<p>Nothing waits for a person.</p>`;
}

/** `3 things need a person`. */
export function needsTitle(needs: readonly Need[]): string {
  return `${counted(needs.length, 'thing')} ${needs.length === 1 ? 'needs' : 'need'} a person`;
}
