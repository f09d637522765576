import { escapeHtml, link, type Piece, paragraph, section, table } from './page-markup.ts';
import { amountText, counted, grouped, records } from './page-words.ts';

type Sum = { count: bigint; amount: string };
type Lines = Record<string, Sum>;
/** Whether the statement of a currency adds up; `off` says by how much where it does not. */
export type Verdict = { currency: string; ties: boolean; off: string };

/** The lines in two sums, as a reader adds them: the word before each says whether it is added or taken off. */
const ledgerLines: [string, string][] = [
  ['opening', 'Open at the beginning'],
  ['submitted', 'plus sent for the first time'],
  ['reopened', 'plus opened again: ended before, and alive after all'],
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
  ['net_paid', 'equals paid for good'],
  ['fees', 'Fees told for what was paid'],
];
const serviceLines: [string, string][] = [
  ['submitted', 'Sent for the first time'],
  ['failed', 'less failed'],
  ['refused', 'less refused by the service'],
  ['unseen', 'less sent, and not on the service’s list'],
  ['foreign', 'plus on the list, and ordered by nobody here'],
  ['amount_differences', 'plus listed with another amount or currency'],
  ['timing', 'plus known to one side later than to the other'],
  ['unexplained', 'plus explained by nothing'],
  ['listed_by_service', 'equals listed by the service'],
];
const sums = new Set(['closing', 'net_paid', 'listed_by_service']);
/** The service decides which currencies it lists: no more of them than this stand on the page. */
const mostCurrencies = 12;

/** The verdict on each currency of a statement sheet, in its order. */
export function verdicts(sheet: string[][] | undefined): Verdict[] {
  return [...byCurrency(sheet)].map(([currency, lines]) => ({ currency, ...verdictOf(currency, lines) }));
}

export function statementSection(sheet: string[][] | undefined): string {
  const all = [...byCurrency(sheet)];
  const parts = all.slice(0, mostCurrencies).map(([currency, lines]) => currencyPart(currency, lines));
  if (all.length > mostCurrencies)
    parts.push(paragraph(`… and ${all.length - mostCurrencies} more currencies in statement.csv.`));
  if (all.length === 0)
    parts.push(paragraph('Nothing was sent, and the service lists nothing: there is no money to state.'));
  return section('statement', 'Statement', parts.join(''));
}

function currencyPart(currency: string, lines: Lines): string {
  const { ties, off } = verdictOf(currency, lines);
  const words = ties
    ? '<span class="good">✓ ties.</span> Every payout and every transfer on the service’s list is explained.'
    : `<span class="bad">✗ does not tie:</span> ${escapeHtml(off)}. ${link('statement-rows.csv', 'statement-rows.csv')} names each row and why. Until that is explained, do not sign this statement off.`;
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
  return `<h3>${escapeHtml(currency)}</h3>
<p class="verdict ${ties ? 'tied' : 'loose'}"><strong>${escapeHtml(currency)}</strong> ${words}</p>
${table(`${currency}: what became of the payouts`, columns, body(ledgerLines))}${table(`${currency}: paid`, columns, body(paidLines))}${table(`${currency}: against the service’s list`, columns, body(serviceLines))}`;
}

function verdictOf(currency: string, lines: Lines): { ties: boolean; off: string } {
  const of = (line: string): Sum => lines[line] ?? { count: 0n, amount: '0' };
  const zero = (amount: string): boolean => /^-?0*(\.0*)?$/.test(amount);
  const { count, amount } = of('unexplained');
  const off: string[] = [];
  if (count !== 0n || !zero(amount))
    off.push(
      `${amountText(currency, amount)} (${counted(count, 'transfer')}) on the service’s list is explained by nothing`,
    );
  const parts = [of('in_flight'), of('unknown')];
  const open = minor(of('closing').amount) - parts.reduce((sum, one) => sum + minor(one.amount), 0n);
  const openCount = of('closing').count - parts.reduce((sum, one) => sum + one.count, 0n);
  if (open !== 0n || openCount !== 0n)
    off.push(
      `what is open at the end is not what is in flight and unknown (${counted(openCount, 'payout')} apart)`,
    );
  return { ties: off.length === 0, off: off.join('; ') };
}

/** All amounts of a currency have the same digits, so that without the point they are comparable integers. */
function minor(amount: string): bigint {
  return /^-?\d+(\.\d+)?$/.test(amount) ? BigInt(amount.replace('.', '')) : 0n;
}

function byCurrency(sheet: string[][] | undefined): Map<string, Lines> {
  const found = new Map<string, Lines>();
  for (const { currency = '', line = '', count = '0', amount = '0' } of records(sheet)) {
    found.set(currency, { ...found.get(currency), [line]: { count: BigInt(count), amount } });
  }
  return found;
}
