import {
  appendFileSync,
  closeSync,
  existsSync,
  openSync,
  renameSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import * as intakeJob from '../../jobs/intake.ts';
import * as submitJob from '../../jobs/submit.ts';
import { type App, openApp } from '../../src/app/app.ts';
import { amountOf } from './brake-weather.ts';
import { givenBack } from './files-verdict.ts';
import type { Stroke } from './life.ts';
import { localTimeIn } from './local-time.ts';
import type { Random } from './random.ts';
import type { Town } from './town.ts';

/** How a file comes: named on the command line, or into the inbox, whole or in two pieces. */
type Coming = 'named' | 'whole' | 'still at it' | 'cut in a row';

/** A batch as the office wrote it: what the ledger must hold of it, no more and no less. */
export type BatchFile = {
  name: string;
  path: string;
  text: string;
  /** `payOn`: the day before which the row must not go; empty: none. `changed`: it pays another account than last time. */
  rows: { reference: string; minor: number; payOn: string; changed?: boolean }[];
  /** References of rows that cannot be paid, and are to be given back. */
  bad: string[];
  coming: Coming;
  /** Two of its rows have the account and the amount in common. */
  twins: boolean;
};

const header = 'reference,account_number,account_name,bank_code,amount,currency,narration,sender_name,pay_on';

const dayMs = 86_400_000;

/** Writes a batch; now and then two rows look alike, so that it is held until a person has looked. */
export function writeBatch(
  { world, weather, config }: Town,
  folder: string,
  { number, size, random }: { number: number; size: number; random: Random },
): BatchFile {
  // Where people race for it, a batch waits for them.
  const twins = random.chance(0.15) || weather.long.races;
  const own = random.fork(`file ${number}`);
  const { dates, timezone } = weather.brakes;
  const dayIn = localTimeIn(timezone);
  const days = world.random.fork(`days ${number}`);
  const ofAll = dates && days.chance(0.5) ? days.between(1, 2) : null;
  const dayFor = (i: number): string => {
    if (!dates || (i > 0 && ofAll === null && days.chance(0.3))) return '';
    return dayIn(weather.startsAt + (ofAll ?? days.between(0, 2)) * dayMs).date;
  };
  const rows = Array.from({ length: size }, (_, i) => {
    const like = twins && i === size - 1 ? 0 : i;
    const account = String(1_000_000_000 + number * 10_000 + like);
    return { reference: `B${number}-${i + 1}`, minor: amountOf(number, like), account, payOn: dayFor(i) };
  });
  const lineOf = ({ reference, minor, account, payOn }: (typeof rows)[number]): string =>
    `${reference},${account},Adaeze Okonkwo,000013,${(minor / 100).toFixed(2)},NGN,Salary,Acme Ltd,${payOn}`;
  const lines = rows.map(lineOf);
  const count = weather.long.skipsRows && own.chance(0.9) ? own.between(1, 3) : 0;
  const bad = Array.from({ length: count }, (_, i) => `B${number}-bad-${i + 1}`);
  for (const reference of bad)
    lines.splice(
      own.between(0, lines.length),
      0,
      lineOf({ reference, minor: 100, account: 'nobody', payOn: '' }),
    );
  const coming: Coming =
    weather.long.dropsFiles && own.chance(0.8)
      ? own.pick(['whole', 'still at it', 'still at it', 'cut in a row', 'cut in a row'])
      : 'named';
  const name = `batch${number}.csv`;
  const path = join(coming === 'named' ? folder : join(config.dataDir, 'inbox'), name);
  const text = `${[header, ...lines].join('\n')}\n`;
  if (coming === 'named') writeFileSync(path, text);
  return { name, path, text, rows, bad, coming, twins };
}

/** The office drops the file where it belongs, now. One in two pieces comes whole in the end, some time later. */
function drop({ world, fall }: Town, { path, text, coming, name }: BatchFile, random: Random): void {
  const whole = `${path}.writing`;
  if (coming === 'whole' || fall.fellAt() !== null) {
    writeFileSync(whole, text);
    renameSync(whole, path);
    return;
  }
  // Not at the end of a line: what a row lacks then is for the reader to see.
  const lineEnds = text.indexOf('\n', random.between(0, text.length - 2));
  const cut = Math.max(1, lineEnds - random.between(1, 20));
  world.coverage.count(
    `file: in pieces, ${coming === 'still at it' ? 'the writer still at it' : 'cut in a row'}`,
  );
  world.trace(`${name} comes in pieces, ${cut} of ${text.length} characters now`);
  if (coming === 'still at it') {
    const open = openSync(path, 'w');
    writeSync(open, text.slice(0, cut));
    world.after(random.between(1_000, 1_800_000), null, () => {
      writeSync(open, text.slice(cut));
      closeSync(open);
    });
  } else {
    writeFileSync(path, text.slice(0, cut));
    world.after(random.between(1_000, 45_000), null, () => appendFileSync(path, text.slice(cut)));
  }
}

/** Brings a file in by `submit`, again and again until the ledger has the batch: whoever ordered it sees to that. */
export function bringIn(town: Town, file: BatchFile): void {
  const random = town.world.random.fork(`drop ${file.name}`);
  if (town.fall.forgottenFiles.has(file.name)) return;
  if (file.coming !== 'named' && !existsSync(file.path)) drop(town, file, random);
  submitUntilIn(town, file, random);
}

function submitUntilIn(town: Town, file: BatchFile, random: Random): void {
  const { world, fall } = town;
  if (fall.forgottenFiles.has(file.name)) return;
  const later = (ms: number): void => world.after(ms, null, () => submitUntilIn(town, file, random));
  if (fall.shut) {
    later(60_000);
    return;
  }
  if (town.inspector.batches().some(({ file_name, phase }) => file_name === file.name && phase === 'loaded'))
    return;
  // Somebody refused it: it waits for a person, and is missed at the end.
  if (!existsSync(file.path)) return;
  const { life, options } = town.begin('submit', strokesFor(file, random));
  world.coverage.count('machine: second process');
  void life.died.then(() => {
    noteCut(town, file);
    later(town.calm ? 1_000 : 120_000);
  });
  const work = async (): Promise<void> => {
    const app = await openApp('whole', { ...options, kind: 'submit' });
    await takeIn(app, file);
    world.trace(`${life.name} took in ${file.name}`);
    // What an old copy of the ledger forgets of it would be taken in again, as it is then.
    if (town.weather.long.dropsFiles && !town.weather.oldCopies) town.lateBytes.maybe(life, file, random);
    if (!town.weather.brakes.takesOnly) await submitJob.run(app);
    await app.close();
    life.kill('done');
  };
  work().catch((error: unknown) => town.failed(life, 'submit', error));
}

async function takeIn(app: App, { coming, path }: BatchFile): Promise<void> {
  if (coming === 'named') await app.intake.takeFiles([path], { origin: 'named' });
  else await intakeJob.run(app);
}

/** Where bad rows are to be given back, processes are killed between the batch and the files beside the ledger. */
function strokesFor({ bad }: BatchFile, random: Random): Stroke[] {
  if (bad.length === 0 || random.chance(0.15)) return [];
  const point = random.pick(['before a transaction', 'after a commit'] as const);
  return [{ kind: 'crash', point, nth: random.between(3, 7) }];
}

function noteCut({ world, inspector, config }: Town, file: BatchFile): void {
  const sql = "select 1 from batches where file_name = ? and body_digest <> ''";
  if (file.bad.length === 0 || inspector.rows(sql, file.name).length === 0) return;
  if (givenBack(config.dataDir, file).length < file.bad.length)
    world.coverage.count('file: killed between a batch and its bad rows');
}
