import { Command, type Option } from 'commander';
import packageJson from '../../../../package.json' with { type: 'json' };
import type { CommandJson } from '../../../core/shapes/json-shapes.ts';
import { type Result, Stop } from '../context/result.ts';
import type { GlobalOptions, World } from '../context/world.ts';
import { rendered } from '../kit/screen.ts';
import type { CommandEntry, OptionEntry } from './entry.ts';
import { addGlobals } from './global-options.ts';
import { entryGroups } from './groups.ts';
import { addHelp, afterHelp, noCommand, overview, shortTerms } from './help.ts';

type ProgramWorld = World & { finish(result: Result): void };

/** Builds the command line: every verb with its help, and the global options everywhere. Wrong usage throws a CommanderError. */
export function buildProgram(world: ProgramWorld): Command {
  // Commander writes help in pieces.
  let told = '';
  const program = new Command('counterfoil')
    .description('Pays batches from CSV files, each payout at most once, and reconciles them.')
    .version(packageJson.version)
    .exitOverride()
    .configureHelp(shortTerms)
    .configureOutput({
      getOutHelpWidth: () => world.columns,
      getErrHelpWidth: () => world.columns,
      writeErr: (text) => world.say(text.trimEnd()),
      writeOut: (piece) => {
        told += piece;
        const text = told.trimEnd();
        const json: CommandJson =
          text === packageJson.version
            ? { shape: '--version', fields: { version: text } }
            : { shape: '--help', fields: { help: text } };
        world.finish({ code: 0, lines: [text], json });
      },
    })
    .addHelpText('after', afterHelp);
  addGlobals(program);
  for (const [group, verbs] of entryGroups)
    for (const entry of verbs) addVerb(world, program, entry).helpGroup(`${group}:`);
  addComplete(world, program);
  addHelp(program);
  program.allowExcessArguments().action(() => {
    const [name] = program.args;
    if (name !== undefined) throw noCommand(program, name);
    for (const line of overview()) world.say(line);
    throw new Stop('name a command');
  });
  return program;
}

function addVerb(world: ProgramWorld, program: Command, entry: CommandEntry): Command {
  const command = program
    .command(entry.usage)
    .summary(entry.summary)
    .description(entry.does)
    .addHelpText('after', `\nExample:\n  ${entry.example}`);
  addGlobals(command);
  for (const one of entry.options ?? []) command.addOption(optionOf(command, one));
  return command.action(async () => {
    const handler = await entry.load(entryGroups.flatMap(([, verbs]) => verbs));
    const { mode: _mode, ...options } = command.opts<Record<string, unknown>>();
    const merged: GlobalOptions = { ...program.opts<GlobalOptions>(), ...command.opts<GlobalOptions>() };
    const context = { ...world, options: merged };
    world.finish(rendered(context, await handler(context, command.args, { ...options, mode: _mode })));
  });
}

/** An option that may come again takes one value each time, so that a file behind it stays an argument. */
function optionOf(command: Command, [flags, text, fallback]: OptionEntry): Option {
  const option = command.createOption(flags, text).default(fallback);
  if (!option.variadic) return option;
  option.variadic = false;
  return option.argParser((value, earlier: string[] | undefined) => [...(earlier ?? []), value]);
}

/** The command that completion scripts ask for names. It is no part of the help. */
function addComplete(world: ProgramWorld, program: Command): void {
  const complete = program.command('complete <what> [beginning]', { hidden: true });
  addGlobals(complete);
  complete.action(async () => {
    const { complete: handler } = await import('../completion/complete.ts');
    const options: GlobalOptions = { ...program.opts<GlobalOptions>(), ...complete.opts<GlobalOptions>() };
    world.finish(await handler({ ...world, options }, complete.args, {}));
  });
}
