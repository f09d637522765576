import { join } from 'node:path';
import type * as reconcileJob from '../../../../jobs/reconcile.ts';
import type { App } from '../../../app/app.ts';
import { listOpen, openGroups } from '../../../books/discrepancies/discrepancies.sql.ts';
import { payoutOverview } from '../../../books/overview.sql.ts';
import { amountText, counted, grouped } from '../../../core/domain/counted.ts';
import { plainTrouble } from '../../../core/domain/run-error.ts';
import {
  agrees,
  differs,
  exceptionLines,
  isCompared,
  isUsable,
  needsAPerson,
} from '../../../core/domain/verdict.ts';
import type { CurrencyJson } from '../../../core/shapes/run-shapes.ts';
import { commandFor } from '../../../words/discrepancy-words.ts';
import type { SaidHalt } from '../../../words/halt-words.ts';
import {
  differenceName,
  differenceWords,
  isStatementLine,
  lineWords,
  overturnedWords,
} from '../../../words/line-words.ts';
import { listWords } from '../../../words/list-words.ts';
import { verdictWords } from '../../../words/verdict-words.ts';
import type { Screen } from '../context/result.ts';
import type { Context } from '../context/world.ts';
import { collectionLines, countsText, haltText } from '../kit/describe.ts';
import { pathText } from '../kit/file-lines.ts';
import { openSummary, openTable } from '../kit/open-table.ts';
import { type Terminal, terminalOf } from '../kit/terminal.ts';

type Run = reconcileJob.ReconcileResult;

/** A run with what is open after it, and what still moves. */
export type Concluded = Awaited<ReturnType<typeof runConclusion>>;

/** Reads what the lines about a run need besides its figures. */
export async function runConclusion(context: Context, app: App, run: Run, halted: SaidHalt | undefined) {
  const groups = await openGroups(app.ledger.db);
  const [gravest] = groups.length > 0 ? await listOpen(app.ledger.db, { states: ['open'] }, 1) : [];
  const { payouts } = await payoutOverview(app.ledger.db);
  return {
    run,
    halted,
    groups,
    gravest,
    payouts,
    nowMs: app.clock.now(),
    terminal: terminalOf(context, app.config, app.clock.iso()),
    cwd: context.cwd,
    index: join(app.paths.reports, 'index.html'),
  };
}

/** The whole story of a run: verdicts, what is open by gravity, the report and the next command. */
export function runScreen(concluded: Concluded): Screen {
  const { run, terminal, cwd } = concluded;
  const blocks = [
    [...(run.taken ?? []).flatMap(collectionLines), titleLine(concluded)],
    [...verdictLines(run, terminal), ...madeOfLines(run)],
    isUsable(run.list) ? [] : uncheckedLines(concluded),
    openLines(concluded),
    besideLines(run),
    shortCutLines(run),
    haltLines(concluded),
  ];
  const report = run.reports.find((path) => path.endsWith('report.html')) ?? '';
  const end = { Report: report === '' ? '' : pathText(cwd, report), Next: nextCommand(concluded) };
  return { blocks, end };
}

/** What --quiet prints: only what is behind a non-zero exit code. */
export function reconcileTrouble(concluded: Concluded): string[] {
  const { run, terminal, groups } = concluded;
  const partly = (run.taken ?? []).filter(({ skipped }) => skipped > 0);
  return [
    ...partly.flatMap(collectionLines),
    ...(isCompared(run.verdict) ? [] : [titleLine(concluded)]),
    ...(needsAPerson(run.verdict) ? verdictLines(run, terminal) : []),
    ...(groups.length > 0 ? [...openLines(concluded), 'Next: counterfoil discrepancies'] : []),
    ...haltLines(concluded),
  ];
}

function titleLine({ run, terminal, nowMs }: Concluded): string {
  const title = terminal.paint('strong', `Reconciliation, ${terminal.time(new Date(nowMs).toISOString())}`);
  const { brief } = listWords[run.list];
  if (run.list === 'unread') return `${title}   ${brief}`;
  return `${title}   ${counted(run.listed, 'transfer')} read in ${counted(run.passes, 'pass', 'passes')}, ${brief}`;
}

type Difference = { currency: string; verdict: string; what: string; amount: string };

/** The verdict and the non-zero lines of each currency; the run's verdict when no money moved. */
function verdictLines({ verdict, statement, list }: Run, terminal: Terminal): string[] {
  const all = Object.entries(statement);
  if (all.length === 0) return list === 'unread' ? [] : [`  ${verdictWords[verdict].name}`];
  const rows = all.flatMap(([currency, one]) => differencesOf(currency, one));
  const colourOf = new Map(all.map(([currency, one]) => [currency, verdictWords[one.verdict].colour]));
  return terminal.table(
    [
      { title: '', cell: ({ verdict: words, currency }) => (words === '' ? '' : currency) },
      {
        title: 'Verdict',
        cell: ({ verdict: text, currency }) => ({ text, colour: colourOf.get(currency) ?? 'strong' }),
      },
      { title: 'Differences', optional: true, cell: ({ what }) => what },
      { title: 'Amount', right: true, optional: true, cell: ({ amount }) => amount },
    ],
    rows,
  );
}

