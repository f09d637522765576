import type { LastRun } from '../../../books/run-verdicts.sql.ts';
import { amountText, counted, grouped } from '../../../core/domain/counted.ts';
import { visible } from '../../../core/domain/hidden.ts';
import { formatMinor } from '../../../core/domain/money.ts';
import { differs, isUsable } from '../../../core/domain/verdict.ts';
import { waitingWhy } from '../../../core/domain/waiting-file.ts';
import type { BatchCounts } from '../../../core/ledger/batches.ts';
import type { Config } from '../../../core/settings/settings.ts';
import type { Finding } from '../../../findings/finding.ts';
import { notedReason } from '../../../findings/job-findings.ts';
import { findingRules, type KindsOn } from '../../../findings/kinds.ts';
import { submitCommand } from '../../../words/advice-text.ts';
import { findingWords, type SaidFinding, unnoted } from '../../../words/finding-words.ts';
import { readable } from '../../../words/readable.ts';
import { rejectedText, rejectionWaysOut } from '../../../words/rejected-words.ts';
import { upperFirst } from '../../../words/results/obstacle-words.ts';
import { verdictWords } from '../../../words/verdict-words.ts';
import { type JobStanding, jobLabel } from '../../json/jobs-standing.ts';
import { heldBecause } from '../../json/list-json.ts';
import { queueText } from '../../json/queue-standing.ts';
import type { StatusFacts } from '../../json/status-standing.ts';
import type { Screen } from '../context/result.ts';
import { countsText, haltText, standText, waivedText } from '../kit/describe.ts';
import { openSummary } from '../kit/open-table.ts';
import type { Terminal } from '../kit/terminal.ts';
import { attentionLines } from '../submit/submit-lines.ts';
import { promisedLines } from './promised.ts';
import { brakeLines } from './waiting.ts';

/** The facts, and the terminal that shows them. */
type Shown = StatusFacts & { terminal: Terminal };

/** At most this many batches and files are printed. */
const most = 10;

/** Where everything stands: one line of state, the batches, what needs a person, what runs next. */
export function statusScreen(standing: Shown, config: Pick<Config, 'mode'>): Screen {
  const { terminal } = standing;
  const blocks = [
    [headLine(config.mode, standing), ...haltLines(standing), ...waivedLines(standing)],
    batchTable(standing),
    [...personLines(standing), ...attentionLines(standing.needed)],
    [
      ...inboxLines(standing),
      ...promisedLines(standing.promised),
      ...brakeLines(standing.brakes, config, terminal),
      ...standing.alerts.problems.map((one) => `! alerts: ${one}`),
      ...webhookLines(standing),
      ...standing.findings.flatMap((one) => otherLine(one) ?? []),
    ],
    scheduleLines(standing),
  ];
  return { blocks, end: { Next: nextCommand(standing, config) } };
}

function headLine(mode: string, { halted, lastRun, terminal }: Shown): string {
  const sending = halted ? terminal.paint('bad', 'HALTED') : 'sending';
  return `${mode} mode   ${sending}   ${lastRunText(lastRun, terminal)}`;
}

function lastRunText(last: LastRun | undefined, { time, paint }: Terminal): string {
  if (!last) return 'never reconciled';
  const all = last.currencies.map(({ currency, verdict }) => {
    const { colour, name } = verdictWords[verdict];
    return `${currency} ${paint(colour, name)}`;
  });
  const words = all.length > 0 ? all.join(', ') : verdictWords[last.verdict].name;
  return `last reconciliation ${time(last.startedAt)}: ${words}`;
}

function haltLines({ halted, overview: { payouts }, terminal }: Shown): string[] {
  return halted ? [`  Halted ${haltText(halted, terminal)} (${standText(payouts.ready ?? 0)})`] : [];
}

function waivedLines({ waived, terminal }: Shown): string[] {
  return waived ? [`  ${waivedText(waived, terminal.time)}`] : [];
}

