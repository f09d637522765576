import type { createWorkers, Workers } from '../../src/core/runtime/worker-lock.ts';
import { addWorker, endWorker, openWorkers } from '../../src/core/runtime/workers.sql.ts';
import type { Life } from './life.ts';
import type { World } from './world.ts';

/**
 * Who lives, without real lock files. Where a lease is kept, a process that stood still for longer is taken for dead
 * although it will wake: fencing must hold then too (P3).
 */
export function createLiveness(
  world: World,
  life: Life,
  lives: ReadonlyMap<string, Life>,
  leaseMs: number | null,
): typeof createWorkers {
  const isDead = (id: string): boolean => {
    const other = lives.get(id);
    if (!other?.alive) return true;
    const stoodStill = other.stoppedUntil > world.now() ? world.now() - other.stoppedSince : 0;
    if (leaseMs === null || stoodStill <= leaseMs) return false;
    world.coverage.count('machine: taken over alive');
    return true;
  };
  return ({ ledger, clock }): Workers => {
    const markEnded = (id: string): Promise<void> => ledger.write((trx) => endWorker(trx, id, clock.iso()));
    return {
      id: life.name,
      async start(kind) {
        const self = { id: life.name, kind, host: 'simulated', pid: 1, lockFile: `${life.name}.lock` };
        await ledger.write((trx) => addWorker(trx, { ...self, startedAt: clock.iso() }));
      },
      async dead() {
        const ids = (await openWorkers(ledger.db)).map(({ id }) => id);
        return ids.filter((id) => id !== life.name && isDead(id));
      },
      markEnded,
      end: () => markEnded(life.name),
    };
  };
}
