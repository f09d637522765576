/** The folder of a run's files, below the reports folder. */
export function runFolder(run: string): string {
  return `reconciliation-${run}`;
}

/** The run whose folder a path below the reports folder begins with; undefined for every other path. */
export function runOfReport(path: string): string | undefined {
  return /^reconciliation-(\d{8}T\d{6}Z(?:-\d+)?)(?:\/|$)/.exec(path)?.[1];
}