function batchTable({ batches, openByBatch, unpaid, terminal }: Shown): string[] {
  if (batches.length === 0) return ['  No batches: nothing was taken in yet.'];
  const shown = batches.slice(-most).toReversed();
  const sum = (one: BatchCounts, ...states: (keyof BatchCounts['counts'])[]): number =>
    states.reduce((n, state) => n + (one.counts[state] ?? 0), 0);
  const number = (n: number): string => grouped(`${n}`);
  const orEmpty = (n: number): string => (n === 0 ? '' : number(n));
  const lines = terminal.table(
    [
      { title: 'Batch', cell: ({ batch }) => batch.id },
      { title: 'Payouts', right: true, spare: true, cell: ({ batch }) => number(Number(batch.row_count)) },
      { title: 'Paid', right: true, cell: paidText },
      { title: 'Waiting', right: true, optional: true, cell: (one) => orEmpty(sum(one, 'ready', 'held')) },
      { title: 'In flight', right: true, cell: (one) => number(sum(one, 'sending', 'pending')) },
      // Each unknown payout is named below.
      {
        title: 'Unknown',
        right: true,
        optional: true,
        spare: true,
        cell: (one) => orEmpty(sum(one, 'unknown')),
      },
      {
        title: 'Open',
        right: true,
        spare: true,
        cell: ({ batch }) => number(openByBatch.get(batch.id) ?? 0),
      },
    ],
    shown,
  );
  // A payout that did not go through is in no other figure of the table.
  const ended = [...Map.groupBy(unpaid, ({ state }) => state)].map(([state, sums]) => {
    const count = sums.reduce((n, one) => n + one.count, 0n);
    return `  ${counted(count, 'payout')} ${state}: counterfoil payouts --state ${state}`;
  });
  const rest = batches.length - shown.length;
  return rest > 0
    ? [...lines, ...ended, `  and ${counted(rest, 'earlier batch', 'earlier batches')}: counterfoil batches`]
    : [...lines, ...ended];
}

function paidText({ totalsByState }: BatchCounts): string {
  const paid = Object.entries(totalsByState).map(([currency, states]) =>
    amountText(currency, states.success ?? formatMinor(0n, currency)),
  );
  return paid.length === 0 ? '-' : paid.join(', ');
}

/** What waits for a person. Says "not checked", never "nothing", when no list was compared. */
function personLines(standing: Shown): string[] {
  const { batches, findings, groups, halted, lastRun, needed, rejected, terminal } = standing;
  const held = batches.filter(({ state }) => state === 'held');
  const checked = lastRun !== undefined && isUsable(lastRun.list);
  const open = groups.reduce((sum, { count }) => sum + count, 0);
  const parts = [
    ...(halted ? ['the halt'] : []),
    ...(needed.unknown.count > 0 ? [`${grouped(`${needed.unknown.count}`)} unknown`] : []),
    ...(held.length > 0 ? [`${counted(held.length, 'batch', 'batches')} held`] : []),
    ...(rejected.length > 0 ? [`${counted(rejected.length, 'file')} refused or taken in part`] : []),
    ...(open > 0 ? [`${counted(open, 'discrepancy', 'discrepancies')} (${openSummary(groups)})`] : []),
  ];
  if (parts.length === 0 && lastRun && differs(lastRun.verdict))
    parts.push('the exceptions of the last reconciliation (its report names them)');
  const nothing = checked && findings.length === 0 ? 'nothing' : '';
  const waits = parts.length > 0 ? terminal.paint('doubt', parts.join(', ')) : nothing;
  return [
    ...(waits === '' ? [] : [`  Needs a person: ${waits}`]),
    ...(checked || batches.length === 0
      ? []
      : [`  Discrepancies: ${open > 0 ? 'others ' : ''}not checked since there is no list to compare with`]),
    // Batches of any age: each waits for a person.
    ...held.flatMap(({ batch, state }) =>
      heldBecause({ batch, state }).map((reason) => `  held: ${batch.id}: ${reason}`),
    ),
  ];
}

/** Stands for each of the files above. */
const anyFile = { place: 'the file', name: 'FILE' };

function onHost({ host }: Shown['rejected'][number]): string {
  return host === null ? '' : `, on ${host}`;
}

function inboxLines({ inbox, rejected }: Shown): string[] {
  const more = rejected.length - most;
  return [
    ...rejected.slice(0, most).map((file) => `  rejected: ${rejectedText(file)}${onHost(file)}`),
    ...(more > 0 ? [`  rejected: and ${counted(more, 'more file')}`] : []),
    ...new Set(rejected.map(({ kind }) => `  ${upperFirst(rejectionWaysOut[kind](anyFile))}`)),
    ...(inbox.files > 0 ? [`  Inbox: ${counted(inbox.files, 'file')} waiting`] : []),
    ...inbox.waiting.slice(0, most).map(({ name, why }) => `  waiting: ${visible(name)}: ${waitingWhy(why)}`),
    ...inbox.ignored.slice(0, most).map(({ name, why }) => `  ignored: ${name}: ${why}`),
  ];
}

