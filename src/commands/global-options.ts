import { type Command, Option } from 'commander';

/** The options that every command has, and that may stand before its name or after it. */
export function addGlobals(command: Command): void {
  command
    .option('--config <file>', 'configuration file')
    .option('--data <dir>', 'data folder')
    .option('--json', 'print exactly one JSON object')
    .option('--quiet', 'no progress, no warnings')
    .addOption(new Option('--no-color', 'no colour'))
    .option('--yes', 'answer yes to every question');
}
