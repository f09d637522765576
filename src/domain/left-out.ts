import type { Problem } from './problem.ts';

/** Rows of a file that were left out, and the files that tell of them; null where none could be written. */
export type LeftOut = {
  rows: number;
  problemCount: number;
  errorsFile: string | null;
  invalidFile: string | null;
};

/** The same for `--json`. */
export type LeftOutJson =
  | { skipped: 0 }
  | {
      skipped: number;
      /** `problems` are the first of so many; `errors_file` has all. */
      problem_count: number;
      problems: Problem[];
      errors_file: string | null;
      invalid_file: string | null;
    };

/** How many rows were left out, their problems, and the files that tell of them. */
export function leftOutJson(left: (LeftOut & { problems: Problem[] }) | null): LeftOutJson {
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

/** How many rows of a taken file will not be paid, where their problems are, and what to do with them. */
export function leftOutText(left: LeftOut): string {
  return told(left, (them, file) => `To pay ${them}, mend ${file} and submit that file`);
}

/** The same of expected collections: nobody waits for what was left out. */
export function leftOutCollectionsText(left: LeftOut): string {
  return told(left, (them, file) => `To expect ${them}, mend ${file} and drop it in inbox/collections`);
}

function told(
  { rows, problemCount, errorsFile, invalidFile }: LeftOut,
  mend: (them: string, file: string) => string,
): string {
  const were = rows === 1 ? '1 row was' : `${rows} rows were`;
  const why = `${problemCount} problem(s)${errorsFile === null ? '' : `, see ${errorsFile}`}`;
  const next = invalidFile === null ? '' : `. ${mend(rows === 1 ? 'it' : 'them', invalidFile)}`;
  return `${were} left out: ${why}${next}`;
}

/** What a command or a log says of rows that an earlier run left out, and that were given back only after it had died. */
export function givenBackText({
  errorsFile,
  invalidFile,
}: Pick<LeftOut, 'errorsFile' | 'invalidFile'>): string {
  const where = [invalidFile, errorsFile].filter((file) => file !== null).join(', their problems in ');
  return `rows of it were left out by a run that was interrupted; they are given back now: ${where}`;
}