function webhookLines({ webhooks, lookUps, collections, queue }: Shown): string[] {
  const { received, applied, rejected, differing, forged, at_last_run: then } = webhooks;
  const { due = 0, heard = 0, late = 0, resent = 0 } = then ?? {};
  const arrived =
    due > 0
      ? `; at the last reconciliation ${heard} of ${due} due had come (${late} late, ${resent} after asking again)`
      : '';
  const refused = forged > 0 || due > 0 ? `; ${forged} forged since the last run` : '';
  return [
    ...(received + rejected + due + forged > 0
      ? [`  Webhooks: ${received} received, ${applied} applied, ${rejected} rejected${arrived}${refused}`]
      : []),
    ...(differing > 0
      ? [
          `  ${differing} named a reference in X-Webhook-Reference that their body does not name: every named payout was looked up`,
        ]
      : []),
    ...(lookUps.overdue_seconds === null
      ? []
      : [
          `! ${counted(lookUps.due, 'look-up')} overdue, the oldest for ${counted(Math.floor(lookUps.overdue_seconds / 60), 'minute')}: payouts wait for the answers (counterfoil doctor)`,
        ]),
    ...(Object.keys(collections).length > 0 ? [`  Collections: ${countsText(collections)}`] : []),
    ...(queue.kind === 'inline' ? [] : [`  Queue: ${queueText(queue)}`]),
  ];
}

function scheduleLines({ daemon, jobs, findings, terminal }: Shown): string[] {
  const { running, elsewhere = false } = daemon;
  const next = jobs.flatMap(({ job, here, next_run_at: at }) =>
    at === null || !here ? [] : [`${job} ${terminal.time(at)}`],
  );
  const schedules =
    running || elsewhere
      ? `  Daemon ${running ? 'running' : elsewhereText}; next: ${next.length > 0 ? next.join(', ') : 'nothing is scheduled'}`
      : '  No daemon runs: counterfoil serve starts one, or run submit and reconcile from cron';
  return [
    schedules,
    ...jobs.flatMap((job) => jobLines(job, terminal)),
    ...(findings.some(({ kind }) => kind === 'sending_idle')
      ? [
          '  ! Payouts are ready, and nothing that sends has run for an hour: start counterfoil serve, or run counterfoil submit from cron',
        ]
      : []),
  ];
}

type Said = (finding: Finding) => SaidFinding;
/** What `status` says of a finding that its other lines do not show; null: they do. */
const otherWords: Record<KindsOn<'status'>, Said | null> = {
  sending_halted: null,
  canary_failed: findingWords.canary_failed.alerts,
  discrepancy_open: null,
  webhooks_overdue: findingWords.webhooks_overdue.ready,
  look_ups_overdue: null,
  schedule_failed: null,
  schedule_missed: null,
  disk_unseen: findingWords.disk_unseen.ready,
  outcome_unknown: null,
  batch_held: null,
  approval_unanswered: findingWords.approval_unanswered.doctor,
  file_rejected: null,
  file_lost: null,
  signatures_wrong: findingWords.signatures_wrong.alerts,
  receiver_silent: findingWords.receiver_silent.alerts,
  certificate_ends: findingWords.certificate_ends.doctor,
  disk_low: findingWords.disk_low.doctor,
  answer_awaited: null,
  payout_kept: null,
  sending_idle: null,
  backup_late: findingWords.backup_late.doctor,
  events_undelivered: findingWords.events_undelivered.doctor,
  message_lost: null,
  run_unsound: null,
};

function otherLine(finding: Finding<KindsOn<'status'>>): string | null {
  const said = otherWords[finding.kind]?.(finding);
  return said ? `! ${said.problem.replace(/\.$/, '')}: ${said.fix}` : null;
}

const elsewhereText =
  'running on this ledger, but for another data folder: files in this inbox wait for counterfoil submit, or for counterfoil serve here';

function jobLines(job: JobStanding, { time }: Shown['terminal']): string[] {
  const { finding, last_result: result } = job;
  const problem = finding && findingWords[finding.kind].doctor(finding).problem;
  // The whole cause is in `doctor`.
  if (problem !== null)
    return [
      `  ! ${jobLabel(job)}: ${readable(/^(?:[^.(]|\.(?! |$))*/.exec(problem)?.[0].trimEnd() ?? problem, time)}`,
    ];
  return result?.kind === 'skipped'
    ? [`  ${jobLabel(job)}: it was skipped: ${notedReason(result) ?? unnoted}`]
    : [];
}

function nextCommand(standing: Shown, { mode }: Pick<Config, 'mode'>): string {
  const { batches, lastRun, halted, findings, inbox } = standing;
  if (halted) return '';
  if (batches.length === 0 && inbox.files === 0) return 'counterfoil submit FILE';
  const next = findings.find(({ kind }) => findingRules[kind].next);
  if (next) return `counterfoil ${findingRules[next.kind].verb}`;
  if (waitsForSubmit(standing)) return submitCommand(mode);
  return lastRun ? '' : 'counterfoil reconcile';
}

/** Whether only `submit` takes files in, or sends what nothing keeps back: no daemon does it. */
function waitsForSubmit({ daemon, inbox, overview: { payouts }, brakes }: Shown): boolean {
  const { running, elsewhere = false } = daemon;
  if (running || elsewhere) return false;
  return inbox.files > 0 || ((payouts.ready ?? 0) > 0 && brakes.waits.length === 0);
}
