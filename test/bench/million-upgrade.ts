import { rmSync } from 'node:fs';
import { migrations } from '../../src/core/storage/known-migrations.ts';
import { placeOf } from '../../src/core/storage/place.ts';
import { upgradeLedger } from '../../src/custody/upgrade-ledger.ts';
import { addNextMigration } from '../support/next-migration.ts';

/** Upgrades a ledger file as the next version would, and prints the seconds of the backup before it and of the rest. */
const [file = ''] = process.argv.slice(2);
const name = addNextMigration();
const next = await migrations[name]?.();
const began = spent();
let backedUp = began;
migrations[name] = async () => ({
  up: async (db) => {
    backedUp = spent();
    await next?.up(db);
  },
});
const upgraded = await upgradeLedger(placeOf(file), { mode: 'test', now: () => new Date().toISOString() });
const ended = spent();
if (upgraded.kind !== 'upgraded' || upgraded.backup === null)
  throw new Error(`not upgraded: ${upgraded.kind}`);
rmSync(upgraded.backup);
console.log(`backup ${between(began, backedUp)}, tables ${between(backedUp, ended)}`);

type Spent = { wall: number; processor: number };

function spent(): Spent {
  const { user, system } = process.cpuUsage();
  return { wall: performance.now() / 1000, processor: (user + system) / 1e6 };
}

function between(from: Spent, to: Spent): string {
  return `${(to.wall - from.wall).toFixed(1)} s (${(to.processor - from.processor).toFixed(1)})`;
}
