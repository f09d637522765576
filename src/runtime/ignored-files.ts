/**
 * Logs each file that intake leaves where it lies once, with the reason, however often it is seen; one that went away
 * and comes back, or is left for another reason, is told of again.
 */
export function createIgnoredFiles(log: {
  warn(fields: { file: string }, text: string): void;
}): (ignored: readonly { name: string; why: string }[]) => void {
  let told = new Set<string>();
  return (ignored) => {
    const now = new Set<string>();
    for (const { name, why } of ignored) {
      const line = `${name} ${why}`;
      now.add(line);
      if (!told.has(line)) log.warn({ file: name }, `left in the inbox: ${why}`);
    }
    told = now;
  };
}
