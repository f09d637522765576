import { type Command, Option } from 'commander';

/** Adds the options of every command. They may stand before or after its name. */
export function addGlobals(command: Command): void {
  command
    .option('--config <file>', 'configuration file')
    .option('--data <dir>', 'data folder')
    .option('--json', 'print exactly one JSON object')
    .option('--quiet', 'print no progress and no warnings')
    .addOption(new Option('--no-color', 'print without colour'))
    .option('--yes', 'answer yes to every question');
}
