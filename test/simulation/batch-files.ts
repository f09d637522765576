import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import * as submitJob from '../../jobs/submit.ts';
import { openApp } from '../../src/app.ts';
import { amountOf } from './brake-weather.ts';
import type { Random } from './random.ts';
import type { Town } from './town.ts';

/** A batch as the office wrote it: what the ledger must hold of it, no more and no less. */
export type BatchFile = {
  name: string;
  path: string;
  rows: { reference: string; minor: number }[];
  /** Two of its rows have the account and the amount in common. */
  twins: boolean;
};

const header = 'reference,account_number,account_name,bank_code,amount,currency,narration,sender_name';

/** Writes a batch; now and then two rows look alike, so that it is held until a person has looked. */
export function writeBatch(folder: string, number: number, size: number, random: Random): BatchFile {
  const twins = random.chance(0.15);
  const rows = Array.from({ length: size }, (_, i) => {
    const like = twins && i === size - 1 ? 0 : i;
    const account = String(1_000_000_000 + number * 10_000 + like);
    return { reference: `B${number}-${i + 1}`, minor: amountOf(number, like), account };
  });
  const lines = rows.map(
    ({ reference, minor, account }) =>
      `${reference},${account},Adaeze Okonkwo,000013,${(minor / 100).toFixed(2)},NGN,Salary,Acme Ltd`,
  );
  const name = `batch${number}.csv`;
  const path = join(folder, name);
  writeFileSync(path, `${[header, ...lines].join('\n')}\n`);
  return { name, path, rows, twins };
}

/** `submit FILE`, again and again until the ledger has the batch: whoever ordered it sees to that. */
export function bringIn(town: Town, file: BatchFile): void {
  const { world, fall } = town;
  if (fall.forgottenFiles.has(file.name)) return;
  if (fall.shut) {
    world.after(60_000, null, () => bringIn(town, file));
    return;
  }
  if (town.inspector.batches().some(({ file_name, phase }) => file_name === file.name && phase === 'loaded'))
    return;
  const again = (): void => world.after(town.calm ? 1_000 : 120_000, null, () => bringIn(town, file));
  const { life, options } = town.begin('submit');
  world.coverage.count('machine: second process');
  void life.died.then(again);
  const work = async (): Promise<void> => {
    const app = await openApp(options, 'submit');
    // Reading the file takes real time, in which nobody else moves: so nobody else may be in a transaction.
    while (!town.lock.isFree()) await life.clock.sleep(1_000);
    await world.exclusively(async () => {
      await app.intake.takeIn(file.path, { origin: 'named' });
      // A look at the archive before the first payout would take real time at a moment that no seed decides.
      await app.ledger.write((trx) => trx.updateTable('batches').set({ file_state: 'none' }).execute());
    }, life);
    world.trace(`${life.name} took in ${file.name}`);
    if (!town.weather.brakes.takesOnly) await submitJob.run(app);
    await app.close();
    life.kill('done');
  };
  work().catch((error: unknown) => town.failed(life, 'submit', error));
}
