import type { Candidates, OptionPlan, Plan } from './plan.ts';

/** The script for fish. `counterfoil completion fish | source` reads it. */
export function fishScript({ verbs, globals }: Plan): string[] {
  return [
    '# Completion of counterfoil for fish. In config.fish: counterfoil completion fish | source',
    'function __counterfoil_names',
    '  set -l words (commandline -opc)',
    '  set -l places',
    '  for i in (seq (count $words))',
    '    if contains -- $words[$i] --config --data',
    '      set -a places $words[$i] $words[(math $i + 1)]',
    '    end',
    '  end',
    '  for list in $argv',
    '    $words[1] $places complete $list (commandline -ct) 2>/dev/null',
    '  end',
    'end',
    'complete -c counterfoil -f',
    ...globals.map((option) => optionLine('', option)),
    ...verbs.flatMap(({ name, text, options, argument }) => [
      `complete -c counterfoil -n __fish_use_subcommand -a ${name} -d ${quoted(text)}`,
      ...argumentLine(name, argument),
      ...options.map((option) => optionLine(` -n '__fish_seen_subcommand_from ${name}'`, option)),
    ]),
  ];
}

function optionLine(where: string, { name, text, value }: OptionPlan): string {
  const offers = value === null ? '' : ` ${value.kind === 'files' ? '-r -F' : `-x${offer(value)}`}`;
  return `complete -c counterfoil${where} -l ${name.replace(/^--/, '')}${offers} -d ${quoted(text)}`;
}

function argumentLine(verb: string, argument: Candidates): string[] {
  if (argument.kind === 'none') return [];
  const offers = argument.kind === 'files' ? ' -F' : offer(argument);
  return [`complete -c counterfoil -n '__fish_seen_subcommand_from ${verb}'${offers}`];
}

function offer(candidates: Candidates): string {
  switch (candidates.kind) {
    case 'words':
      return ` -a '${candidates.words.join(' ')}'`;
    case 'ledger':
      return ` -a '(__counterfoil_names ${candidates.lists.join(' ')})'`;
    case 'files':
    case 'none':
      return '';
  }
}

function quoted(text: string): string {
  return `'${text.replaceAll('\\', '\\\\').replaceAll("'", "\\'")}'`;
}
