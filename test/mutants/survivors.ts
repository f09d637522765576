import type { Mutant } from './mutate.ts';

/** A mutant that no test can tell from the program, and why. Each is named by its texts, so that lines may move. */
type Survivor = { file: string; from: string; to: string; why: string };

export const survivors: readonly Survivor[] = [];

export function reasonOf({ file, from, to }: Mutant): string | undefined {
  return survivors.find((one) => one.file === file && one.from === from && one.to === to)?.why;
}
