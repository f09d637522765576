import { amountText, counted } from '../../../core/domain/counted.ts';
import { formatMinor } from '../../../core/domain/money.ts';
import type { Weighed, WeighedCase } from '../../../watching/evidence/weigh.ts';
import { reasonText } from '../../../words/advice-text.ts';
import { actionFor } from '../../../words/discrepancy-words.ts';
import { specialFacts } from '../../../words/evidence-words.ts';
import { readable } from '../../../words/readable.ts';
import { firstOf } from '../../../words/row-messages.ts';
import { type QuietWatch, unknownWarning } from '../../json/evidence-json.ts';
import type { Terminal } from '../kit/terminal.ts';
import { wrap, wrapAll } from '../kit/wrap.ts';

/** What a look-up found, short enough for a table. */
const found: Record<WeighedCase['verdict'], string> = {
  none: 'not made',
  no_answer: 'no answer',
  no_witness: 'unclear',
  not_found: 'not found',
  conflict: 'conflict',
  pending: 'pending',
  success: 'paid',
  failed: 'failed',
  returned: 'returned',
};

/** Under which reference a retry pays. */
const again: Record<WeighedCase['judgement']['kind'], string> = {
  again: 'same ref',
  successor: 'new ref',
  no: 'no',
};

/** The evidence about many payouts, one line each, with what stands out below and the digest at the end (P20). */
export function evidenceTable(
  { cases, digest }: Weighed,
  { watch, terminal }: { watch: QuietWatch; terminal: Terminal },
): string[] {
  const { time, width } = terminal;
  const rows = terminal.table(
    [
      { title: 'Reference', cell: ({ payout }) => payout.reference },
      { title: 'Beneficiary', cut: true, cell: ({ payout }) => payout.account_name },
      { title: 'Amount', right: true, cell: amountOf },
      {
        title: 'Look-up',
        cell: ({ verdict, outrun }) => `${found[verdict]}${outrun.lookUp ? ' (old)' : ''}`,
      },
      { title: 'List', cell: listText },
      { title: 'Retry', cell: ({ judgement }) => again[judgement.kind] },
    ],
    cases,
  );
  const facts = cases.flatMap((one) =>
    specialFacts(one, terminal.time).map((fact) => `  ${one.payout.reference}: ${fact}`),
  );
  const notes = [...facts, ...groupedNotes(cases, watch, time)];
  return [
    ...rows,
    ...(notes.length > 0 ? ['', ...notes.flatMap((note) => wrap(note, width, 2))] : []),
    '',
    ...wrapAll([`Each in full: counterfoil show REFERENCE`], width),
    `evidence digest  ${digest}   ${counted(cases.length, 'payout')}`,
  ];
}

function amountOf({ payout: { currency, amount } }: WeighedCase): string {
  return amountText(currency, formatMinor(amount, currency));
}

function listText({ listing, outrun }: WeighedCase): string {
  if (!listing) return 'none complete';
  const shown = listing.statuses.length > 0 ? listing.statuses.join(', ') : 'not on it';
  return outrun.listing ? `${shown} (old)` : shown;
}

/** Refusals, warnings and open discrepancies: each sentence once, with the payouts that it is about. */
function groupedNotes(
  cases: readonly WeighedCase[],
  watch: QuietWatch,
  time: (instant: string) => string,
): string[] {
  const notes = cases.flatMap((one) => {
    const { payout, attempts, judgement, discrepancies } = one;
    const texts = [
      ...(judgement.kind === 'no' ? [`not again: ${reasonText(judgement)}`] : []),
      ...(payout.state === 'unknown' ? [unknownWarning(payout, attempts, watch)] : []),
      ...discrepancies.map((d) => actionFor(d)),
    ];
    const generic = (text: string): string => readable(text, time).replaceAll(payout.reference, 'REFERENCE');
    return [...new Set(texts.map(generic))].map((text) => ({ text, name: payout.reference }));
  });
  return [...Map.groupBy(notes, ({ text }) => text)].map(
    ([text, all]) => `  ${firstOf(all.map(({ name }) => name))}: ${text}`,
  );
}
