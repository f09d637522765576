import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { BatchFile } from './batch-files.ts';
import type { Town } from './town.ts';

/** P34: what was promised beside the ledger is there: each file in the archive as it came, each bad row given back. */
export function judgeFiles(town: Town, files: readonly BatchFile[]): void {
  const { world, config, fall } = town;
  const fail = (detail: string): void =>
    world.violate('P34: what is promised beside the ledger is done', detail);
  const archived = textsIn(join(config.dataDir, 'archive'), /\.csv$/);
  for (const file of files) {
    if (fall.forgottenFiles.has(file.name)) continue;
    if (!archived.some((text) => text.startsWith(file.text)))
      fail(`${file.name} is not in the archive as it came`);
    const back = givenBack(config.dataDir, file);
    if (back.length < file.bad.length)
      fail(`${file.bad.length} rows of ${file.name} were left out, ${back.length} are given back`);
    else if (back.length > 0) world.coverage.count('file: bad rows given back');
  }
}

/** The bad rows of a file that lie ready to be mended and dropped again. */
export function givenBack(dataDir: string, { bad }: Pick<BatchFile, 'bad'>): string[] {
  const texts = textsIn(join(dataDir, 'rejected'), /\.invalid\.csv$/);
  return bad.filter((reference) => texts.some((text) => text.includes(`${reference},nobody,`)));
}

function textsIn(folder: string, names: RegExp): string[] {
  if (!existsSync(folder)) return [];
  const found = readdirSync(folder).filter((name) => names.test(name) && !name.startsWith('.'));
  return found.map((name) => readFileSync(join(folder, name), 'utf8'));
}
