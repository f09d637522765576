import { counted } from '../core/domain/counted.ts';
import { visible } from '../core/domain/hidden.ts';
import type { RejectedFile } from '../core/ledger/rejected-files.ts';

const what: Record<RejectedFile['kind'], (file: RejectedFile) => string> = {
  refused: ({ name }) => `${visible(name)} was refused, and nothing of it is paid`,
  left_out: ({ name, owner, rows_left: rows }) =>
    `${counted(Number(rows), 'row')} of ${visible(name)} ${rows === 1n ? 'was' : 'were'} left out of ${owner}`,
};

/** Says what became of a rejected file: `november.csv was refused, and nothing of it is paid: 3 problems`. */
export function rejectedText(file: RejectedFile): string {
  const { kind, problems, errors_file: errors } = file;
  const where = errors === null ? '' : `, see ${visible(errors)}`;
  return `${what[kind](file)}: ${counted(Number(problems), 'problem')}${where}`;
}

/** The form for JSON. `file`: its name as it was dropped. `place`: what to correct and drop again. */
export function rejectedJson(file: RejectedFile) {
  const { kind, name, since, problems, rows_left: rows, owner, place, errors_file } = file;
  return {
    kind,
    file: name,
    since,
    problems: Number(problems),
    rows: Number(rows),
    batch: owner === '' ? null : owner,
    place,
    errors_file,
  };
}
