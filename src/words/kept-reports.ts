/**
 * What to say of a finished run whose files are not in the reports folder. `keepDays`: `reports.keep_days`; 0 where files
 * are kept for ever.
 */
export function keptReportsTexts(run: string, keepDays: number): { command: string; page: string } {
  const kept = keepDays > 0 ? ` They are kept for ${keepDays} days (reports.keep_days).` : '';
  const page = `The files of this run are not in the reports folder.${kept}`;
  return { command: `${page} The command "counterfoil report ${run}" writes the same files again.`, page };
}
