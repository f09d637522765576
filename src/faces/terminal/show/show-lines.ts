import type { Story } from '../../../books/overview.sql.ts';
import { amountText } from '../../../core/domain/counted.ts';
import { kindRules } from '../../../core/domain/discrepancy-kinds.ts';
import { formatMinor } from '../../../core/domain/money.ts';
import { payDayText } from '../../../core/domain/pay-day.ts';
import { hasComeToNothing, type PayoutState } from '../../../core/domain/payout.ts';
import type { neighboursOf } from '../../../core/ledger/successors.ts';
import type { originOf } from '../../../sending/approvals.sql.ts';
import { adviceOnHeld } from '../../../watching/evidence/withheld.ts';
import { adviceText } from '../../../words/advice-text.ts';
import { actionFor } from '../../../words/discrepancy-words.ts';
import { payoutMoments } from '../../../words/payout-moments.ts';
import { readable } from '../../../words/readable.ts';
import { againWords, stateWords } from '../../../words/state-words.ts';
import { type QuietWatch, unknownWarning } from '../../json/evidence-json.ts';
import { payoutColours } from '../kit/colours.ts';
import { closing } from '../kit/screen.ts';
import type { Terminal } from '../kit/terminal.ts';
import { wrap, wrapAll } from '../kit/wrap.ts';

export type ShownChain = Awaited<ReturnType<typeof neighboursOf>> & Awaited<ReturnType<typeof originOf>>;

type View = {
  watch: QuietWatch;
  account: (text: string) => string;
  terminal: Terminal;
  more: readonly string[];
};

/** A payout as a person reads it: what it is, what happened when, what is open, what to do now. */
export function showLines(
  story: Story,
  chain: ShownChain,
  { watch, account, terminal, more }: View,
): string[] {
  const timeline = timelineLines(story, terminal).flatMap((line) =>
    wrap(line, terminal.width, timeWidth(line)),
  );
  const rest = [...more, ...whatNow(story, chain, watch, terminal)];
  return [
    ...wrapAll(headLines(story, chain, account, terminal), terminal.width, 2),
    '',
    ...timeline,
    ...wrapAll(rest, terminal.width, 2),
  ];
}

/** How far the text of a moment stands behind its indent. */
function timeWidth(line: string): number {
  return /^ {2}(.*?\d\d:\d\d:\d\d +)/.exec(line)?.[1]?.length ?? 0;
}

function headLines(
  { payout, archive }: Story,
  chain: ShownChain,
  account: (text: string) => string,
  { paint, time }: Terminal,
): string[] {
  const { reference, currency, amount, account_name, account_number, bank_code, state, pay_on } = payout;
  const isUnsent = state === 'ready' || state === 'held';
  const facts = [
    `batch ${payout.batch_id}, row ${payout.row_number}`,
    ...(pay_on !== '' && isUnsent ? [`not sent before ${payDayText(pay_on)}`] : []),
    ...(payout.evidence === '' ? [] : [`evidence: ${payout.evidence}`]),
  ];
  const transfer = [
    ...(payout.transfer_id === null ? [] : [`transfer ${payout.transfer_id}`]),
    ...(payout.trx === null ? [] : [`trx ${payout.trx}`]),
    ...(payout.fee === null ? [] : [`fee ${payout.fee}`]),
  ];
  return [
    [
      paint('strong', reference),
      account_name,
      `${account(account_number)} at ${bank_code}`,
      amountText(currency, formatMinor(amount, currency)),
      paint(payoutColours[state], stateWords[state]),
    ].join('   '),
    `  ${facts.join('   ')}`,
    ...(transfer.length === 0 ? [] : [`  ${transfer.join('   ')}`]),
    ...(chain.dropped_by
      ? [
          `  submitted by ${chain.dropped_by}${chain.approved_by ? `, approved by ${chain.approved_by} ${time(chain.approved_at)}` : ''}`,
        ]
      : []),
    ...(chain.predecessor ? [`  pays ${chain.predecessor} again`] : []),
    ...(chain.successor ? [`  ${againWords(chain.successorState)} ${chain.successor}`] : []),
    ...(archive ? [`  ${archiveText(archive)}`] : []),
  ];
}

function archiveText({ file, read }: NonNullable<Story['archive']>): string {
  return read
    ? `archived in ${file}: never sent or paid again`
    : `archived in ${file}, which is not in the folder archive beside the ledger: most of its story is there`;
}

const newRow =
  'To pay it, put a row with a new reference into a new file. An archived payout is never paid again.';

/** What a person can do; nothing where the payout has ended and nothing is open. */
function whatNow(story: Story, { successor }: ShownChain, watch: QuietWatch, { time }: Terminal): string[] {
  const { payout, attempts, discrepancies, lookups, archive } = story;
  const { state } = payout;
  const open = discrepancies.filter((one) => one.state !== 'resolved');
  const advice = new Set([
    ...(state === 'unknown' ? [unknownWarning(payout, attempts, watch)] : []),
    ...(state === 'held' ? [adviceText(adviceOnHeld(payout))] : []),
    ...(archive && hasComeToNothing(state) && !successor ? [newRow] : []),
    ...open.map((one) => actionFor(one)),
  ]);
  const due = lookups.find(({ outcome, asked_at }) => outcome === null && asked_at === null);
  const next = due ? [`  Next look-up: ${time(due.due_at)}.`] : [];
  const commands = commandsFor(story, successor, open);
  if (advice.size === 0 && Object.keys(commands).length === 0) return next.length === 0 ? [] : ['', ...next];
  return [
    '',
    'What now',
    ...[...advice].map((one) => `  ${readable(one, time)}`),
    ...next,
    ...closing(commands).map((line) => `  ${line}`),
  ];
}

function commandsFor(
  { payout: { reference, state }, archive }: Pick<Story, 'payout' | 'archive'>,
  successor: ShownChain['successor'],
  open: Story['discrepancies'],
): Record<string, string> {
  const settle = `counterfoil settle ${reference} --as`;
  const ids = open.map(({ id }) => id).join(' ');
  const resolve = `counterfoil resolve ${ids} --note "what was done"`;
  // While evidence about it conflicts, nobody is offered to pay it again (P20).
  const isInDoubt = open.some(({ kind }) => kindRules[kind].againstEvidence);
  return {
    ...(state === 'unknown' && {
      'it was paid': `${settle} paid --note "who said so"`,
      'it was not': `counterfoil retry ${reference}`,
    }),
    ...(hasComeToNothing(state) &&
      (successor
        ? { 'what became of it': `counterfoil show ${successor}` }
        : !archive && !isInDoubt && { 'pay it again': `counterfoil retry ${reference}` })),
    ...(open.length > 0 && state !== 'unknown' && { 'dealt with': resolve }),
  };
}

/** What happened to a payout, the oldest first: each fact once, with its source. */
function timelineLines(story: Story, terminal: Terminal): string[] {
  const painted = (state: PayoutState): string => terminal.paint(payoutColours[state], stateWords[state]);
  const moments = payoutMoments(story, painted);
  const width = Math.max(...moments.map(({ at }) => terminal.timeWithSeconds(at).length), 0);
  return moments.map(
    ({ at, text }) => `  ${terminal.timeWithSeconds(at).padEnd(width)}   ${readable(text, terminal.time)}`,
  );
}
