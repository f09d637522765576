import type { Command } from 'commander';
import { addGlobals } from './global-options.ts';
import { Stop } from './result.ts';

/** `help`, `help COMMAND`: what `--help` prints. */
export function addHelp(program: Command): void {
  const help = program
    .command('help [command]')
    .description('print the help of counterfoil, or of one command');
  addGlobals(help);
  help.action(() => {
    const [name] = help.args;
    const shown = name === undefined ? program : program.commands.find((one) => one.name() === name);
    if (!shown) throw noCommand(name ?? '');
    shown.outputHelp();
  });
}

/** Stops with 2: no command has this name. */
export function noCommand(name: string): Stop {
  return new Stop(2, `there is no command "${name}": counterfoil --help lists them`);
}
