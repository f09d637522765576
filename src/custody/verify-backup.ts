import type { Db } from '../storage/ledger.ts';
import { backupKeys, createBatchDigest } from './seal.ts';
import type { Evidence, Found } from './verify-payout.ts';

/** What a backup says of itself, held against the batches as they are walked. */
export type BackupCheck = {
  batch(id: string): { add(evidence: Evidence): void; end(): Found[] };
  /** Batches that the backup held and that nobody walked. */
  missing(): Found[];
};

/**
 * A backup carries the digests of its batches as they were when it was made (P27). Once it was restored its histories
 * grow, so that only the entries up to its last one are compared; a ledger that is no backup has nothing to compare.
 */
export async function readBackup(db: Db): Promise<BackupCheck> {
  const { history, digest } = backupKeys;
  const rows = await db.selectFrom('meta').selectAll().where('key', 'like', `${digest}%`).execute();
  const said = new Map(rows.map(({ key, value }) => [key.slice(digest.length), value]));
  const meta = await db.selectFrom('meta').select('value').where('key', '=', history).executeTakeFirst();
  const last = meta && /^\d{1,18}$/.test(meta.value) ? BigInt(meta.value) : undefined;
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
          const written = said.get(id);
          return written === undefined || written === then.end()
            ? []
            : [problem(id, 'digest is not the one that was written when the backup was made')];
        },
      };
    },
    missing: () =>
      [...said.keys()]
        .filter((id) => !walked.has(id))
        .map((id) => problem(id, 'the backup held this batch, and it is gone')),
  };
}

/** The head of a history as it was at entry `last`; undefined for what did not exist then. */
function headAt({ payout, history }: Evidence, last: bigint | undefined): string | undefined {
  if (last === undefined) return payout.history_head;
  return history.findLast((row) => row.id <= last)?.hash;
}

function problem(batch: string, text: string): Found {
  return { check: 'backup', problem: `${batch}: ${text}` };
}
