import { stat } from 'node:fs/promises';
import { basename } from 'node:path';
import { foreignEnding, readNames } from '../core/domain/file-formats.ts';
import { type Problem, wholeFile } from '../core/domain/problem.ts';
import { saveAsCsv } from '../core/domain/save-as.ts';
import { fileNameFinding } from './file-name.ts';

export const notAFile = ['this is not a file', `give a ${readNames} file`] as const;

const reasons: Record<string, readonly [problem: string, fix: string]> = {
  ENOENT: ['there is no such file', 'check the path'],
  ENOTDIR: ['there is no such file', 'check the path'],
  ENAMETOOLONG: ['there is no such file: the path is too long', 'check the path'],
  ELOOP: ['the path is a circle of links', 'give the file itself'],
  EACCES: ['the file may not be read by this account', 'give it read permission (chmod u+r, or chown)'],
  EPERM: ['the file may not be read by this account', 'give it read permission (chmod u+r, or chown)'],
  ENXIO: notAFile,
  ERR_INVALID_ARG_VALUE: ['there is no such file: the path holds a NUL', 'check the path'],
};

/**
 * Turns an error of opening a path into a problem of the path; null for a fault of the machine, which must
 * not be hidden (P12).
 */
export function unreadableCode(error: unknown): Problem | null {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const reason = Object.hasOwn(reasons, code) ? reasons[code] : undefined;
  return reason ? wholeFile(...reason) : null;
}

/** Returns why a path cannot be a batch at all, or null. Symbolic links of a named file are followed. */
export async function whyUnreadable(path: string): Promise<Problem | null> {
  try {
    const stats = await stat(path);
    return stats.isFile() ? null : wholeFile(...notAFile);
  } catch (error) {
    const problem = unreadableCode(error);
    if (problem) return problem;
    throw error;
  }
}

/** Returns the problem of a file's name: a spreadsheet, or a name that cannot be printed or stored. */
export function unfitName(path: string): Problem | null {
  const name = basename(path);
  const finding = fileNameFinding(name);
  if (finding) return wholeFile(finding.problem, finding.fix);
  const ending = foreignEnding.exec(name)?.[0];
  return ending === undefined
    ? null
    : wholeFile(`this is a spreadsheet (${ending}), not ${readNames}`, saveAsCsv);
}
