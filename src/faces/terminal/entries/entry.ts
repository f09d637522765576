import type { Handler } from '../context/world.ts';

/** A flag with its value's name, its text, and the value it has when it is not given. */
export type OptionEntry = [flags: string, text: string, fallback?: string];

/** All that is known of a command before it runs: help, completion and the pages of the documentation come from it. */
export type CommandEntry = {
  usage: string;
  /** The line in the list of commands: at most 60 characters. */
  summary: string;
  /** What `COMMAND --help` says. */
  does: string;
  example: string;
  options?: readonly OptionEntry[];
  /** Loads the module of the command only when it runs. `all`: every entry. */
  load(all: readonly CommandEntry[]): Promise<Handler>;
};

/** Options that select discrepancies, to list them or to decide them in bulk. */
export const filters: readonly OptionEntry[] = [
  ['--kind <kind>', 'only this kind'],
  ['--batch <batch>', 'only this batch'],
  ['--older-than <days>', 'only those first seen at least this many days ago'],
];

/** The name in a usage such as `check <file...>`. */
export function entryName({ usage }: Pick<CommandEntry, 'usage'>): string {
  return usage.split(' ', 1)[0] ?? usage;
}
