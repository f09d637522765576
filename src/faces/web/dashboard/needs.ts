import { counted } from '../../../core/domain/counted.ts';
import { visible } from '../../../core/domain/hidden.ts';
import { plainKind } from '../../../core/domain/plain-kind.ts';
import type { Finding } from '../../../findings/finding.ts';
import { type AlertKind, type FindingKind, findingRules, type KindsOn } from '../../../findings/kinds.ts';
import { findingWords } from '../../../words/finding-words.ts';
import { rejectedText } from '../../../words/rejected-words.ts';
import { decidedWords } from '../../../words/verdict-words.ts';
import { hasRight } from '../../admin/access.ts';
import { type Html, html } from '../kit/html.ts';
import { way } from '../kit/parts.ts';
import { isMaker } from './batch-parts.ts';
import { seesDrop } from './files/drop-view.ts';
import type { Drop } from './files/drops.ts';
import { dropVerdict } from './files/files-view.ts';
import { whoMay } from './forms.ts';
import type { View } from './frame.ts';
import type { DashboardFacts } from './look.ts';
import { countText, sentence, severity, stateText, time, to, verdictText } from './parts.ts';
import { isUnpaid, unpaidNeed, unpaidTitle } from './unpaid-view.ts';
import { deciders, whose } from './whose.ts';

/** A page, and what a person does there. */
type Way = { href: string; name: string };
/**
 * Something that waits for a person. `decide`: where the reader decides it; `look`: where it is shown. `isMine`: the reader
 * may decide some of it, null where no role of the desk does; `others`: who may, where the reader may not.
 */
type Line = {
  what: Html;
  count: number | null;
  since: string | null;
  decide: Way | null;
  look: string | null;
  isMine: boolean | null;
  others: string;
};
/** Lines of one kind as one; `about`: each of them, where there are several. */
export type Need = Line & { kind: FindingKind | null; about: readonly Html[] };
type Open = Finding<KindsOn<'today'>>;

/** At most this many of a kind are named. */
const mostNamed = 8;

/** Whether nothing waits for a person: the only thing that may be shown in green. */
export function isQuiet({ halt, unready, findings, drops }: DashboardFacts): boolean {
  return halt === null && unready.length === 0 && findings.length === 0 && drops.length === 0;
}

