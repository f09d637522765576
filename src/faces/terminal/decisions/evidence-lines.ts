import { amountText } from '../../../core/domain/counted.ts';
import { formatMinor } from '../../../core/domain/money.ts';
import type { Weighed, WeighedCase } from '../../../watching/evidence/weigh.ts';
import { reasonText } from '../../../words/advice-text.ts';
import { actionFor } from '../../../words/discrepancy-words.ts';
import { evidenceFactsOf } from '../../../words/evidence-words.ts';
import { readable } from '../../../words/readable.ts';
import { maskedWhole, type QuietWatch, unknownWarning } from '../../json/evidence-json.ts';
import { remedyText } from '../kit/remedy-text.ts';
import type { Terminal } from '../kit/terminal.ts';
import { wrap } from '../kit/wrap.ts';

type View = { watch: QuietWatch; terminal: Terminal };

/** Everything that a person must see before ordering a retry, one block per payout (P20). */
export function evidenceLines({ cases, digest }: Weighed, { watch, terminal }: View): string[] {
  const blocks = cases.flatMap((one) => [...factLines(one, terminal), ...adviceLines(one, watch), '']);
  return shownLines([...blocks, `evidence digest  ${digest}`], terminal);
}

/** What is known about each payout, without the possible actions. */
export function evidenceFacts({ cases }: Weighed, terminal: Terminal): string[] {
  return shownLines(
    cases.flatMap((one) => factLines(one, terminal)),
    terminal,
  );
}

/** Further lines begin below the text, behind the label. */
function shownLines(lines: readonly string[], { time, width }: Terminal): string[] {
  return lines.flatMap((line) => wrap(readable(line, time), width, line.startsWith('  ') ? 11 : 2));
}

function factLines(one: WeighedCase, { time }: Terminal): string[] {
  const { reference, currency, amount, account_name, account_number, bank_code } = one.payout;
  const title = `${reference}   ${amountText(currency, formatMinor(amount, currency))}   to ${account_name}, ${maskedWhole(account_number)} at ${bank_code}`;
  return [title, ...evidenceFactsOf(one, time).map(([label, text]) => `  ${label.padEnd(10)} ${text}`)];
}

function adviceLines(one: WeighedCase, watch: QuietWatch): string[] {
  const { payout, attempts, judgement, discrepancies } = one;
  const lines: string[] = [];
  const text = payout.state === 'unknown' ? unknownWarning(payout, attempts, watch) : '';
  // An open discrepancy may have said it above.
  if (text !== '' && discrepancies.every((d) => actionFor(d) !== text)) lines.push(`  WARNING    ${text}`);
  lines.push(`  retry      ${retryText(one)}`);
  if (judgement.kind !== 'no') lines.push(...othersThanRetry(one));
  else lines.push(`  next       ${remedyText(one)}`);
  return lines;
}

const can = {
  again: 'can be sent again under the same reference',
  successor: 'can be paid again under a new reference',
};

function retryText({ judgement, had }: WeighedCase): string {
  if (judgement.kind !== 'no') return can[judgement.kind];
  return `${had ? 'is not needed' : 'cannot be sent again'}: ${reasonText(judgement)}`;
}

/** What else ends it than the retry that is asked about. */
function othersThanRetry(one: WeighedCase): string[] {
  const remedies = one.remedies.filter((remedy) => remedy !== 'retry');
  return remedies.length === 0 ? [] : [`  or         ${remedyText({ ...one, remedies })}`];
}
