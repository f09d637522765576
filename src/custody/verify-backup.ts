import { metaOf } from '../core/ledger/meta.ts';
import type { Db } from '../core/storage/ledger.ts';
import { type LedgerProblem, problemsOf } from './ledger-problem.ts';
import { backupKeys, createBatchDigest } from './seal.ts';
import type { ProvenEvents } from './verify-payout.ts';

/** Compares a backup's stored digests with its batches, one after another. */
export type BackupCheck = {
  batch(id: string): { add(evidence: ProvenEvents): void; end(): LedgerProblem[] };
  missing(): LedgerProblem[];
};

/**
 * Reads the digests of the batches from when the backup was made (P27). After a restore the histories grow, so only the
 * entries up to the backup's last one are compared. A ledger that is not a backup has no digests.
 */
export async function readBackup(db: Db): Promise<BackupCheck> {
  const { history, digest } = backupKeys;
  const rows = await db.selectFrom('meta').selectAll().where('key', 'like', `${digest}%`).execute();
  const stored = new Map(rows.map(({ key, value }) => [key.slice(digest.length), value]));
  const known = (await metaOf(db, history)) ?? '';
  const last = /^\d{1,18}$/.test(known) ? BigInt(known) : undefined;
  const walked = new Set<string>();
  return {
    batch(id) {
      walked.add(id);
      const then = createBatchDigest();
      return {
        add(evidence) {
          const head = headAt(evidence, last);
          if (head !== undefined) then.add(head);
        },
        end: () => {
          const written = stored.get(id);
          return written === undefined || written === then.end()
            ? []
            : problemsOf('backup', id, [{ kind: 'backup_digest' }]);
        },
      };
    },
    missing: () =>
      [...stored.keys()]
        .filter((id) => !walked.has(id))
        .flatMap((id) => problemsOf('backup', id, [{ kind: 'backup_batch' }])),
  };
}

/** The head of a history at entry `last`; undefined for a payout that did not exist then. */
function headAt({ payout, history }: ProvenEvents, last: bigint | undefined): string | undefined {
  if (last === undefined) return payout.history_head;
  // The archive has its earlier entries; a backup made since knew the last of them.
  return history.findLast((row) => row.id <= last)?.hash;
}