/** What is paid here and failed there comes first. */
function differencesOf(currency: string, one: CurrencyJson): Difference[] {
  const words = verdictWords[one.verdict].name;
  const only = agrees(one.verdict) ? 'none' : '';
  if (!differs(one.verdict)) return [{ currency, verdict: words, what: only, amount: '' }];
  const overturned = one.overturned
    ? [{ what: `${overturnedWords}: ${one.overturned.count}`, amount: one.overturned.amount }]
    : [];
  const others = exceptionLines.flatMap((line) => {
    const { count = 0, amount = '' }: { count?: number; amount?: string } = one[line] ?? {};
    return count === 0 ? [] : [{ what: `${lineWords[line]}: ${grouped(`${count}`)}`, amount }];
  });
  return [...overturned, ...others].map(({ what, amount }, index) => ({
    currency,
    verdict: index === 0 ? words : '',
    what,
    amount: amount === '' ? '' : amountText(currency, amount),
  }));
}

/** How far the list is from net paid in each currency, and what that is made of. */
function madeOfLines({ statement }: Run): string[] {
  return Object.entries(statement).flatMap(([currency, { difference }]) => {
    if (!difference) return [];
    const { amount, listed, net_paid: paid, made_of: madeOf } = difference;
    const parts = Object.entries(madeOf).map(
      ([line, one]) => `${isStatementLine(line) ? differenceName(line) : line} ${grouped(one.amount)}`,
    );
    const { listed_by_service: theirs, net_paid: ours } = lineWords;
    const sums = `${theirs} ${grouped(listed)}, ${ours} ${grouped(paid)}, ${differenceWords} ${grouped(amount)}`;
    return [`  ${currency}: ${sums}: ${parts.join(', ')}`];
  });
}

function uncheckedLines({ run, payouts }: Concluded): string[] {
  const parts = [
    ['in flight', (payouts.sending ?? 0) + (payouts.pending ?? 0)],
    ['unknown', payouts.unknown ?? 0],
    ['waiting to be sent', (payouts.ready ?? 0) + (payouts.held ?? 0)],
  ] as const;
  const some = parts.flatMap(([what, n]) => (n === 0 ? [] : [`${grouped(`${n}`)} ${what}`]));
  const still = some.length === 0 ? 'No payout is in flight.' : `Payouts: ${some.join(', ')}.`;
  const trouble = plainTrouble(run.trouble ?? '').replace(/[^?]$/, '$&.');
  const why = run.list === 'unread' || trouble === '' ? [] : [`  The list proves nothing: ${trouble}`];
  // The look-ups may mark payouts as missing although the list proves nothing.
  const missing = run.discrepancies.open.missing_at_service ?? 0;
  const checked =
    missing > 0 ? 'Nothing was compared.' : 'Nothing was checked, and no payouts were marked missing.';
  return [...why, `  ${checked} ${still}`];
}

function openLines({ run, groups, terminal, nowMs }: Concluded): string[] {
  const { opened, resolved } = run.discrepancies;
  const checked = isUsable(run.list);
  if (groups.length === 0)
    return checked ? [`  Nothing is open${resolved > 0 ? `; ${resolved} resolved by this run` : ''}.`] : [];
  const open = openSummary(groups);
  const unchecked =
    opened + resolved > 0
      ? `Open: ${open}; ${opened} opened, ${resolved} resolved by this run. Others were not checked.`
      : `Open from before, and not checked: ${open}.`;
  const title = checked ? `Open: ${open}; ${opened} opened, ${resolved} resolved by this run.` : unchecked;
  return [...openTable(groups, terminal, nowMs), `  ${title}`];
}

/** Follow-up questions, how webhooks arrive, and collections; empty when there are none. */
function besideLines({ lookups, resends, webhooks, resend_requests: again, collections }: Run): string[] {
  const lines: string[] = [];
  const waiting = again?.waiting ?? 0;
  const more =
    waiting === 0
      ? ''
      : ` (${waiting} more wait for their time or the rate limit: counterfoil serve or the next reconcile asks for them)`;
  if (lookups + resends + waiting > 0)
    lines.push(
      `  Asked the service: ${counted(lookups, 'look-up')}, ${counted(resends, 'resend request')}${more}.`,
    );
  if (webhooks && webhooks.due + webhooks.forged > 0) {
    const { due, heard, late, resent, forged } = webhooks;
    lines.push(
      `  Webhooks: ${heard} of ${due} due were received (${late} late, ${resent} after asking again), ${due - heard} missing, ${forged} forged.`,
    );
  }
  if (again && again.gave_up > 0)
    lines.push(`  ${again.gave_up} were asked for again without success: no more requests are made.`);
  if (collections && Object.keys(collections.states).length > 0)
    lines.push(
      `  Collections: ${countsText(collections.states)}; ${collections.verified} asked about by this run.`,
    );
  return lines;
}

/** What a whole listing found that earlier short cuts missed (P29). */
function shortCutLines({ short_cut: shortCut }: Run): string[] {
  if (!shortCut) return [];
  return [
    `warning: earlier runs took a short cut and missed ${shortCut.missed} transfers, which this run compared; runs read the whole list again until a reconcile --full sees its order hold`,
  ];
}

function haltLines({ halted, terminal }: Concluded): string[] {
  return halted ? [`Sending is halted ${haltText(halted, terminal)}`] : [];
}

function nextCommand({ run, gravest }: Concluded): string {
  if (run.list === 'unread') return 'counterfoil doctor';
  return gravest ? commandFor(gravest) : '';
}
