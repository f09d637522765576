import type { NotClosable, PeriodWarning, WarnedLine } from '../books/statement/freeze-period.ts';
import { reasonText } from './advice-text.ts';
import { stateWords } from './state-words.ts';

/** Why a month is not closed. */
export function notClosableText(why: NotClosable): string {
  switch (why.kind) {
    case 'no_month':
      return `"${why.text}" is no month: write it as YYYY-MM, such as 2026-10`;
    case 'not_over':
      return `${why.month} is not over: it can be closed from ${why.from} on (${why.zone})`;
    case 'closed':
      return `${why.month} was closed at ${why.at}; a closed month never changes`;
    case 'part_of_closed':
      return `${why.last} is closed already, so that ${why.month} is part of what is closed: the next is ${why.next}`;
    case 'out_of_order':
      return `months are closed in order: the next is ${why.next}`;
    case 'barrier':
      return `${reasonText(why)}. Until then no month is closed`;
  }
}

const needing: Record<WarnedLine, string> = {
  in_flight: 'still under way when the month ended; the next month opens with them',
  unknown: 'unknown when the month ended: they may be paid; the next month opens with them',
  unseen: 'sent, and not listed by the service',
  foreign: 'listed by the service, and not ordered here',
  amount_differences: 'listed with another amount than ordered',
  duplicates: 'listed more than once for the same payout',
  status_conflicts: 'in another state on the list than here',
  collisions: 'listed under a reference that was never sent',
  open_conflicts: 'in a conflict that is not resolved: see statement-rows.csv',
  unexplained: 'not explained: see statement-rows.csv',
  unreadable: 'listed with an amount that cannot be read: see statement-rows.csv',
};

/** What a month was closed in spite of, as a command says it, and as a page does. */
export function periodWarningTexts(warning: PeriodWarning): { command: string; page: string } {
  const again = (page: string) => ({
    command: `${page}: counterfoil reconcile --full before closing makes one`,
    page,
  });
  switch (warning.kind) {
    case 'no_list':
      return again('no complete list was ever read, so that nothing is compared');
    case 'early_list':
      return again(`the newest complete list is of ${warning.of}, before the month ended`);
    case 'line': {
      const { line, currency, count, amount } = warning;
      const page = `${count} (${`${currency} ${amount}`.trim()}) ${needing[line]}`;
      return { command: page, page };
    }
    case 'unpaid': {
      const { state, currency, count, amount } = warning;
      const page = `${count} (${currency} ${amount}) ${stateWords[state]}, and not paid again`;
      return { command: `${page}. Next: counterfoil payouts --state ${state}`, page };
    }
    case 'open': {
      const kinds = Object.entries(warning.kinds).map(([kind, n]) => `${n} ${kind}`);
      const page = `discrepancies that are not resolved: ${kinds.join(', ')}`;
      return { command: `${page}. Next: counterfoil discrepancies`, page };
    }
  }
}
