import { counted, grouped } from '../../core/domain/counted.ts';
import { countedStates, type Mode } from '../../core/domain/payout.ts';
import { isCompared, type Verdict } from '../../core/domain/verdict.ts';
import { stateWords } from '../../words/state-words.ts';
import { verdictWords } from '../../words/verdict-words.ts';
import { linkLines, noticeLines, noticeTitle, type Style } from './alert-words.ts';
import type { Content, Digest } from './message.ts';

/** A message as people read it: one line, and the whole text. */
export type Wording = { title: string; text: string };

/** So many alerts are told in full; the rest is counted. */
const mostNotices = 20;

const verdictText = (verdict: Verdict): string =>
  `${verdictWords[verdict].name}${verdictWords[verdict].meaning}`;

/** The words of messages that leave as one. */
export function messageWords(contents: readonly Content[], mode: Mode, style: Style): Wording {
  const notices = contents.flatMap((one) => (one.kind === 'notices' ? one.notices : []));
  const digests = contents.flatMap((one) => (one.kind === 'digest' ? [one.digest] : []));
  const [first] = notices;
  const [digest] = digests;
  const subject =
    notices.length > 1
      ? `${notices.length} alerts`
      : first
        ? noticeTitle(first)
        : digest
          ? `reconciliation ${verdictText(digest.verdict)}`
          : 'a message';
  const rest = notices.length - mostNotices;
  const blocks = [
    ...notices.slice(0, mostNotices).map((notice) => noticeLines(notice, style)),
    ...(rest > 0 ? [[`and ${grouped(`${rest}`)} more: counterfoil status shows them.`]] : []),
    ...digests.map((one) => digestLines(one, style)),
  ];
  const title = `Counterfoil ${mode}: ${subject}`;
  return { title, text: [title, ...blocks.map((lines) => lines.join('\n'))].join('\n\n') };
}

/** The message with which a person tries a channel. */
export function testWords(mode: Mode, style: Style): Wording {
  const title = `Counterfoil ${mode}: test message`;
  const lines = ['This is a test by counterfoil doctor --alert. Nothing is wrong.', ...linkLines(style, '/')];
  return { title, text: [title, lines.join('\n')].join('\n\n') };
}

/** What people are told when `serve` ends because it cannot go on; `goesOn`: when it waits for the ledger's database. */
export function stoppedWords(
  { why, goesOn }: { why: string; goesOn: boolean },
  mode: Mode,
  style: Style,
): Wording {
  const what = goesOn ? "serve waits for the ledger's database" : 'serve has stopped';
  const title = `Counterfoil ${mode}: ${what}`;
  const lines = [
    `ALERT  ${what}. This process sends nothing and takes no webhook.`,
    `  Why: ${why}`,
    goesOn
      ? '  What to do: start the database. serve then goes on by itself; counterfoil doctor says more.'
      : '  What to do: counterfoil doctor looks for causes, such as a full disk. Then start serve again.',
    ...linkLines(style, '/'),
  ];
  return { title, text: [title, lines.join('\n')].join('\n\n') };
}

function digestLines(
  { run, verdict, currencies, payouts, totals, ages, high }: Digest,
  style: Style,
): string[] {
  const open = Object.values(ages).reduce((sum, n) => sum + n, 0);
  const own = Object.entries(currencies);
  return [
    `RECONCILIATION  ${run}`,
    ...(own.length === 0 ? [`  Verdict: ${verdictText(verdict)}`] : []),
    ...own.map(([currency, one]) => `  ${currency}: ${verdictText(one)}`),
    `  Payouts: ${listText(payouts)}`,
    ...Object.entries(totals).map(([currency, states]) => {
      const amounts = Object.entries(states).map(
        ([state, amount]) => `${stateText(state)} ${grouped(amount)}`,
      );
      return `  ${currency}: ${amounts.join(', ')}`;
    }),
    ...(open > 0
      ? [
          `  Open: ${counted(open, 'discrepancy', 'discrepancies')}, ${grouped(`${high}`)} of high severity`,
          `  By age: ${Object.entries(ages)
            .map(([days, n]) => `${grouped(`${n}`)} for ${days} days`)
            .join(', ')}`,
        ]
      : [`  Discrepancies: ${isCompared(verdict) ? 'none open' : 'not checked'}`]),
    ...linkLines(style, `/runs/${run}`),
  ];
}

function listText(counts: Record<string, number>): string {
  const parts = Object.entries(counts).map(([state, n]) => `${grouped(`${n}`)} ${stateText(state)}`);
  return parts.length > 0 ? parts.join(', ') : 'none';
}

/** The word of a state of a stored message. */
function stateText(state: string): string {
  const known = countedStates.find((one) => one === state);
  return known === undefined ? state : stateWords[known];
}
