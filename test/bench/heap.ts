/** Options of a process that is measured: with the heap that src/bin.js gives every command, from its first module on. */
export const asCommandsRun: readonly string[] = [
  '--import',
  new URL('./heap-limits.ts', import.meta.url).href,
];
