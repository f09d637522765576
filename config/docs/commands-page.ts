import type { Command, Option } from 'commander';
import { buildProgram } from '../../src/faces/terminal/entries/program.ts';
import { noPaint } from '../../src/faces/terminal/kit/ink.ts';
import { table } from './region.ts';

const ignore = (): void => undefined;

/** Every command with its options and example, as `--help` gives them; the groups are those of the help. */
export function commandsText(): string {
  const { program, printed } = quietProgram();
  const everywhere = new Set(program.options.map(({ flags }) => flags));
  const groups = Map.groupBy(
    program
      .createHelp()
      .visibleCommands(program)
      .filter((one) => one.name() !== 'help'),
    (one) => one.helpGroup().replace(/:$/, ''),
  );
  const sections = [...groups].flatMap(([group, commands]) => [
    ...(group === '' ? [] : [`## ${group}`]),
    ...commands.map((one) => sectionOf(one, everywhere, printed)),
  ]);
  return [...sections, '## Options of every command', optionsTable(program.options)].join('\n\n');
}

/** The program, and what its help prints. */
function quietProgram(): { program: Command; printed(command: Command): string } {
  let lines: string[] = [];
  const program = buildProgram({
    env: {},
    cwd: '/',
    signal: new AbortController().signal,
    paint: noPaint,
    columns: 1_000,
    write: () => true,
    terminal: false,
    say: ignore,
    print: ignore,
    finish: (result) => {
      lines = result.lines ?? [];
    },
  });
  return {
    program,
    printed(command) {
      command.outputHelp();
      return lines.join('\n');
    },
  };
}

function sectionOf(command: Command, everywhere: Set<string>, printed: (command: Command) => string): string {
  const own = command.options.filter(({ flags }) => !everywhere.has(flags));
  const example = [...printed(command).matchAll(/^ *Examples?:\s+(.+)$/gm)].at(-1)?.[1];
  const text = command.description();
  return [
    `### ${command.name()}`,
    `\`counterfoil ${usageOf(command)}\``,
    `${text.charAt(0).toUpperCase()}${text.slice(1)}.`,
    ...(own.length > 0 ? [optionsTable(own)] : []),
    ...(example === undefined ? [] : [`Example: \`${example}\``]),
  ].join('\n\n');
}

function usageOf(command: Command): string {
  const args = command.registeredArguments.map((one) => {
    const name = `${one.name().toUpperCase()}${one.variadic ? '…' : ''}`;
    return one.required ? name : `[${name}]`;
  });
  return [command.name(), ...args].join(' ');
}

function optionsTable(options: readonly Option[]): string {
  const rows = options.map(({ flags, description, defaultValue }) => [
    `\`${flags}\``,
    typeof defaultValue === 'string' ? `${description} (${defaultValue})` : description,
  ]);
  return table(['option', 'does'], rows);
}
