import { counted } from '../../../core/domain/counted.ts';
import { plainKind } from '../../../core/domain/plain-kind.ts';
import { needsAPerson } from '../../../core/domain/verdict.ts';
import { readReasons } from '../../../core/ledger/hold-reasons.ts';
import { rejectedText } from '../../../words/rejected-words.ts';
import { type Html, html } from '../kit/html.ts';
import { wideTable } from '../kit/table.ts';
import { answerAwaited } from './batches.sql.ts';
import type { View } from './frame.ts';
import type { DashboardFacts } from './look.ts';
import { ago, countText, sentence, severity, stateText, time, to, verdictText } from './parts.ts';

/** Something that waits for a person: what, how many, and since when. */
type Need = { what: Html; count: string; age: string };

/** Everything that waits for a person, the gravest first. A halt has its own place. */
export function needsOf(look: DashboardFacts, view: View): Need[] {
  return [
    ...unreadyBeside(look).map(({ problem, fix }) => ({
      what: html`<span class="bad">${sentence(problem, view)}</span>: ${fix}`,
      count: '',
      age: '',
    })),
    ...unknownNeed(look, view),
    ...discrepancyNeeds(look, view),
    ...rejectedNeeds(look, view),
    ...heldNeeds(look, view),
    ...answerNeeds(look, view),
    ...verdictNeeds(look, view),
  ];
}

const comparing: ReadonlySet<string> = new Set(['reconcile', 'reconcile_full']);

/** Why work does not move, without the runs that compared nothing: the verdict says that once. */
function unreadyBeside({ unready, figures, lastRun }: DashboardFacts): DashboardFacts['unready'] {
  if (lastRun?.verdict !== 'not_compared') return unready;
  const incomplete = figures.jobs.flatMap(({ job, kind }) => (kind === 'incomplete' ? job : []));
  return unready.filter(({ job }) => job === undefined || !comparing.has(job) || !incomplete.includes(job));
}

function unknownNeed({ figures }: DashboardFacts, view: View): Need[] {
  const unknown = figures.payouts.filter(({ state, count }) => state === 'unknown' && count > 0);
  if (unknown.length === 0) return [];
  const count = unknown.reduce((sum, one) => sum + one.count, 0);
  const since = figures.oldest.find(({ state }) => state === 'unknown')?.since;
  return [
    {
      what: html`<span class="bad">${stateText('unknown')}</span>: may be paid; do not pay another way`,
      count: countText(count),
      age: since === undefined ? '' : ago(since, view),
    },
  ];
}

const gravity = ['high', 'medium', 'low'];

function discrepancyNeeds({ figures }: DashboardFacts, view: View): Need[] {
  return figures.discrepancies
    .toSorted((a, b) => gravity.indexOf(a.severity) - gravity.indexOf(b.severity))
    .map((one) => ({
      what: html`${severity(one.severity === 'high' || one.severity === 'medium' ? one.severity : 'low')} <a href="/discrepancies?kind=${one.kind}">${plainKind(one.kind)}</a>`,
      count: countText(one.count),
      age: ago(one.since, view),
    }));
}

function heldNeeds({ batches }: DashboardFacts, view: View): Need[] {
  return batches.looks
    .filter(({ state }) => state === 'held')
    .map(({ batch, counts }) => {
      const waits = readReasons(batch.hold_reasons).some(({ kind }) => kind === 'approval');
      return {
        what: html`${to(['batches', batch.id], batch.id)} ${waits ? 'waits for approval' : 'is held'}`,
        count: countText(counts.held ?? 0),
        age: ago(batch.created_at, view),
      };
    });
}

function answerNeeds({ batches }: DashboardFacts, view: View): Need[] {
  return batches.looks
    .filter((look) => answerAwaited(look) !== null)
    .map(({ batch, counts }) => ({
      what: html`${to(['batches', batch.id], batch.id)} waits for an answer to service.extras`,
      count: countText(counts.ready ?? 0),
      age: ago(batch.created_at, view),
    }));
}

/** At most this many files are named. */
const mostFiles = 20;

function rejectedNeeds({ rejected }: DashboardFacts, view: View): Need[] {
  const rest = rejected.slice(mostFiles);
  return [
    ...rejected.slice(0, mostFiles).map((file) => ({
      // The folders of this machine are nothing for a page without a token.
      what: html`${rejectedText({ ...file, errors_file: null })}. Correct it and drop it again`,
      count: countText(Number(file.kind === 'refused' ? file.problems : file.rows_left)),
      age: ago(file.since, view),
    })),
    ...(rest.length > 0
      ? [
          {
            what: html`More files that were refused or taken in part`,
            count: countText(rest.length),
            age: '',
          },
        ]
      : []),
  ];
}

function verdictNeeds({ lastRun }: DashboardFacts, view: View): Need[] {
  if (lastRun === null || !needsAPerson(lastRun.verdict)) return [];
  const cause = lastRun.verdict === 'not_compared' ? '. To find the cause: counterfoil doctor' : '';
  return [
    {
      what: html`The last reconciliation, ${time(lastRun.startedAt, view)}: ${verdictText(lastRun.verdict)}. ${to(['runs', lastRun.run], 'See the run')}${cause}`,
      count: '',
      age: '',
    },
  ];
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
