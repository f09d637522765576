import { counted } from './counted.ts';
import type { Problem } from './problem.ts';

/** Rows left out of a file, and the files that list them; null where none could be written. */
export type LeftOut = {
  rows: number;
  problemCount: number;
  errorsFile: string | null;
  invalidFile: string | null;
};

/** The form for `--json`: how many rows were left out, their problems, and the files that list them. */
export function leftOutJson(left: (LeftOut & { problems: Problem[] }) | null) {
  if (left === null) return { skipped: 0 };
  const { rows, problems, problemCount, errorsFile, invalidFile } = left;
  return {
    skipped: rows,
    problem_count: problemCount,
    problems,
    errors_file: errorsFile,
    invalid_file: invalidFile,
  };
}

/** Says how many rows of a taken file will not be paid, where their problems are, and what to do with them. */
export function leftOutText(left: LeftOut): string {
  return leftOutSentence(left, (them, file) => `To pay ${them}, correct ${file} and submit that file`);
}

/** The same for expected collections, which nobody is paid for. */
export function leftOutCollectionsText(left: LeftOut): string {
  return leftOutSentence(
    left,
    (them, file) => `To expect ${them}, correct ${file} and drop it in inbox/collections`,
  );
}

function leftOutSentence(
  { rows, problemCount, errorsFile, invalidFile }: LeftOut,
  mend: (them: string, file: string) => string,
): string {
  const were = rows === 1 ? '1 row was' : `${rows} rows were`;
  const why = `${counted(problemCount, 'problem')}${errorsFile === null ? '' : `, see ${errorsFile}`}`;
  const next = invalidFile === null ? '' : `. ${mend(rows === 1 ? 'it' : 'them', invalidFile)}`;
  return `${were} left out: ${why}${next}`;
}

/** Says that rows left out by an interrupted run were returned only now. */
export function givenBackText(files: Pick<LeftOut, 'errorsFile' | 'invalidFile'>): string {
  const where = [files.invalidFile, files.errorsFile]
    .filter((file) => file !== null)
    .join(', their problems in ');
  return `rows of it were left out by a run that was interrupted; they are returned now: ${where}`;
}
