import { ActionNeeded, type Advice, type AdvisedReason, reasonIn } from '../core/domain/advice.ts';
import { counted } from '../core/domain/counted.ts';
import type { Mode } from '../core/domain/payout.ts';

/** The command that sends what is ready, as it must be typed in this mode. */
export function submitCommand(mode: Mode): string {
  return mode === 'live' ? 'counterfoil submit --live' : 'counterfoil submit';
}

/** What went wrong, and what to do if something helps. */
export function problemText(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const advice = error instanceof ActionNeeded ? error.advice : null;
  return advice === null ? error.message : `${error.message}: ${adviceText(advice)}`;
}

/** Why something is refused or held, with the way out. */
export function reasonText(reason: AdvisedReason): string {
  return reasonIn(reason, adviceText);
}

const endWait = ({ evidence }: { evidence: string }): string =>
  `counterfoil release --mode --evidence ${evidence} --note "how you know"`;

/** Says what a person can do, with the command to type. */
export function adviceText(advice: Advice): string {
  switch (advice.kind) {
    case 'init':
      return 'run counterfoil init, or name one with --config';
    case 'init_for_mode':
      return `each mode has a home of its own, and counterfoil init --mode ${advice.mode} DIR makes one. Nothing was read or sent`;
    case 'first_submit':
      return 'the first counterfoil submit makes it';
    case 'upgrade':
      return 'run counterfoil upgrade';
    case 'doctor':
      return 'counterfoil doctor looks for the cause';
    case 'run_as_unit':
      return 'serve has them, for instance as credentials of its systemd unit; sudo counterfoil-run COMMAND runs a command with them, in place of counterfoil COMMAND (config/deploy/counterfoil-run)';
    case 'give_file':
      return `let the account that runs serve read and write ${advice.place} (chown, chmod)`;
    case 'free_folders':
      return `make the folders writable for this account, then go on with ${submitCommand(advice.mode)} (without the file, which is taken only once)`;
    case 'rest_of_file':
      return [
        'nothing to do with this file',
        ...(advice.ready ? [`${submitCommand(advice.mode)} (without the file) sends the rest`] : []),
        ...(advice.held ? ['counterfoil status says why some are held'] : []),
      ].join('; ');
    case 'finish_restore':
      return 'nothing is read or sent until counterfoil restore has finished it';
    case 'adopt':
      return 'counterfoil restore --adopt makes it safe to use';
    case 'adopt_again':
      return 'run counterfoil restore --adopt again';
    case 'list_whole':
      return 'counterfoil reconcile --full makes one';
    case 'list_payer':
      return `counterfoil reconcile --full lifts this with the address and key of the account that paid them; if that account is closed permanently, ${endWait(advice)} does`;
    case 'list_unproven':
      return `counterfoil reconcile --full reads the list again; if it can never be complete, ${endWait(advice)} lets new batches go all the same`;
    case 'list_or_settle': {
      const found = 'If no list can ever be complete, find out whether it was paid';
      return `counterfoil reconcile --full reads one. ${found}; ${
        advice.unknown
          ? `then counterfoil settle ${advice.reference} closes it`
          : 'if it was not, pay it under a new reference in a new file'
      }`;
    }
    case 'follow_move':
      return `set ledger.url to that place. Only if the moved ledger is permanently lost, remove ${advice.mark} and run counterfoil restore --adopt`;
    case 'finish_move':
      return `If the move was interrupted, counterfoil migrate --to ${advice.url} on the old one finishes it`;
    case 'replace_sealed':
      return `if a move to it was interrupted, set ledger.url to the old file and run the same counterfoil migrate --to again; else counterfoil restore FILE --adopt puts a backup, or a ${advice.path}.before-restore-… file, in its place`;
    case 'reconcile':
      return 'run counterfoil reconcile';
    case 'see_discrepancies':
      return 'see counterfoil discrepancies';
    case 'resolve':
      return `find out which; counterfoil discrepancies resolve ${advice.discrepancy} --note settles it once it is known that it was not paid`;
    case 'see_payout':
      return `see counterfoil show ${advice.reference}`;
    case 'release':
      return `counterfoil release ${advice.batch} sends it, or says what keeps it`;
    case 'unanswered':
      return `counterfoil doctor says whether the service answers, and counterfoil show ${advice.reference} what it said. If no clear answer can come, counterfoil settle ${advice.reference} --as paid|not-paid --note "how you know" closes it, and nothing is sent`;
    case 'ask_again':
      return `counterfoil retry ${advice.reference} asks the service`;
    case 'confirm_failure': {
      const { reference, taken, byList } = advice;
      const enough = byList
        ? `a complete listing begun from now on that shows ${counted(taken, 'transfer')} of it, all failed`
        : 'a look-up made now, or a complete listing begun from now on, that shows it as failed';
      return `enough is ${enough}: run counterfoil reconcile --full, then counterfoil retry ${reference}. If that does not show it either, ask the service in writing; once it says that nothing was or will be paid, pay it under a new reference in a new file`;
    }
    case 'find_copy':
      return advice.unknown === null
        ? 'find out, then pay it under a new reference in a new file if it was not'
        : `find out, then counterfoil settle ${advice.unknown}`;
    case 'find_orderer':
      return `find out who ordered that one. If it was paid from here before a restore: counterfoil restore --adopt, then counterfoil reconcile --full. Else counterfoil settle ${advice.reference} --as paid|not-paid --note "how you know" closes this one`;
    case 'ask_then_release':
      return `counterfoil retry ${advice.reference} asks the service; once it answers that it has none, release its batch. If it never answers, find out, then counterfoil settle ${advice.reference} --as paid|not-paid --note "how you know" closes it`;
    case 'decide_again': {
      const { reference, relist } = advice;
      const first = relist ? 'counterfoil reconcile --full reads the list again. Find' : 'find';
      return `${first} out (counterfoil show ${reference}), then counterfoil retry ${reference} or counterfoil settle ${reference}`;
    }
    case 'drop':
      return `leave it held, or drop it with ${dropCommands(advice.reference)}`;
    case 'find_predecessor':
      return `find out what became of the one that it pays again. If it was paid: ${dropCommands(advice.reference)}. If not, counterfoil release ${advice.batch} sends this one, or says what keeps it`;
    case 'clear_predecessor': {
      const { reference, of, by } = advice;
      return `find out (counterfoil show ${of}). If it was paid: ${dropCommands(reference)}. If not: ${clears[by](of)}, then release its batch. If that never helps, drop this one in the same way and pay it under a new reference in a new file`;
    }
    case 'raise_limit':
      return `raise the limit and release its batch, or counterfoil cancel ${advice.reference}`;
  }
}

function dropCommands(reference: string): string {
  return `counterfoil cancel ${reference} (or, if it was sent before, counterfoil settle ${reference})`;
}

const clears: Record<Extract<Advice, { kind: 'clear_predecessor' }>['by'], (of: string) => string> = {
  list: () => 'counterfoil discrepancies lists the conflict: resolve it with a note',
  listed: () => 'counterfoil reconcile --full reads the list again, until it agrees',
  answer: (of) => `counterfoil retry ${of} asks the service again, until it agrees`,
};
