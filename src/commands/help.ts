import type { Command } from 'commander';
import { addGlobals } from './global-options.ts';
import { Stop } from './result.ts';

/** `help`, `help COMMAND`: what `--help` prints. */
export function addHelp(program: Command): void {
  const help = program.command('help [command]').description('what --help prints, of all or of one command');
  addGlobals(help);
  help.action(() => {
    const [name] = help.args;
    const shown = name === undefined ? program : program.commands.find((one) => one.name() === name);
    if (!shown) throw noCommand(name ?? '');
    shown.outputHelp();
  });
}

/** Exit 2: the name stands for no command. */
export function noCommand(name: string): Stop {
  return new Stop(2, `there is no command "${name}": counterfoil --help lists them`);
}
