/** Rows of a file that were left out, and the files that tell of them; null where none could be written. */
export type LeftOut = {
  rows: number;
  problemCount: number;
  errorsFile: string | null;
  invalidFile: string | null;
};

/** How many rows of a taken file will not be paid, where their problems are, and what to do with them. */
export function leftOutText({ rows, problemCount, errorsFile, invalidFile }: LeftOut): string {
  const were = rows === 1 ? '1 row was' : `${rows} rows were`;
  const why = `${problemCount} problem(s)${errorsFile === null ? '' : `, see ${errorsFile}`}`;
  const next =
    invalidFile === null
      ? ''
      : `. To pay ${rows === 1 ? 'it' : 'them'}, mend ${invalidFile} and submit that file`;
  return `${were} left out: ${why}${next}`;
}
