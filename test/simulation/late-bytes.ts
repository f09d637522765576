import { appendFileSync } from 'node:fs';
import type { BatchFile } from './batch-files.ts';
import type { Inspector } from './inspector.ts';
import type { Life } from './life.ts';
import type { Random } from './random.ts';
import type { World } from './world.ts';

/** So much later another process, which looked before the bytes came, may claim the first payout of the batch. */
const longestMs = 2 * 60_000;

/** P34: files that grow in the archive before anything of them was sent. Their batches wait until a person has looked. */
export type LateBytes = {
  /**
   * Whoever wrote the file writes one more row now, perhaps, if no payout of it was claimed yet. The process `by` has read
   * it and is about to send: it must look again first.
   */
  maybe(by: Life, file: BatchFile, random: Random): void;
  /** A person is about to let the batch go. */
  releasing(batch: string): void;
  /** An attempt was committed: only the first of a batch follows a look at its file. */
  began(life: Life, reference: string): void;
};

export function createLateBytes(world: World, inspector: Inspector): LateBytes {
  /** When the bytes came, true time, and beside which process, by batch. */
  const came = new Map<string, { at: number; by: Life }>();
  return {
    maybe(by, file, random) {
      if (!random.chance(0.9)) return;
      const sql = `select b.id, m.target as path from batches b join file_moves m on m.owner = b.id
        where b.file_name = ? and b.file_state in ('due', 'whole') and m.kind = 'archive' and m.outcome = 'done'`;
      const [found] = inspector.rows<{ id: string; path: string }>(sql, file.name);
      if (!found) return;
      appendFileSync(found.path, 'B9-late-1,1000000009,Adaeze Okonkwo,000013,1.00,NGN,Salary,Acme Ltd\n');
      world.coverage.count('file: bytes came after it was read');
      world.trace(`${file.name} grows after it was read`);
      came.set(found.id, { at: world.now(), by });
    },
    releasing(batch) {
      const sql = "select 1 from batches where id = ? and file_state = 'changed'";
      if (inspector.rows(sql, batch).length > 0 && came.delete(batch))
        world.coverage.count('file: held for late bytes, and released');
    },
    began(life, reference) {
      const sql = 'select batch_id from payouts where reference = ?';
      const batch = inspector.rows<{ batch_id: string }>(sql, reference)[0]?.batch_id ?? '';
      const late = came.get(batch);
      if (!late) return;
      came.delete(batch);
      const passed = world.now() - late.at;
      if (life === late.by || passed > longestMs)
        world.violate(
          'P34: a file is still what was read when its first payout is sent',
          `bytes came to it ${passed} ms before ${life.name} claimed it, and nobody let it go`,
          reference,
        );
    },
  };
}
