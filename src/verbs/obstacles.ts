import type { NotClosable } from '../books/statement/freeze-period.ts';
import type { Mode } from '../core/domain/payout.ts';
import type { WaitingFile } from '../core/domain/waiting-file.ts';
import { getBatch } from '../core/ledger/batches.ts';
import type { HoldReason } from '../core/ledger/hold-reasons.ts';
import type { Db } from '../core/storage/ledger.ts';
import type { Batch, Discrepancy } from '../core/storage/tables/tables.ts';
import type { Maker } from '../sending/approval.ts';
import { isCancelled } from '../sending/decisions/whole-batch.ts';

/** Why a verb did nothing. */
export type Obstacle =
  | { kind: 'no_batch' | 'loading' | 'cancelled' | 'unsound'; batch: string }
  | { kind: 'no_payout'; references: string[] }
  | { kind: 'needless'; batch: string; reasons: HoldReason[] }
  | { kind: 'own'; batch: string; maker: Maker }
  /** It is no longer what the person saw. */
  | { kind: 'changed'; id: string }
  | { kind: 'no_discrepancy'; ids: string[]; mode: Mode; orFile: boolean }
  /** A decision about it was recorded before, or evidence closed it. */
  | { kind: 'closed'; id: string; state: Discrepancy['state'] }
  | { kind: 'unaskable'; reference: string }
  | { kind: 'no_collection'; reference: string; mode: Mode }
  | { kind: 'no_run' | 'unfinished_run'; run: string }
  | { kind: 'open_month'; month: string }
  /** A month that cannot be closed, and why. */
  | { kind: 'not_closed'; month: string; why: NotClosable }
  | { kind: 'no_note' }
  | { kind: 'long_note'; most: number }
  /** Figures that belong to one file, where the inbox has none or several. */
  | { kind: 'not_one_file'; inbox: string; waiting: WaitingFile[] }
  /** Another process is at it. */
  | { kind: 'reconciling' }
  | { kind: 'file_exists'; file: string }
  | { kind: 'no_folder'; folder: string }
  /** The ledger is in PostgreSQL, which makes its own backups. */
  | { kind: 'in_a_database' };

export type Refused = { kind: 'refused'; why: Obstacle };

export function refusedFor(why: Obstacle): Refused {
  return { kind: 'refused', why };
}

/** The batch of an order, once it is loaded: no verb moves payouts whose history has not begun (P23). */
export async function loadedFor(db: Db, id: string): Promise<{ kind: 'found'; batch: Batch } | Refused> {
  const batch = await getBatch(db, id);
  if (!batch) return refusedFor({ kind: 'no_batch', batch: id });
  return batch.phase === 'loading' ? refusedFor({ kind: 'loading', batch: id }) : { kind: 'found', batch };
}

/** The same, for a verb that sends: nothing of a cancelled batch is ever sent. */
export async function livingFor(db: Db, id: string): ReturnType<typeof loadedFor> {
  const found = await loadedFor(db, id);
  if (found.kind === 'refused' || !(await isCancelled(db, id))) return found;
  return refusedFor({ kind: 'cancelled', batch: id });
}
