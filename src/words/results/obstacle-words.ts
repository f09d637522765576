import type { Obstacle } from '../../verbs/obstacles.ts';
import { holdTexts } from '../hold-words.ts';
import { notClosableText } from '../period-words.ts';

export function upperFirst(text: string): string {
  return text.slice(0, 1).toUpperCase() + text.slice(1);
}

/** Why nothing was done: as a command says it on one line, and as a page does. */
export function obstacleWords(why: Obstacle): { command: string; page: string } {
  switch (why.kind) {
    case 'no_batch':
      return { command: `no batch "${why.batch}" in this ledger`, page: `There is no batch ${why.batch}.` };
    case 'loading':
      return {
        command: `${why.batch} is still being taken in; run the command again when it is loaded`,
        page: `${why.batch} is still being taken in. Try again when it is loaded.`,
      };
    case 'cancelled': {
      const page = `${why.batch} is cancelled and is never sent`;
      return {
        command: `${page}; nothing was done. To pay it, submit it again with new references`,
        page: `${page}.`,
      };
    }
    case 'no_payout': {
      const names = why.references.join(', ');
      return { command: `no payout "${names}" in this ledger`, page: `There is no payout ${names}.` };
    }
    case 'needless': {
      const reasons = holdTexts(why.reasons, why.batch);
      const held = reasons.length > 0 ? `. It is held: ${reasons.join('; ')}` : '';
      const page = `${why.batch} needs no approval`;
      return { command: `${page}; nothing was done${held}`, page: `${page}.` };
    }
    case 'own':
      return {
        command: `${why.batch} is not approved: ${why.why}. Nothing was done`,
        page: `You may not approve ${why.batch}: ${why.why}.`,
      };
    case 'unsound':
      return {
        command: `${why.batch} is not approved: its payouts in the ledger are not those that were taken in. Nothing was done; counterfoil verify says what differs`,
        page: `The payouts of ${why.batch} in the ledger are not those that were taken in: counterfoil verify says what differs.`,
      };
    case 'changed':
      return {
        command: `${why.id} changed while it was looked at: look again. Nothing was done`,
        page: `${why.id} changed while you looked at it. Nothing was done: look at it again.`,
      };
    case 'no_discrepancy': {
      const { ids, mode, orFile } = why;
      const more = ids.length > 5 ? ` and ${ids.length - 5} more` : '';
      return {
        command: `no ${orFile ? 'refused file and no ' : ''}discrepancy "${ids.slice(0, 5).join('", "')}"${more} in this ledger (mode ${mode}): counterfoil discrepancies lists them. Nothing was changed`,
        page: `There is no discrepancy ${ids.join(', ')}.`,
      };
    }
    case 'closed': {
      const page = `${why.id} is ${why.state} already`;
      return { command: `${page}. Nothing was changed`, page: `${page}.` };
    }
    case 'unaskable': {
      const page = `no request can name the reference "${why.reference}"`;
      return { command: `${page}. Nothing was asked`, page: `${upperFirst(page)}.` };
    }
    case 'no_collection': {
      const page = `no collection "${why.reference}": it was not expected here, no webhook reported it, and the service does not show it`;
      return { command: `${page} (mode ${why.mode}). Nothing was asked`, page: `${upperFirst(page)}.` };
    }
    case 'no_run':
      return { command: `no run ${why.run} in this ledger`, page: `There is no run ${why.run}.` };
    case 'open_month': {
      const page = `${why.month} is not closed in this ledger`;
      return { command: `${page}: counterfoil close-period closes it`, page: `${page}.` };
    }
    case 'not_closed': {
      const text = notClosableText(why.why);
      return { command: text, page: `${upperFirst(text)}.` };
    }
    case 'no_note':
      return {
        command:
          '--note: say what was done about it, for example --note "returned by the bank, statement of 3 May, line 12"',
        page: 'A resolution needs a note: say what was done about it.',
      };
    case 'long_note':
      return {
        command: `--note: at most ${why.most} characters`,
        page: `The note is longer than ${why.most} characters.`,
      };
  }
}
