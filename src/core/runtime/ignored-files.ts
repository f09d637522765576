/**
 * Logs each file that intake leaves in the inbox, with the reason, once. A file that returns, or is left for another
 * reason, is logged again.
 */
export function createIgnoredFiles(log: {
  warn(fields: { file: string }, text: string): void;
}): (ignored: readonly { name: string; why: string }[]) => void {
  let logged = new Set<string>();
  return (ignored) => {
    const now = new Set<string>();
    for (const { name, why } of ignored) {
      const line = `${name} ${why}`;
      now.add(line);
      if (!logged.has(line)) log.warn({ file: name }, `left in the inbox: ${why}`);
    }
    logged = now;
  };
}
