import { type Command, Option } from 'commander';
import type { OptionEntry } from './entry.ts';

/** The options of every command. They may stand before or after its name. */
export const globalOptions: readonly OptionEntry[] = [
  ['--config <file>', 'configuration file'],
  ['--data <dir>', 'data folder'],
  ['--json', 'print exactly one JSON object'],
  ['--quiet', 'print no progress, no warnings and no news of success'],
  ['--no-color', 'print without colour'],
  ['--yes', 'answer yes to every question'],
];

export function addGlobals(command: Command): void {
  for (const [flags, text] of globalOptions) command.addOption(new Option(flags, text));
}
