import { isAbsolute, relative } from 'node:path';

/** A path as people type it: from the folder where they stand, where that is shorter. */
export function pathText(cwd: string, path: string): string {
  if (!isAbsolute(path)) return path;
  const near = relative(cwd, path);
  return near === '' || near.length >= path.length ? path : near;
}

/** The end of a command: where its files are, and the next sensible command. Empty texts are left out. */
export function closing(parts: Readonly<Record<string, string | readonly string[]>>): string[] {
  const rows = Object.entries(parts).flatMap(([label, text]) =>
    [text]
      .flat()
      .flatMap((one, index) => (one === '' ? [] : [[index === 0 ? `${label}:` : '', one] as const])),
  );
  if (rows.length === 0) return [];
  const width = Math.max(...rows.map(([label]) => label.length));
  return ['', ...rows.map(([label, text]) => `${label.padEnd(width)} ${text}`)];
}
