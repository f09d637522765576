import { ActionNeeded, type Advice } from '../domain/advice.ts';
import type { Mode } from '../domain/payout.ts';

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
    case 'follow_move':
      return `set ledger.url to that place. Only if the moved ledger is permanently lost, remove ${advice.mark} and run counterfoil restore --adopt`;
    case 'finish_move':
      return `If the move was interrupted, counterfoil migrate --to ${advice.url} on the old one finishes it`;
    case 'replace_sealed':
      return `if a move to it was interrupted, set ledger.url to the old file and run the same counterfoil migrate --to again; else counterfoil restore FILE --adopt puts a backup, or a ${advice.path}.before-restore-… file, in its place`;
    case 'row_paid_again':
      return `remove the row; counterfoil show ${advice.successor} shows its state (if that was cancelled, pay it as a new payment without retry_of)`;
    case 'row_unknown':
      return `remove the row; counterfoil retry ${advice.reference} shows what is known and sends it again under its own reference`;
    case 'row_not_payable':
      return 'remove the row';
    case 'row_unconfirmed': {
      const renew = `run counterfoil reconcile --full, then drop the file again, or the new failed.csv where the evidence changed (counterfoil report ${advice.batch} writes it)`;
      return advice.removable ? `remove the row, or ${renew}` : renew;
    }
    case 'row_settled':
      return `remove the row; if it was not, counterfoil retry ${advice.reference} shows what is known and pays it again`;
    case 'row_unanswered':
      return `counterfoil retry ${advice.reference} asks the service; then drop the file again`;
    case 'row_outdated':
      return `counterfoil report ${advice.batch} writes a new failed.csv: look at the row there and drop that file`;
  }
}
