import type { RunVerdict } from '../../../books/run-verdicts.sql.ts';
import { records } from '../../../books/sheet.ts';
import {
  type CurrencyLines,
  isZero,
  lineOf,
  linesByCurrency,
} from '../../../books/statement/statement-figures.ts';
import { counted, grouped } from '../../../core/domain/counted.ts';
import {
  agrees,
  differs,
  isCompared,
  isUsable,
  type ListStanding,
  type Verdict,
  worstVerdict,
} from '../../../core/domain/verdict.ts';
import { listStart } from '../../../words/list-words.ts';
import { verdictWords } from '../../../words/verdict-words.ts';
import { type Html, html } from '../kit/html.ts';
import { link } from '../kit/parts.ts';
import { besideTexts, differencePart } from './difference-part.ts';
import { amountText, localTimes } from './page-words.ts';

/** The page's facts about a run: `verdict` is the whole run's, `trouble` says why its list cannot be used. */
export type JudgedRun = {
  verdict: Verdict | null;
  verdicts: readonly RunVerdict[];
  list: ListStanding | null;
  trouble: string | null;
  zone: string;
  open: ReadonlyMap<string, bigint>;
};

/** The verdict on each currency, before anything else on the page. */
export function verdictSection(statement: string[][] | undefined, judged: JudgedRun): Html {
  const lines = linesByCurrency(records(statement));
  const each = judged.verdicts.map((one) => currencyBanner(one, lines.get(one.currency) ?? {}, judged.open));
  const banners = each.length > 0 ? each : [runBanner(lines.size > 0, judged)];
  return html`<section id="verdict" class="verdicts" aria-label="Verdict">\n${troubleNotice(judged)}${banners}</section>\n`;
}

/** The reason why nothing was compared, once for all currencies. */
function troubleNotice({ list, trouble, zone }: JudgedRun): Html {
  if (isUsable(list)) return html``;
  const why = sentence(localTimes(trouble ?? 'The reason is not known', zone));
  return html`<p class="notice"><strong>${listStart(list)}:</strong> ${why} Run <code>counterfoil reconcile</code> again. <a href="../index.html">All reports</a> names the last run that compared.</p>\n`;
}

/** The banner of a run in which no currency has a verdict. Even a good list of nothing is not green. */
function runBanner(hasStatement: boolean, { verdict, list }: JudgedRun): Html {
  if (hasStatement && verdict === null)
    return banner('is-none', 'No verdict', [
      'This run was made before verdicts were kept: run counterfoil reconcile for one.',
    ]);
  const whole = worstVerdict(list, []);
  const { sign, name, look, sentence } = verdictWords[whole];
  return banner(`is-${look}`, `${sign} ${capitalised(name)}`, [sentence]);
}

function capitalised(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}

function currencyBanner(
  { currency, verdict, overturned }: RunVerdict,
  lines: CurrencyLines,
  open: JudgedRun['open'],
): Html {
  const { sign, name, look, sentence: meant } = verdictWords[verdict];
  const agreed = () => reconciledTexts(currency, lines, open.get(currency) ?? 0n);
  const beside = () => besideTexts(lines);
  const texts = agrees(verdict) ? agreed() : differs(verdict) ? beside() : [meant];
  const mark = html` data-currency="${currency}" data-verdict="${verdict}"`;
  const difference = isCompared(verdict) && differencePart({ currency, overturned }, lines);
  const rows =
    differs(verdict) &&
    html`<p>Do not sign off. Each row: ${link('statement-rows.csv', 'statement-rows.csv')}</p>`;
  return banner(`is-${look}`, `${sign} ${currency}: ${name}`, texts, { mark, difference, rows });
}

type BannerParts = { mark: Html; difference: Html | false; rows: Html | false };

function banner(
  look: string,
  title: string,
  texts: string[],
  { mark, difference, rows }: BannerParts = { mark: html``, difference: false, rows: false },
): Html {
  const said = texts.map((text) => html`<p>${text}</p>`);
  return html`<div class="verdict ${look}"${mark}><strong>${title}</strong>${difference}${said}${rows}</div>\n`;
}

function reconciledTexts(currency: string, lines: CurrencyLines, open: bigint): string[] {
  const { count, amount } = lineOf(lines, 'listed_by_service');
  const timing = lineOf(lines, 'timing');
  const listed = `The list and the ledger agree: ${counted(count, 'transfer')} listed, ${amountText(currency, amount)}.`;
  return [
    listed,
    ...(isZero(timing)
      ? []
      : [`Timing: ${grouped(`${timing.count}`)}, ${amountText(currency, timing.amount)}.`]),
    ...(open === 0n
      ? []
      : [`Not all is done: ${counted(open, 'discrepancy is', 'discrepancies are')} open.`]),
  ];
}

/** Ends with a full stop where no other mark ends it. */
function sentence(text: string): string {
  return /[.?!]$/.test(text) ? text : `${text}.`;
}
