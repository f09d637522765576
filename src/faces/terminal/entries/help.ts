import type { Command, HelpConfiguration } from 'commander';
import { likely } from '../../../core/domain/nearest.ts';
import { didYouMean, Stop } from '../context/result.ts';
import { entryName } from './entry.ts';
import { addGlobals } from './global-options.ts';
import { entryGroups } from './groups.ts';

/** In the list of commands a name stands alone: its arguments are in its own help. */
export const shortTerms: HelpConfiguration = { subcommandTerm: (command) => command.name() };

export const afterHelp = `
Exit codes: 0 done, 1 failed, 2 usage or configuration, 3 input refused,
4 a person is needed, 11 locked by another process, 130 interrupted.

counterfoil COMMAND --help explains each command with an example.
Start with: counterfoil demo`;

/** What `counterfoil` alone prints: the names of all commands by group. */
export function overview(): string[] {
  const first = Math.max(...entryGroups.map(([group]) => group.length)) + 2;
  const lines = entryGroups.flatMap(([group, verbs]) => {
    const names = verbs.map(entryName).join('  ');
    const wrapped = names.match(/.{1,68}(?: {2}|$)/g) ?? [];
    return wrapped.map((part, at) => `${(at === 0 ? group : '').padEnd(first)}${part.trimEnd()}`);
  });
  return [
    'Pays batches from CSV files, each payout at most once, and reconciles them.',
    '',
    ...lines,
    '',
    'counterfoil COMMAND --help explains each with an example.',
  ];
}

/** `help`, `help COMMAND`: what `--help` prints. */
export function addHelp(program: Command): void {
  const help = program.command('help [command]', { hidden: true });
  addGlobals(help);
  help.action(() => {
    const [name] = help.args;
    const shown = name === undefined ? program : program.commands.find((one) => one.name() === name);
    if (!shown) throw noCommand(program, name ?? '');
    shown.outputHelp();
  });
}

/** Stops with 2: no command has this name. It names the nearest one. */
export function noCommand(program: Command, name: string): Stop {
  const known = program.createHelp().visibleCommands(program);
  const meant = likely(
    name,
    known.map((one) => one.name()),
  );
  return new Stop(`there is no command "${name}"${didYouMean(meant, ':')} counterfoil --help lists them`);
}
