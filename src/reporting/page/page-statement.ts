import { counted, grouped } from '../../domain/counted.ts';
import {
  type ExceptionLine,
  exceptionLines,
  isUsable,
  type ListStanding,
  type Verdict,
} from '../../domain/verdict.ts';
import type { RunVerdict } from '../run-verdicts.sql.ts';
import { records } from '../sheet.ts';
import { escapeHtml, link, type Piece, paragraph, section, table } from './page-markup.ts';
import { amountText } from './page-words.ts';
import { listWords, verdictMark } from './verdict-words.ts';

type Sum = { count: bigint; amount: string };
type Lines = Record<string, Sum>;
/** The page's facts about a run's list and currencies. */
export type Judged = { list: ListStanding | null; verdicts: readonly RunVerdict[] };

/** The lines in two sums, as a reader adds them: the word before each says whether it is added or taken off. */
const ledgerLines: [string, string][] = [
  ['opening', 'Open at the beginning'],
  ['submitted', 'plus sent for the first time'],
  ['reopened', 'plus reopened'],
  ['settled', 'less paid'],
  ['failed', 'less failed'],
  ['refused', 'less refused by the service'],
  ['closing', 'equals open at the end'],
  ['in_flight', 'of these in flight'],
  ['unknown', 'of these unknown: they may be paid'],
];
const paidLines: [string, string][] = [
  ['settled', 'Paid'],
  ['returned', 'less paid and came back'],
  ['net_paid', 'equals net paid'],
  ['fees', 'Fees reported'],
];
const serviceLines: [string, string][] = [
  ['submitted', 'Sent for the first time'],
  ['failed', 'less failed'],
  ['refused', 'less refused by the service'],
  ['unseen', 'less sent, and not on the service’s list'],
  ['foreign', 'plus on the list, and not ordered here'],
  ['amount_differences', 'plus listed with another amount or currency'],
  ['timing', 'plus known to one side later than to the other'],
  ['unexplained', 'plus explained by nothing'],
  ['listed_by_service', 'equals listed by the service'],
];
const sums = new Set(['closing', 'net_paid', 'listed_by_service']);
/** The most currencies on the page: the service decides how many it lists. */
const mostCurrencies = 12;

/** The statement of each currency, its verdict first. */
export function statementSection(sheet: string[][] | undefined, judged: Judged): string {
  const all = [...byCurrency(sheet)];
  const parts = all
    .slice(0, mostCurrencies)
    .map(([currency, lines]) => currencyPart(currency, lines, judged));
  if (all.length > mostCurrencies)
    parts.push(paragraph(`… and ${all.length - mostCurrencies} more currencies in statement.csv.`));
  if (all.length === 0)
    parts.push(
      paragraph(
        isUsable(judged.list)
          ? 'Nothing was sent, and the service lists nothing: there is no money to state.'
          : `Nothing was sent. What the service lists was not checked: ${listWords[judged.list ?? 'unread']}.`,
      ),
    );
  return section('statement', 'Statement', parts.join(''));
}

function currencyPart(currency: string, lines: Lines, { list, verdicts }: Judged): string {
  const judged = verdicts.find((one) => one.currency === currency);
  const body = (names: [string, string][]): Piece[][] =>
    names.map(([line, label]) => {
      const { count, amount } = lines[line] ?? { count: 0n, amount: '0' };
      const strong = (text: string): Piece =>
        sums.has(line) ? { html: `<strong>${escapeHtml(text)}</strong>` } : text;
      return [
        strong(label),
        { html: `<code>${line}</code>` },
        strong(grouped(`${count}`)),
        strong(grouped(amount)),
      ];
    });
  const columns = [
    { name: 'Line' },
    { name: 'In statement.csv' },
    { name: 'Payouts', number: true },
    { name: `Amount (${currency})`, number: true },
  ];
  const against =
    judged?.verdict === 'not_compared'
      ? paragraph({
          html: `<strong>Not checked:</strong> which of these payouts the service lists, and whether it lists others.`,
        })
      : table(`${currency}: against the service’s list`, columns, body(serviceLines)) + unreadPart(lines);
  const words = judged ? verdictPart(currency, lines, judged, list) : olderPart;
  return `<h3>${escapeHtml(currency)}</h3>
${words}${table(`${currency}: what became of the payouts`, columns, body(ledgerLines))}${table(`${currency}: paid`, columns, body(paidLines))}${against}`;
}

const olderPart = paragraph(
  'This run was made before verdicts were kept: run counterfoil reconcile for one.',
);

function verdictPart(
  currency: string,
  lines: Lines,
  { verdict, overturned }: RunVerdict,
  list: Judged['list'],
): string {
  const words: Record<Verdict, () => string> = {
    reconciled: () => 'Every payout and every transfer on the service’s list is explained.',
    exceptions: () => {
      const off = exceptionTexts(currency, lines, overturned).map(escapeHtml).join('; ');
      return `${off}. ${link('statement-rows.csv', 'statement-rows.csv')} names each row and why. Until that is explained, do not sign this statement off.`;
    },
    not_compared: () =>
      escapeHtml(
        `${listWords[list ?? 'unread']}. Paid amounts rest on earlier evidence only. Do not sign this statement off.`,
      ),
  };
  return `<p class="verdict is-${verdict}" data-currency="${escapeHtml(currency)}" data-verdict="${verdict}"><strong>${escapeHtml(currency)}</strong> ${verdictMark(verdict)} ${words[verdict]()}</p>\n`;
}

const exceptionWords: Record<ExceptionLine, string> = {
  unseen: 'sent, and not on the service’s list',
  foreign: 'on the list, and not ordered here',
  amount_differences: 'listed with another amount or currency',
  unexplained: 'not explained',
  unreadable: 'listed with an unreadable amount',
};

/** Each line that is not empty with its count and amount; what is paid here and failed there comes first. */
function exceptionTexts(currency: string, lines: Lines, overturned: bigint): string[] {
  const first =
    overturned > 0n
      ? [
          `${counted(overturned, 'payout')} reported as paid ${overturned === 1n ? 'is' : 'are'} failed on the service’s list`,
        ]
      : [];
  const others = exceptionLines.flatMap((line) => {
    const { count, amount } = lines[line] ?? { count: 0n, amount: '' };
    if (count === 0n) return [];
    const money = amount === '' ? '' : `, ${amountText(currency, amount)}`;
    return [`${grouped(`${count}`)} ${exceptionWords[line]}${money}`];
  });
  return first.length + others.length > 0 ? [...first, ...others] : ['the books do not add up'];
}

/** Unreadable amounts are in no sum, so they are listed below the table. */
function unreadPart(lines: Lines): string {
  const { count } = lines.unreadable ?? { count: 0n };
  if (count === 0n) return '';
  return paragraph({
    html: `<strong>Besides these, ${grouped(`${count}`)} listed with an unreadable amount</strong> (<code>unreadable</code>): in no sum above.`,
  });
}

function byCurrency(sheet: string[][] | undefined): Map<string, Lines> {
  const found = new Map<string, Lines>();
  for (const { currency = '', line = '', count = '0', amount = '0' } of records(sheet)) {
    found.set(currency, { ...found.get(currency), [line]: { count: BigInt(count), amount } });
  }
  return found;
}
