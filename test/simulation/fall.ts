import type { Inspector } from './inspector.ts';
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
  /** True unless it fell and no complete listing begun after its adoption has been matched since. */
  maySend(): boolean;
  /** Files that the copy does not know and that nobody drops again. */
  forgottenFiles: Set<string>;
};

export function createFall(world: World, inspector: Inspector): Fall {
  let fellAt: number | null = null;
  let adoptedAt: number | null = null;
  let heard = true;
  let runsBefore = new Set<string>();

  const completeRuns = (): string[] =>
    inspector
      .rows<{ id: string }>(
        "select id from runs where finished_at is not null and json_extract(summary, '$.complete') = 1",
      )
      .map(({ id }) => id);
  return {
    shut: false,
    fellAt: () => fellAt,
    adoptedAt: () => adoptedAt,
    fell() {
      fellAt = world.now();
      adoptedAt = null;
      heard = false;
    },
    adopted() {
      adoptedAt = world.now();
      runsBefore = new Set(completeRuns());
    },
    maySend() {
      heard ||= adoptedAt !== null && completeRuns().some((id) => !runsBefore.has(id));
      return heard;
    },
    forgottenFiles: new Set(),
  };
}
