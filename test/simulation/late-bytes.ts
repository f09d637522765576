import { appendFileSync } from 'node:fs';
import type { BatchFile } from './batch-files.ts';
import type { Inspector } from './inspector.ts';
import type { Random } from './random.ts';
import type { World } from './world.ts';

/** So long may pass between the look at a file and the first payout of its batch, processes being stopped as they are. */
const longestMs = 2 * 60_000;

/** P34: files that grow in the archive before anything of them was sent. Their batches wait until a person has looked. */
export type LateBytes = {
  /** Whoever wrote the file writes one more row now, perhaps, if nothing of it was sent yet. */
  maybe(file: BatchFile, random: Random): void;
  /** A person is about to let the batch go. */
  releasing(batch: string): void;
  leaving(reference: string): void;
};

export function createLateBytes(world: World, inspector: Inspector): LateBytes {
  /** When the bytes came, true time, by batch. */
  const came = new Map<string, number>();
  return {
    maybe(file, random) {
      if (!random.chance(0.9)) return;
      const sql = `select b.id, m.target as path from batches b join file_moves m on m.owner = b.id
        where b.file_name = ? and b.file_state in ('due', 'whole') and m.kind = 'archive' and m.outcome = 'done'`;
      const [found] = inspector.rows<{ id: string; path: string }>(sql, file.name);
      if (!found) return;
      appendFileSync(found.path, 'B9-late-1,1000000009,Adaeze Okonkwo,000013,1.00,NGN,Salary,Acme Ltd\n');
      world.coverage.count('file: bytes came after it was read');
      world.trace(`${file.name} grows after it was read`);
      came.set(found.id, world.now());
    },
    releasing(batch) {
      const sql = "select 1 from batches where id = ? and file_state = 'changed'";
      if (inspector.rows(sql, batch).length > 0 && came.delete(batch))
        world.coverage.count('file: held for late bytes, and released');
    },
    leaving(reference) {
      const sql = 'select batch_id from payouts where reference = ?';
      const [row] = inspector.rows<{ batch_id: string }>(sql, reference);
      const at = came.get(row?.batch_id ?? '') ?? world.now();
      if (world.now() - at > longestMs)
        world.violate(
          'P34: a file is still what was read when its first payout is sent',
          `bytes came to it ${world.now() - at} ms ago, and nobody let it go`,
          reference,
        );
    },
  };
}
