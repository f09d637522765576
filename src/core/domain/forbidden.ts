const reasons: Partial<Record<string, string>> = {
  EACCES: 'permission denied',
  EPERM: 'not permitted',
  EROFS: 'the file system is read-only',
  ENOTDIR: 'a file stands where a folder should be',
  EEXIST: 'a file stands where a folder should be',
  EISDIR: 'a folder stands where a file should be',
};

export type Forbidden = { place: string; why: string };

/** The file or folder that this account may not use, and the reason in plain words; null for any other error. */
export function forbiddenPlace(error: unknown): Forbidden | null {
  if (!(error instanceof Error) || !('code' in error) || !('path' in error)) return null;
  const code = String(error.code);
  const why = reasons[code];
  // A copy names its target too, which is nearly always the forbidden place.
  const place = 'dest' in error ? error.dest : error.path;
  return why === undefined ? null : { place: String(place), why: `${why}, ${code}` };
}
