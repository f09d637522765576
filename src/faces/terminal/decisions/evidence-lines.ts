import { contradictionText } from '../../../core/domain/contradiction.ts';
import { amountText, counted } from '../../../core/domain/counted.ts';
import { formatMinor } from '../../../core/domain/money.ts';
import type { Attempt } from '../../../core/storage/tables/tables.ts';
import type { Weighed, WeighedCase } from '../../../watching/evidence/weigh.ts';
import { reasonText } from '../../../words/advice-text.ts';
import { actionFor } from '../../../words/discrepancy-words.ts';
import { newsOf, plainCause } from '../../../words/plain-words.ts';
import { readable } from '../../../words/readable.ts';
import { stateWords } from '../../../words/state-words.ts';
import { webhookText } from '../../../words/word-texts.ts';
import { maskedWhole, type QuietWatch, unknownWarning } from '../../json/evidence-json.ts';
import { remedyText } from '../kit/remedy-text.ts';
import type { Terminal } from '../kit/terminal.ts';
import { wrap } from '../kit/wrap.ts';

const verdicts: Record<WeighedCase['verdict'], string> = {
  none: 'was never made',
  no_answer: 'got no clear answer',
  no_witness: 'got an answer that says nothing about it',
  not_found: 'did not find it; absence proves nothing',
  conflict: 'found something that contradicts the ledger',
  pending: 'found it pending',
  success: 'found it paid',
  failed: 'found it failed',
  returned: 'found it returned',
};

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
  const { payout, batch, attempts, discrepancies, successor } = one;
  const { reference, currency, amount, account_name, account_number, bank_code, state, evidence } = payout;
  const news = newsOf(payout, attempts);
  const lines = [
    `${reference}   ${amountText(currency, formatMinor(amount, currency))}   to ${account_name}, ${maskedWhole(account_number)} at ${bank_code}`,
    `  state      ${stateWords[state]}${evidence ? ` (evidence: ${evidence})` : ''}${news ? `: ${news}` : ''}`,
    `  batch      ${batch.id}, row ${payout.row_number}`,
  ];
  for (const fact of notPaidFacts(one, time)) lines.push(`  settled    ${fact}`);
  for (const a of attempts) lines.push(`  attempt    ${attemptText(a)}`);
  if (payout.unseen_sends > 0n) lines.push(`  attempt    ${unseenSend}`);
  lines.push(`  look-up    ${lookUpText(one)}`, `  listing    ${listingText(one)}`);
  for (const fact of listedSinceFacts(one)) lines.push(`  listed     ${fact}`);
  for (const fact of lookAlikeFacts(one)) lines.push(`  look-alike ${fact}`);
  for (const w of one.webhooks)
    lines.push(`  webhook    ${w.received_at}  received ${counted(w.deliveries, 'time')}: ${webhookText(w)}`);
  if (successor) lines.push(`  successor  ${successor}`);
  for (const d of discrepancies) lines.push(`  open       ${d.id} ${d.kind}: ${actionFor(d)}`);
  return lines;
}

const unseenSend = 'one may have been made that this ledger does not remember (it went back in time)';

function notPaidFacts({ notPaid }: WeighedCase, time: Terminal['time']): string[] {
  if (!notPaid) return [];
  return [`as not paid by ${notPaid.source} ${time(notPaid.at)}: ${notPaid.note}`];
}

function listedSinceFacts({ listedSince }: WeighedCase): string[] {
  return listedSince.map(({ run, status }) => `since, by run ${run}, as ${status}`);
}

function lookAlikeFacts({ lookAlikes }: WeighedCase): string[] {
  if (lookAlikes.length === 0) return [];
  return [
    `${lookAlikes.join(', ')}: listed, of no payout here; same account and amount, or the name of a second payment`,
  ];
}

/** The facts that most payouts lack, for a table that has no column for them. */
export function specialFacts(one: WeighedCase, { time }: Terminal): string[] {
  const { payout, verdict, contradiction, successor } = one;
  return [
    ...notPaidFacts(one, time).map((fact) => `settled ${fact}`),
    ...(payout.unseen_sends > 0n ? [`attempt: ${unseenSend}`] : []),
    ...listedSinceFacts(one).map((fact) => `listed ${fact}`),
    ...lookAlikeFacts(one).map((fact) => `look-alike ${fact}`),
    ...(verdict === 'conflict' && contradiction ? [`the look-up: ${contradictionText(contradiction)}`] : []),
    ...(successor ? [`paid again as ${successor}`] : []),
  ];
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

function attemptText({ number, began_at, outcome, code, message }: Attempt): string {
  const said = [code, message === null ? null : plainCause(message)].filter((text) => text).join(' ');
  return `#${number} ${began_at}  ${outcome ?? 'under way'}${said ? `  ${said}` : ''}`;
}

const outrun = 'older than the last attempt that may have been made: says nothing about it';

function lookUpText(one: WeighedCase): string {
  const { lookUp, verdict } = one;
  if (!lookUp) return verdicts[verdict];
  const against = verdict === 'conflict' ? one.contradiction : null;
  const conflict = against ? ` (${contradictionText(against)})` : '';
  const told = `${verdicts[verdict]}${conflict}`;
  return `${lookUp.answeredAt}  ${one.outrun.lookUp ? `${told}, but is ${outrun}` : told}`;
}

function listingText(one: WeighedCase): string {
  const { listing } = one;
  if (!listing) return 'none was ever proven complete';
  const { run, finishedAt, statuses } = listing;
  const shown = statuses.length > 0 ? `shows it as ${statuses.join(', ')}` : 'does not show it';
  const name = `run ${run} (complete, ended ${finishedAt})`;
  if (!one.outrun.listing) return `${name} ${shown}`;
  return statuses.length > 0 ? `${name} ${shown}, but is ${outrun}` : `${name} is ${outrun}`;
}
