import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { type Bank, type Banks, createBanks } from '../domain/banks.ts';

/**
 * Reads `intake.banks_file`: a CSV with the columns `code` and `name`, and perhaps `aliases`, which spaces separate.
 * Returns null and adds a problem where the file cannot be used: an unreadable list must not pass as an empty one.
 */
export function readBanks(path: string, problems: string[]): Banks | null {
  const problem = (why: string): null => {
    problems.push(`intake.banks_file: ${path}: ${why}`);
    return null;
  };
  const rows = rowsOf(path);
  if (typeof rows === 'string') return problem(rows);
  const [header = [], ...body] = rows;
  const at = (name: string): number => header.findIndex((cell) => cell.trim().toLowerCase() === name);
  const [codeAt, nameAt, aliasesAt] = [at('code'), at('name'), at('aliases')];
  if (codeAt < 0 || nameAt < 0) return problem('expected a header with the columns code and name');
  const taken = new Set<string>();
  const list: (Bank & { aliases: string[] })[] = [];
  for (const [index, cells] of body.entries()) {
    const code = cells[codeAt]?.trim() ?? '';
    const aliases = (cells[aliasesAt] ?? '').split(/[\s|/]+/).filter((alias) => alias !== '');
    const odd = [code, ...aliases].find((one) => !/^[A-Za-z0-9]{3,11}$/.test(one));
    if (odd !== undefined)
      return problem(
        `row ${index + 2}: expected a code of 3 to 11 letters and digits, got "${odd.slice(0, 20)}"`,
      );
    const twice = [code, ...aliases].find((one) => taken.has(one));
    if (twice !== undefined) return problem(`row ${index + 2}: ${twice} stands for two banks`);
    for (const one of [code, ...aliases]) taken.add(one);
    list.push({ code, name: cells[nameAt]?.trim() ?? '', aliases });
  }
  return list.length === 0 ? problem('it names no bank') : createBanks(list);
}

function rowsOf(path: string): string[][] | string {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(readFileSync(path));
    // Only here: commands without such a file start without the parser.
    const csv: typeof import('csv-parse/sync') = createRequire(import.meta.url)('csv-parse/sync');
    return csv.parse(text, { bom: true, delimiter: [',', ';', '\t'], skip_empty_lines: true });
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : 'not text in UTF-8';
    return code === 'ENOENT' ? 'there is no such file' : `cannot be read (${code})`;
  }
}
