import { amountText, counted, grouped } from '../../../core/domain/counted.ts';
import { visible } from '../../../core/domain/hidden.ts';
import { payDayText } from '../../../core/domain/pay-day.ts';
import { writersText } from '../../../core/domain/waiting-file.ts';
import type { Config } from '../../../core/settings/settings.ts';
import { isStuck } from '../../../findings/file-findings.ts';
import type { DailyLimit, KeptReady } from '../../../sending/open-brakes.sql.ts';
import { submitCommand } from '../../../words/advice-text.ts';
import type { StatusFacts } from '../../json/status-standing.ts';
import { payoutsText } from '../batches/batch-lines.ts';
import type { Terminal } from '../kit/terminal.ts';

/** A file may name a day a row. */
const mostDays = 12;

/** A line for each thing that keeps ready payouts back; of days of payment the first. */
export function waitingLines(
  waits: readonly KeptReady[],
  config: Pick<Config, 'mode'>,
  terminal: Pick<Terminal, 'time'>,
): string[] {
  const days = waits.filter(({ kind }) => kind === 'date');
  const shown = waits.filter((one) => one.kind !== 'date' || days.indexOf(one) < mostDays);
  const rest = days.length - mostDays;
  const lines = shown.map((one) => waitingText(one, config, terminal));
  return rest > 0 ? [...lines, `and ${counted(rest, 'later day')} of payment`] : lines;
}

/** Says which ready payouts wait, until when, and which command sends or drops them. */
export function waitingText(
  waiting: KeptReady,
  { mode }: Pick<Config, 'mode'>,
  { time }: Pick<Terminal, 'time'>,
): string {
  const submit = submitCommand(mode);
  if (waiting.kind === 'daily_limit') {
    const { currency, count, amount, until } = waiting;
    return `${counted(count, 'payout')}, ${amountText(currency, amount)}, ${count === 1 ? 'waits' : 'wait'} until ${time(until)}: today's submission.daily_limit does not let them go; then counterfoil serve or ${submit} sends them`;
  }
  if (waiting.kind === 'date') return dateText(waiting, submit);
  if (waiting.kind === 'file') return fileText(waiting, submit);
  if (waiting.kind === 'check') return checkText(waiting, submit);
  const { batch, count, failed, canary } = waiting;
  if (failed)
    return `${batch}: ${counted(count, 'payout')} kept back, since its canary failed (${payoutsText(canary)}): check, then counterfoil release ${batch} lets them go, or counterfoil cancel ${batch} drops them`;
  return `${batch}: ${counted(count, 'payout')} ${count === 1 ? 'waits' : 'wait'} until its canary has settled (${payoutsText(canary)}); then counterfoil serve, or the next ${submit}, sends them`;
}

const clockWords: Record<NonNullable<Extract<KeptReady, { kind: 'date' }>['clock']>, string> = {
  earlier: ", since by the service's clock that day has not come: check the clock of this machine",
  unheard: ', since the service has not said yet what day it is',
};

function dateText(waiting: Extract<KeptReady, { kind: 'date' }>, submit: string): string {
  const { batch, currency, count, amount, day, clock } = waiting;
  const wait = `${batch}: ${counted(count, 'payout')}, ${amountText(currency, amount)}, ${count === 1 ? 'waits' : 'wait'} until ${payDayText(day)} (pay_on)`;
  return `${wait}${clock === null ? '' : clockWords[clock]}; then counterfoil serve or ${submit} sends them, and until then counterfoil cancel drops them`;
}

function checkText({ batch, count, why }: Extract<KeptReady, { kind: 'check' }>, submit: string): string {
  const wait = `${batch}: ${counted(count, 'payout')} ${count === 1 ? 'waits' : 'wait'} until the service has answered what service.extras asks before payment`;
  const ask = `counterfoil serve or ${submit} asks ${why === null ? 'and' : 'again and'} sends them`;
  const end = why === null ? '' : `, counterfoil release ${batch} pays without the answer`;
  return `${wait}${why === null ? '' : ` (${visible(why)})`}: ${ask}${end}; or counterfoil cancel ${batch} drops them`;
}

function fileText({ batch, count, why }: Extract<KeptReady, { kind: 'file' }>, submit: string): string {
  const wait = `${batch}: ${counted(count, 'payout')} ${count === 1 ? 'waits' : 'wait'}`;
  const drop = `counterfoil cancel ${batch} drops them`;
  switch (why.kind) {
    case 'open':
      return `${wait}, since ${visible(why.path)} is open for writing by ${writersText(why.writers)}: close it there, then counterfoil serve or ${submit} sends them; or ${drop}`;
    case 'not_archived':
      return `${wait}, since the file is not in the archive yet (${visible(why.path)}): counterfoil serve or ${submit} brings it there and sends them; or ${drop}`;
    case 'elsewhere':
      return `${wait}, since only the machine that took its file in can look at it: run ${submit} there; where that machine is gone, counterfoil release ${batch} pays what was read, or ${drop}`;
  }
}

/**
 * True when a person must look. A day of payment, a daily limit and a canary that goes well need nobody.
 */
export function needsPerson(waiting: KeptReady): boolean {
  if (waiting.kind === 'file') return isStuck(waiting.why);
  // The service has left a question before payment without an answer, and nobody knows for how long.
  if (waiting.kind === 'check') return true;
  return waiting.kind === 'canary' && waiting.failed;
}

/** What waits, and how far daily limits are used. */
export function brakeLines(
  { daily, waits }: StatusFacts['brakes'],
  config: Pick<Config, 'mode'>,
  terminal: Terminal,
): string[] {
  return [
    ...waitingLines(waits, config, terminal).map((line) => `  ${line}`),
    ...daily.map((one) => dailyLine(one, terminal)),
  ];
}

function dailyLine({ currency, limit, used, left, until }: DailyLimit, { time }: Terminal): string {
  return `  Daily limit: ${amountText(currency, used)} of ${grouped(limit)} used, ${grouped(left)} left until ${time(until)}`;
}
