import { visible } from '../../core/domain/hidden.ts';
import { waitingWhy } from '../../core/domain/waiting-file.ts';
import type { Maker } from '../../sending/approval.ts';
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
      const reasons = holdTexts(why.reasons, why.batch, { names: false });
      const held = reasons.length > 0 ? `. It is held: ${reasons.join('; ')}` : '';
      const page = `${why.batch} needs no approval`;
      return { command: `${page}; nothing was done${held}`, page: `${page}.` };
    }
    case 'own':
      return {
        command: `${why.batch} is not approved: ${ownText(why.maker)}. Nothing was done`,
        page: `You may not approve ${why.batch}: ${ownText(why.maker)}.`,
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
    case 'unfinished_run': {
      const page = `run ${why.run} did not finish: it has no reports`;
      return { command: page, page: `${upperFirst(page)}.` };
    }
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
    case 'not_one_file': {
      const [only, ...others] = why.waiting;
      const alone = only !== undefined && others.length === 0;
      const lies = alone
        ? `${visible(only.name)} waits, since ${waitingWhy(only.why)}`
        : `${why.inbox} holds ${why.waiting.length} files`;
      const next = alone
        ? 'run the command again when it is whole'
        : 'name the file, or put NAME.csv.control.json beside each';
      return {
        command: `--rows and --total are the figures of one file; ${lies}: ${next}. Nothing was taken in or sent`,
        page: `The figures are those of one file; ${lies}.`,
      };
    }
    case 'reconciling':
      return {
        command: 'another process is reconciling this ledger; wait for it, then run the command again',
        page: 'Another process is reconciling this ledger. Wait for it, then try again.',
      };
    case 'file_exists': {
      const page = `${why.file} is there already and is not overwritten`;
      return { command: `${page}: name a new file`, page: `${page}.` };
    }
    case 'no_folder': {
      const page = `there is no folder ${why.folder}`;
      return { command: `${page}: make it first`, page: `${upperFirst(page)}.` };
    }
    case 'in_a_database': {
      const page =
        'a ledger on PostgreSQL is backed up by its database: with pg_dump or with base backups and an archive of its log';
      return {
        command: `${page}. However it is put back, counterfoil restore --adopt makes it safe to use`,
        page: `${upperFirst(page)}.`,
      };
    }
  }
}

/** Why the person whose account made a batch may not approve it. Without a number it is the holder of a token. */
export function ownText({ name, uid, did = 'dropped' }: Maker): string {
  const own = `${name} ${did} it, and nobody approves a batch of their own`;
  return uid === null
    ? own
    : `${own}: ask somebody else to run the command. A file counts as dropped by the account that owns it: one that Counterfoil wrote, such as failed.csv, keeps its owner when it is moved (mv) into the inbox; copy it there (cp) under your own account instead`;
}
