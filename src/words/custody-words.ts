import { type Place, placeName } from '../core/storage/place.ts';
import type { ArchiveRefusal } from '../custody/archive/archive-ledger.ts';
import type { MoveRefusal } from '../custody/move.ts';
import type { Unfit } from '../custody/restore-ledger.ts';
import { reasonText } from './advice-text.ts';
import { checkedText } from './verify-words.ts';

/** Why a ledger was not restored, moved or archived, with the way out. */
export function custodyText(why: Unfit | MoveRefusal | ArchiveRefusal): string {
  switch (why.kind) {
    case 'no_file':
      return `there is no file ${why.file}`;
    case 'moved_on':
      return `${why.why}. Restore in that place: set ledger.url to it`;
    case 'moved_from_here':
      return reasonText(why.reason);
    case 'flawed':
      return `${why.file} ${flawText(why.flaw)}; nothing was changed`;
    case 'moved_before':
      return reasonText({ ...why.reason, why: `it was moved already: ${why.reason.why}` });
    case 'target_there':
      return `${why.to} already exists; a ledger never moves over another one`;
    case 'target_gone':
      return `it was moved to ${why.to}, which is gone: restore a backup of that ledger there. The old one stays sealed, since it does not know what was sent after the move`;
    case 'target_differs':
      return `${why.to} does not hold what ${why.from} holds, so that neither sends. ${why.isFile ? 'Move that file away' : 'Drop that schema'}, then run the same migrate --to again`;
    case 'barrier':
      return `${reasonText(why.reason)}. Until then nothing is archived`;
    case 'no_closed_month':
      return 'no closed month ended by then: close-period closes months, the oldest first';
    case 'undelivered':
      return 'events of that time are not delivered to events.url: start serve until they are, or once with an empty events.url';
    case 'no_room':
      return `${why.folder} has ${mib(why.free)} MiB free, and archiving may need ${mib(why.need)} MiB for a time: free some space`;
    case 'archive_differs':
      return `the archive is not the same as the ledger (${unlikeText(why.how)}): nothing was changed`;
  }
}

/** That a ledger was upgraded, and where its copy from before is; null: there is none. */
export function upgradeText(place: Place, backup: string | null): string {
  const name = placeName(place);
  return backup === null
    ? `the ledger ${name} was upgraded to this version in one transaction; Counterfoil makes no backup on PostgreSQL: that is the database's work (pg_dump, base backups)`
    : `the ledger ${name} was upgraded to this version; the copy from before is ${backup}`;
}

const mib = (bytes: number): number => Math.ceil(bytes / 1_048_576);

function flawText(flaw: Extract<Unfit, { kind: 'flawed' }>['flaw']): string {
  switch (flaw.kind) {
    case 'no_database':
      return 'is not a ledger file';
    case 'no_ledger':
      return 'is not a Counterfoil ledger';
    case 'newer':
      return `is of a newer version of Counterfoil (it has the change ${flaw.change}); use that version`;
    case 'damaged':
      return `is damaged (${flaw.damage})`;
    case 'archive':
      return `is an archive: it has closed months of a ledger, and is none itself: ${instead}`;
    case 'sealed':
      return `was sealed when its ledger moved to ${flaw.target}, and does not know what was sent since: ${instead}`;
  }
}

const instead = 'restore a backup of that ledger instead';

function unlikeText(how: Extract<ArchiveRefusal, { kind: 'archive_differs' }>['how']): string {
  switch (how.kind) {
    case 'batches':
      return `${how.archived} batches for ${how.of}`;
    case 'batch':
      return `batch ${how.batch} differs`;
    case 'unsound':
      return checkedText(how.problem);
  }
}
