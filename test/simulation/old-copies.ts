import { copyFileSync, existsSync, readFileSync, rmSync } from 'node:fs';
import { adoptLedger } from '../../src/custody/adopt.ts';
import { shutGate } from '../../src/custody/custody-gate.ts';
import { backupLedger, copyConsistently } from '../../src/custody/make-backup.ts';
import { openLedger } from '../../src/custody/open-ledger.ts';
import { restoreLedger } from '../../src/custody/restore-ledger.ts';
import { type BatchFile, bringIn } from './batch-files.ts';
import type { WayBack } from './coverage.ts';
import type { Town } from './town.ts';

const minute = 60_000;
const ways = ['backup restored', 'put over its mark', 'put without its mark'] as const;

/** What `putBack` needs to know: which way, the file, and whether the product itself made it. */
type Copy = { way: WayBack; file: string; isBackup: boolean };

/**
 * An operator who keeps a copy of the ledger and rarely puts it back in the place of the newer one (P25). Everything
 * then runs on as if nothing had happened, until a person adopts what went back.
 */
export function createOldCopies(
  town: Town,
  files: readonly BatchFile[],
  wentBack: () => void,
): { start(): void } {
  const { world, fall, weather } = town;
  const random = world.random.fork('old copies');
  const path = town.config.ledgerFile;
  let copies = 0;
  // Each fall has one wait for a list: where that list is never complete, a day has several.
  const unit = weather.long.listFlaw ? minute / 3 : minute;

  function takeCopy(): void {
    if (town.calm) return;
    // A quiet moment: nobody is in a transaction.
    if (!town.lock.isFree()) {
      world.after(1_000, null, takeCopy);
      return;
    }
    const way = random.pick(ways);
    copies += 1;
    const isBackup = way === 'backup restored' || random.chance(0.3);
    const copy = { way, file: `${path}.copy-${copies}`, isBackup };
    alone(() => makeCopy(path, copy, iso(town)));
    world.trace('a copy of the ledger is taken');
    const backMs = weather.isSteady ? 2 * minute : random.between(10, 150) * unit;
    world.after(backMs, null, () => switchOff(() => putBack(copy)));
  }

  /** Ends every process, and does the rest once their connections are closed. */
  function switchOff(then: () => Promise<void>): void {
    if (fall.shut) {
      world.after(minute, null, () => switchOff(then));
      return;
    }
    fall.shut = true;
    town.switchOff();
    world.after(1, null, () => alone(then));
  }

  async function putBack(copy: Copy): Promise<void> {
    const before = loadedFiles(town);
    const mark = markedUpTo(path);
    await town.inspector.whileClosed(() => replace(path, copy, iso(town)));
    world.coverage.count(`ledger: ${copy.way}`);
    world.trace(`the ledger went back: ${copy.way}`);
    fall.fell();
    wentBack();
    const reached = town.inspector.rows<{ n: number | null }>('select max(id) as n from history')[0]?.n ?? 0;
    const [marked] = town.inspector.rows('select 1 from meta where key = ?', 'marked');
    const mustNotice =
      copy.isBackup || (copy.way === 'put without its mark' ? marked && reached > 0 : mark > reached);
    const opened = await openLedger(path, { now: () => iso(town) });
    await opened.close();
    const noticed = town.inspector.rows('select 1 from meta where key = ?', 'behind').length > 0;
    if (mustNotice && !noticed)
      world.violate(
        'P25: a ledger notices that it went back',
        `${copy.way}: ${mark} marked, ${reached} there`,
      );
    decideLost(before);
    // Nothing was written since the copy: the operator, who knows what was done, says so at once.
    if (!noticed) {
      world.after(1, null, adopt);
      return;
    }
    fall.shut = false;
    const adoptMs = weather.isSteady ? 8 * minute : random.between(1, 90) * unit;
    world.after(adoptMs, null, () => switchOff(async () => adopt()));
  }

  /** What was taken after the copy is not in it: its file is dropped again, or forgotten. */
  function decideLost(before: readonly string[]): void {
    const now = new Set(loadedFiles(town));
    for (const file of files.filter(({ name }) => before.includes(name) && !now.has(name))) {
      // A file that still lies in the inbox is taken again, whatever anybody wants.
      const again = random.chance(0.5) || (file.coming !== 'named' && existsSync(file.path));
      world.trace(`${file.name} is lost${again ? ', and will be dropped again' : ''}`);
      if (!again) fall.forgottenFiles.add(file.name);
      else
        world.after(random.between(1, 240) * minute, null, () => {
          world.coverage.count('ledger: a lost file dropped again');
          bringIn(town, file);
        });
    }
  }

  /** `restore --adopt`, alone on the ledger, and again until it has come to its end. */
  function adopt(): void {
    const { life, options } = town.begin('person');
    const work = async (): Promise<void> => {
      const gate = await shutGate(path);
      if (!gate) throw new Error('somebody is still in the gate');
      life.atDeath(() => void gate.release());
      const open = options.openLedger ?? openLedger;
      const ledger = await open(path, { ...limitOf(options), now: life.clock.iso, alone: 'owner' });
      const { unknown } = await adoptLedger({ ...ledger, path }, life.clock.iso);
      world.trace(`${life.name} adopted the ledger: ${unknown} are unknown`);
      world.coverage.count('ledger: adopted');
      fall.adopted();
      await ledger.close();
      life.kill('done');
      fall.shut = false;
      if (!weather.isSteady && random.chance(0.8)) start();
    };
    void life.died.then(() => {
      if (fall.adoptedAt() === null) world.after(minute, null, adopt);
      else fall.shut = false;
    });
    work().catch((error: unknown) => town.failed(life, 'adopting', error));
  }

  const alone = (work: () => Promise<void>): void => {
    work().catch((error: unknown) => world.violate('the operator can do it', String(error)));
  };
  const start = (): void => world.after(weather.isSteady ? 0 : random.between(5, 90) * unit, null, takeCopy);
  return { start: () => weather.oldCopies && start() };
}

const iso = ({ world }: Town): string => new Date(Math.floor(world.now() + world.wallError)).toISOString();

function limitOf({ maxPageCount }: { maxPageCount?: number }): { maxPageCount?: number } {
  return maxPageCount === undefined ? {} : { maxPageCount };
}

function loadedFiles({ inspector }: Town): string[] {
  const sql = "select file_name from batches where phase = 'loaded' or body_digest <> ''";
  return inspector.rows<{ file_name: string }>(sql).map(({ file_name }) => file_name);
}

async function makeCopy(path: string, { file, isBackup }: Copy, at: string): Promise<void> {
  if (!isBackup) {
    await copyConsistently(path, file);
    return;
  }
  const ledger = await openLedger(path, { now: () => at });
  await backupLedger(ledger, file, at);
  await ledger.close();
}

async function replace(path: string, { way, file }: Copy, at: string): Promise<void> {
  if (way === 'backup restored') {
    const gate = await shutGate(path);
    if (!gate) throw new Error('somebody is still in the gate');
    const done = await restoreLedger(path, file, at);
    await gate.release();
    if (done.kind === 'unfit') throw new Error(done.why.kind);
    return;
  }
  const gone = way === 'put without its mark' ? ['-wal', '-shm', '.mark'] : ['-wal', '-shm'];
  for (const suffix of gone) rmSync(path + suffix, { force: true });
  copyFileSync(file, path);
}

/** How far the mark beside the ledger says that it had come; 0 without one. */
function markedUpTo(path: string): number {
  try {
    return Number(readFileSync(`${path}.mark`, 'utf8').split(' ')[1]);
  } catch {
    return 0;
  }
}
