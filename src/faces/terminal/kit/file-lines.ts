import { basename, dirname, isAbsolute, relative } from 'node:path';
import { counted } from '../../../core/domain/counted.ts';
import { firstOf } from '../../../words/row-messages.ts';
import type { Context } from '../context/world.ts';
import { wrapAll } from './wrap.ts';

/** A path as people type it: from the folder where they stand, where that is shorter. */
export function pathText(cwd: string, path: string): string {
  if (!isAbsolute(path)) return path;
  const near = relative(cwd, path);
  return near === '' || near.length >= path.length ? path : near;
}

/** More folders would hide the last line. */
const most = 10;

/** Files by folder, as people open them; the page or workbook to open first at the end. */
export function fileLines(
  { cwd, columns }: Pick<Context, 'cwd' | 'columns'>,
  files: readonly string[],
): string[] {
  if (files.length === 0) return ['Nothing to write: every report is up to date.'];
  const folders = [...Map.groupBy(files, (file) => dirname(file))];
  const lines = folders.slice(0, most).flatMap(([folder, own]) => [
    `${pathText(cwd, folder)}/`,
    `  ${firstOf(
      own.map((file) => basename(file)),
      12,
    )}`,
  ]);
  const rest = folders.length - most;
  const open = files.find((file) => file.endsWith('index.html')) ?? files.at(-1) ?? '';
  return wrapAll(
    [
      ...lines,
      ...(rest > 0 ? [`and ${counted(rest, 'folder')} more`] : []),
      '',
      `Open: ${pathText(cwd, open)}`,
    ],
    columns,
    0,
  );
}
