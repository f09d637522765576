import { counted } from '../../../core/domain/counted.ts';
import { plainKind } from '../../../core/domain/plain-kind.ts';
import { type Finding, plainFinding } from '../../../findings/finding.ts';
import type { KindsOn } from '../../../findings/kinds.ts';
import { waitsForApproval } from '../../../findings/ledger-findings.sql.ts';
import { fileFinding, openFindings, payoutFindings, runFindings } from '../../../findings/person-findings.ts';
import { rejectedText } from '../../../words/rejected-words.ts';
import { type Html, html } from '../kit/html.ts';
import { wideTable } from '../kit/table.ts';
import { answerAwaited, type BatchLook } from './batches.sql.ts';
import type { View } from './frame.ts';
import type { DashboardFacts } from './look.ts';
import { ago, countText, sentence, severity, stateText, time, to, verdictText } from './parts.ts';

/** Something that waits for a person: what, how many, and since when. */
type Need = { what: Html; count: string; age: string };

/** At most this many files are named. */
const mostFiles = 20;

/** Everything that waits for a person, the gravest first. A halt has its own place. */
export function needsOf(look: DashboardFacts, view: View): Need[] {
  const { figures, rejected, batches } = look;
  const unknown = figures.payouts.filter(({ state }) => state === 'unknown');
  const since = figures.oldest.find(({ state }) => state === 'unknown')?.since;
  const count = unknown.reduce((sum, one) => sum + one.count, 0);
  const bySeverity = openFindings(figures.discrepancies).toSorted((a, b) => rankOf(a) - rankOf(b));
  const more = rejected.length - mostFiles;
  return [
    ...unreadyBeside(look).map(({ problem, fix }) => ({
      what: html`<span class="bad">${sentence(problem, view)}</span>: ${fix}`,
      count: '',
      age: '',
    })),
    ...[
      ...payoutFindings('payout_unknown', count, since),
      ...bySeverity,
      ...rejected.slice(0, mostFiles).map(fileFinding),
    ].map((one) => needOf(one, view)),
    ...(more > 0
      ? [{ what: html`More files that were refused or taken in part`, count: countText(more), age: '' }]
      : []),
    ...[
      ...batches.looks.flatMap(heldFinding),
      ...batches.looks.flatMap(answerFinding),
      ...runFindings(look.lastRun),
    ].map((one) => needOf(one, view)),
  ];
}

const severities = ['high', 'medium', 'low'];
const rankOf = ({ facts }: Finding<'discrepancy_open'>): number => severities.indexOf(facts.severity);

function heldFinding({ batch, state, counts }: BatchLook): Finding<'batch_held'>[] {
  if (state !== 'held') return [];
  const facts = { waitsForApproval: waitsForApproval(batch.hold_reasons) };
  return [{ ...plainFinding('batch_held', batch.id, counts.held ?? 0), since: batch.created_at, facts }];
}

function answerFinding(look: BatchLook): Finding<'answer_awaited'>[] {
  const { batch, counts } = look;
  if (answerAwaited(look) === null) return [];
  return [{ ...plainFinding('answer_awaited', batch.id, counts.ready ?? 0), since: batch.created_at }];
}

type Row = { what(finding: Finding, view: View): Html }['what'];

const rows: Record<KindsOn<'today'>, Row> = {
  payout_unknown: () =>
    html`<span class="bad">${stateText('unknown')}</span>: may be paid; do not pay another way`,
  discrepancy_open: ({ subject, facts }: Finding<'discrepancy_open'>) =>
    html`${severity(facts.severity)} <a href="/discrepancies?kind=${subject}">${plainKind(subject)}</a>`,
  // The folders of this machine are nothing for a page without a token.
  file_rejected: ({ facts: { files } }: Finding<'file_rejected'>) =>
    html`${files.map((file) => rejectedText({ ...file, errors_file: null })).join('; ')}. Correct it and drop it again`,
  batch_held: ({ subject, facts }: Finding<'batch_held'>) =>
    html`${to(['batches', subject], subject)} ${facts.waitsForApproval ? 'waits for approval' : 'is held'}`,
  answer_awaited: ({ subject }) =>
    html`${to(['batches', subject], subject)} waits for an answer to service.extras`,
  run_unsound: ({ subject, facts: { startedAt, verdict } }: Finding<'run_unsound'>, view) => {
    const cause = verdict === 'not_compared' ? '. To find the cause: counterfoil doctor' : '';
    return html`The last reconciliation, ${time(startedAt, view)}: ${verdictText(verdict)}. ${to(['runs', subject], 'See the run')}${cause}`;
  },
};

function needOf(finding: Finding<KindsOn<'today'>>, view: View): Need {
  return {
    what: rows[finding.kind](finding, view),
    count: finding.kind === 'run_unsound' ? '' : countText(finding.count),
    age: finding.since === null ? '' : ago(finding.since, view),
  };
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
  if (look.lastRun === null)
    return html`<p>Nothing is known to wait. Discrepancies are <strong>not checked</strong>: no reconciliation has finished.</p>`;
  return html`<p>Nothing waits for a person.</p>`;
}

/** `3 things need a person`. */
export function needsTitle(needs: readonly Need[]): string {
  return `${counted(needs.length, 'thing')} ${needs.length === 1 ? 'needs' : 'need'} a person`;
}
