import { type Inspector, readWhole } from './inspector.ts';
import type { World } from './world.ts';

/** Where a ledger stands that went back in time (P25), by the oracle's own book and not by the ledger's barriers. */
export type Fall = {
  /** Somebody needs the ledger alone: nobody else begins meanwhile. */
  shut: boolean;
  /** When it last went back, true time; null: it never did. */
  fellAt(): number | null;
  /** When that was adopted, true time; null while it is not. */
  adoptedAt(): number | null;
  fell(): void;
  adopted(): void;
  /** True unless it fell and neither a complete listing begun after its adoption nor a person has ended the wait since. */
  maySend(): boolean;
  /** Adopted, and the ledger waits for its list. */
  waits(): boolean;
  /** A person is about to end that wait. */
  announceEnd(): void;
  /** Something was committed: what ended the wait is allowed to. */
  judgeWait(): void;
  /** Files that the copy does not know and that nobody drops again. */
  forgottenFiles: Set<string>;
};

export function createFall(world: World, inspector: Inspector): Fall {
  let fellAt: number | null = null;
  let adoptedAt: number | null = null;
  let heard = true;
  let runsBefore = new Set<string>();
  let announced = false;

  const finishedRuns = (where: string): string[] =>
    inspector
      .rows<{ id: string }>(`select id from runs where finished_at is not null and ${where}`)
      .map(({ id }) => id);
  const completeRuns = (): string[] => finishedRuns(readWhole);
  const isNew = (id: string): boolean => !runsBefore.has(id);
  const waits = (): boolean =>
    adoptedAt !== null && inspector.rows("select 1 from meta where key = 'listing_due'").length > 0;
  return {
    shut: false,
    fellAt: () => fellAt,
    adoptedAt: () => adoptedAt,
    fell() {
      fellAt = world.now();
      adoptedAt = null;
      heard = false;
      announced = false;
    },
    adopted() {
      adoptedAt = world.now();
      runsBefore = new Set(finishedRuns('1 = 1'));
    },
    maySend() {
      heard ||= adoptedAt !== null && completeRuns().some(isNew);
      return heard;
    },
    waits,
    announceEnd() {
      announced = true;
    },
    judgeWait() {
      if (adoptedAt === null || heard || waits()) return;
      heard = true;
      if (completeRuns().some(isNew)) {
        world.coverage.count('ledger: its wait ended by a list');
        return;
      }
      if (!announced)
        world.violate('P25: a list or a person ends the wait', 'the adopted ledger waits no more');
      else if (!finishedRuns('1 = 1').some(isNew))
        world.violate('P32: a person sees first what is not proven', 'no list was read since the adoption');
      world.coverage.count('ledger: its wait ended by a person');
    },
    forgottenFiles: new Set(),
  };
}
