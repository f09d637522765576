import type { Ledger } from '../../src/core/storage/ledger.ts';
import { openLedger } from '../../src/custody/open-ledger.ts';
import { type Life, never } from './life.ts';
import type { World } from './world.ts';

/** SQLite's write lock as virtual time sees it: one process at a time, the others wait, and give up after a minute. */
export type WriteLock = {
  take(life: Life): Promise<void>;
  release(life: Life): void;
  isFree(): boolean;
  /** When a process last let go of it that had held it for long, true time; now, while one does. */
  longHeldUntil(): number;
};

const patienceMs = 60_000;
/** Others may give up what they were about to do. */
const longMs = 30_000;

export function createWriteLock(world: World): WriteLock {
  let holder: Life | null = null;
  const waiting: { life: Life; go: () => void }[] = [];
  let takenAt = 0;
  let longUntil = 0;
  const isLong = (): boolean => holder !== null && world.now() - takenAt > longMs;
  const passOn = (): void => {
    if (isLong()) longUntil = world.now();
    holder = null;
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      if (!next.life.alive) continue;
      const { life, go } = next;
      holder = life;
      takenAt = world.now();
      let begun = false;
      // Who dies before its turn begins holds nothing that its death would free.
      life.atDeath(() => !begun && holder === life && passOn());
      world.after(0, life, () => {
        begun = true;
        go();
      });
      return;
    }
  };
  return {
    take(life) {
      if (holder === null) {
        holder = life;
        takenAt = world.now();
        return Promise.resolve();
      }
      return new Promise((resolve, reject) => {
        const mine = { life, go: resolve };
        waiting.push(mine);
        world.after(patienceMs, life, () => {
          const at = waiting.indexOf(mine);
          if (at === -1) return;
          waiting.splice(at, 1);
          reject(Object.assign(new Error('database is locked'), { code: 'SQLITE_BUSY' }));
        });
      });
    },
    release(life) {
      if (holder === life) passOn();
    },
    isFree: () => holder === null,
    longHeldUntil: () => (isLong() ? world.now() : longUntil),
  };
}

/**
 * The real ledger file, with a point before and after everything that can leave something half done. Death closes the
 * connection, so that SQLite rolls back what was open, as it does after a kill.
 */
export function createLedgerSeam(
  world: World,
  life: Life,
  lock: WriteLock,
  committed: (life: Life) => void,
): typeof openLedger {
  return async (path, options) => {
    const now = (): string => {
      if (life.diesAt('between commit and mark')) throw new Error('this process is dead');
      return life.clock.iso();
    };
    let opening = true;
    await lock.take(life);
    if (!life.alive) {
      lock.release(life);
      return never();
    }
    life.atDeath(() => world.settle(async () => lock.release(life)));
    const real = await openLedger(path, {
      ...options,
      now: () => (opening ? life.clock.iso() : now()),
    }).finally(() => lock.release(life));
    opening = false;
    life.atDeath(() =>
      world.settle(async () => {
        // First the connection, so that nothing more is written; then what else the process held.
        await real.db.destroy();
        await real.close();
        committed(life);
        lock.release(life);
      }),
    );
    const close = async (): Promise<void> => {
      await lock.take(life);
      await real.close();
      lock.release(life);
    };
    committed(life);
    const plugin: Parameters<Ledger['db']['withPlugin']>[0] = {
      transformQuery: ({ node }) => node,
      async transformResult({ result }) {
        await life.pass('after a statement');
        return result;
      },
    };
    const write: Ledger['write'] = async (work) => {
      await life.pass('before a transaction');
      await lock.take(life);
      try {
        const result = await real.write(async (trx) => {
          const done = await work(trx.withPlugin(plugin));
          await life.pass('before a commit');
          return done;
        });
        committed(life);
        lock.release(life);
        await life.pass('after a commit');
        return result;
      } catch (error) {
        if (!life.alive) return never();
        lock.release(life);
        throw error;
      }
    };
    // A lock file of its own for each life: the operating system would have freed the one of the dead.
    return { ...real, path: `${real.path}.${life.name}`, db: real.db.withPlugin(plugin), write, close };
  };
}