/** Everything that waits for a person, the gravest first, and one line for several of a kind. A halt has its own place. */
export function needsOf(look: DashboardFacts, view: View): Need[] {
  const jobs = new Set(look.unready.map(({ job }) => job));
  const said = (one: Open): boolean => one.facts !== null && 'job' in one.facts && jobs.has(one.facts.job);
  const open = look.findings
    .filter((one) => one.kind !== 'sending_halted' && !said(one))
    .toSorted((a, b) => rankOf(a.kind) - rankOf(b.kind));
  return [
    ...unreadyBeside(look).map(({ problem, fix }) => ({
      ...{ what: html`${grave('high', sentence(problem, view))}: ${sentence(fix, view)}`, about: [] },
      ...{ kind: null, count: null, since: null, decide: null, look: null, isMine: null, others: '' },
    })),
    ...[...Map.groupBy(open, ({ kind }) => kind)].flatMap(([kind, some]) => {
      const lines = some.flatMap((one) => linesIn(one, view));
      return needsIn(kind, lines, together[kind], some);
    }),
    ...needsIn(
      null,
      look.drops.map((one) => dropLine(one, view)),
      togetherDropped,
    ),
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
  outcome_unknown: (_finding, view) =>
    html`${way(view, '/payouts?state=unknown', grave('high', stateText('unknown')))}: may be paid; do not pay another way`,
  payout_unpaid: unpaidNeed,
  batch_held: (finding: Finding<'batch_held'>, view) => {
    const { subject, facts } = finding;
    const batch = to(['batches', subject], subject);
    if (!facts.waitsForApproval) return html`${batch} is held`;
    const isForOthers = view.caller.kind === 'token' && !mayApprove(finding, view);
    return html`${batch} waits for approval${isForOthers && html`. ${whoMay(view, 'approve', isMaker(facts.makers))}`}`;
  },
  approval_unanswered: batchRow('was not decided by the server of submission.approval_url'),
  // The folders of this machine are nothing for a page without a token.
  file_rejected: ({ facts: { files } }: Finding<'file_rejected'>) =>
    html`${files.map((file) => rejectedText({ ...file, errors_file: null })).join('; ')}`,
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
  run_unsound: ({ subject, facts: { startedAt, verdict, decided } }: Finding<'run_unsound'>, view) => {
    const cause = verdict === 'not_compared' ? '. The operator’s doctor finds the cause.' : '';
    return html`The last reconciliation, ${to(['runs', subject], time(startedAt, view))}: ${verdictText(verdict)}${cause}${decided > 0 && html`. ${decidedWords(decided)}`}`;
  },
};

/** What its words do not say already. */
const withCount: ReadonlySet<FindingKind> = new Set([
  'discrepancy_open',
  'outcome_unknown',
  'batch_held',
  'file_rejected',
  'answer_awaited',
  'payout_kept',
  'message_lost',
]);

const batchPage = (subject: string): string => `/batches/${encodeURIComponent(subject)}`;
const batchLook = ({ subject }: Pick<Open, 'subject'>): string => batchPage(subject);

/** Where a kind is shown. */
const looks: Partial<Record<FindingKind, (finding: Open) => string>> = {
  canary_failed: batchLook,
  discrepancy_open: ({ subject }) => `/discrepancies?kind=${subject}`,
  outcome_unknown: () => '/payouts?state=unknown',
  payout_unpaid: batchLook,
  batch_held: batchLook,
  approval_unanswered: batchLook,
  file_rejected: () => '/files',
  answer_awaited: batchLook,
  payout_kept: batchLook,
  run_unsound: ({ subject }) => `/runs/${encodeURIComponent(subject)}`,
};

/** Where a person with the right decides about one. */
function decideOf(finding: Open, view: View): Way | null {
  const page = batchPage(finding.subject);
  if (isUnpaid(finding) && !finding.facts.newFile && hasRight(view.caller, 'decide'))
    return { href: `${page}/again`, name: 'Pay again…' };
  if (isHeld(finding) && finding.facts.waitsForApproval && mayApprove(finding, view))
    return { href: `${page}/approve`, name: 'Review…' };
  return null;
}

function mayApprove({ facts }: Finding<'batch_held'>, { caller }: View): boolean {
  return caller.kind === 'token' && hasRight(caller, 'approve') && !isMaker(facts.makers)(caller.name);
}

const isHeld = (finding: Open): finding is Finding<'batch_held'> => finding.kind === 'batch_held';

/** What several of a kind are called, and the list that has them all. `count`: of them, or of what they count. */
type Together = { of: 'lines' | 'counts'; name(count: number, some: readonly Open[]): string; look: string };
const together: Partial<Record<FindingKind, Together>> = {
  discrepancy_open: {
    ...{ of: 'counts', look: '/discrepancies?state=open' },
    name: (count) => `${counted(count, 'discrepancy is', 'discrepancies are')} open`,
  },
  payout_unpaid: {
    ...{ of: 'counts', look: '/batches' },
    name: (_count, findings) => unpaidTitle(findings),
  },
  batch_held: {
    ...{ of: 'lines', look: '/batches' },
    name: (count) => `${counted(count, 'batch waits', 'batches wait')} for approval or release`,
  },
  file_rejected: {
    ...{ of: 'lines', look: '/files' },
    name: (count) => `${counted(count, 'file was', 'files were')} refused or taken in only in part`,
  },
};

const togetherDropped: Together = {
  ...{ of: 'lines', look: '/files' },
  name: (count) => `${counted(count, 'dropped file waits', 'dropped files wait')} for a decision`,
};

/** A dropped file, which somebody with the right takes in or discards. */
function dropLine(drop: Drop, view: View): Line {
  const page = `/files/checks/${drop.id}`;
  const mayDecide = hasRight(view.caller, 'drop') && seesDrop(view, drop);
  return {
    what: html`${visible(drop.name)}, dropped by ${drop.by}, waits for a decision: ${dropVerdict(drop)}`,
    count: null,
    since: drop.at,
    decide: mayDecide ? { href: page, name: 'Decide…' } : null,
    ...whose(view, 'drop', mayDecide),
    look: '/files',
  };
}

/** `all`: what several lines are together; without it, each stands by itself. `some`: the findings that they are of. */
function needsIn(
  kind: FindingKind | null,
  lines: readonly Line[],
  all: Together | undefined,
  some: readonly Open[] = [],
): Need[] {
  if (!all || lines.length < 2) return lines.map((line) => ({ ...line, kind, about: [] }));
  const isMine = lines.some((line) => line.isMine) || (lines[0]?.isMine ?? null);
  const gravity = kind === null ? 'medium' : findingRules[kind].gravity;
  const total = lines.reduce((sum, { count }) => sum + (count ?? 0), 0);
  const named = lines.slice(0, mostNamed).map(({ what, count, decide }) => {
    const way = decide && html` <a class="act" href="${decide.href}">${decide.name}</a>`;
    return html`<li>${what}${count !== null && html` (${countText(count)})`}${way}</li>`;
  });
  const more = lines.length - named.length;
  return [
    {
      ...{ kind, decide: null, look: all.look, isMine, others: isMine ? '' : (lines[0]?.others ?? '') },
      what: grave(gravity, all.name(all.of === 'counts' ? total : lines.length, some)),
      count: all.of === 'counts' || total === 0 ? null : total,
      since: lines.flatMap(({ since }) => since ?? []).toSorted()[0] ?? null,
      about: [...named, ...(more > 0 ? [html`<li>and ${countText(more)} more</li>`] : [])],
    },
  ];
}

function linesIn(finding: Open, view: View): Line[] {
  if (finding.kind !== 'file_rejected') return [lineOf(finding, view)];
  // Each file by itself.
  return finding.facts.files.map((file) => {
    const count = Number(file.kind === 'left_out' ? file.rows_left : file.problems);
    return lineOf({ ...finding, count, since: file.since, facts: { files: [file] } }, view);
  });
}

function lineOf(finding: Open, view: View): Line {
  return {
    what: rows[finding.kind](finding, view),
    count: withCount.has(finding.kind) ? finding.count : null,
    since: finding.since,
    decide: decideOf(finding, view),
    // A batch that waits for an approval says itself who may give it.
    ...(isHeld(finding) && finding.facts.waitsForApproval
      ? whose(view, null, mayApprove(finding, view))
      : whose(view, deciders[finding.kind] ?? null)),
    look: [looks[finding.kind]?.(finding) ?? ''].find((page) => page !== '' && view.mayOpen(page)) ?? null,
  };
}

const comparing: ReadonlySet<string> = new Set(['reconcile', 'reconcile_full']);

/** Why work does not move, without the runs that compared nothing: the verdict says that once. */
function unreadyBeside({ unready, figures, lastRun }: DashboardFacts): DashboardFacts['unready'] {
  if (lastRun?.verdict !== 'not_compared') return unready;
  const incomplete = figures.jobs.flatMap(({ job, kind }) => (kind === 'incomplete' ? job : []));
  return unready.filter(({ job }) => job === undefined || !comparing.has(job) || !incomplete.includes(job));
}
