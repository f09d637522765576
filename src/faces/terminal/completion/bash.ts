import { argumentCases, type Candidates, type OptionPlan, type Plan, valueCases } from './plan.ts';

/** The script for bash 4 and later. `eval "$(counterfoil completion bash)"` reads it. */
export function bashScript(plan: Plan): string[] {
  const { verbs, globals } = plan;
  return [
    '# Completion of counterfoil for bash. In ~/.bashrc: eval "$(counterfoil completion bash)"',
    '_counterfoil() {',
    `  local cur=\${COMP_WORDS[COMP_CWORD]} prev=\${COMP_WORDS[COMP_CWORD-1]} program=\${COMP_WORDS[0]}`,
    '  local verb= words= list= i',
    '  local -a places=()',
    '  for ((i = 1; i < COMP_CWORD; i++)); do',
    `    case \${COMP_WORDS[i]} in`,
    `      --config|--data) places+=("\${COMP_WORDS[i]}" "\${COMP_WORDS[i+1]}"); ((i++)) ;;`,
    '      -*) ;;',
    `      *) [[ -n $verb ]] || verb=\${COMP_WORDS[i]} ;;`,
    '    esac',
    '  done',
    '  COMPREPLY=()',
    '  case "$verb $prev" in',
    ...valueCases(plan, offer),
    '    *)',
    '      case "$verb:$cur" in',
    ...verbs.map(({ name, options }) => `        ${name}:-*) words="${names([...options, ...globals])}" ;;`),
    `        :-*) words="${names(globals)} --help --version" ;;`,
    `        :*) words="${verbs.map(({ name }) => name).join(' ')} help" ;;`,
    ...argumentCases(plan, offer),
    '      esac ;;',
    '  esac',
    '  for i in $list; do',
    `    words+=" $("$program" "\${places[@]}" complete "$i" "$cur" 2>/dev/null)"`,
    '  done',
    '  [[ -z $words ]] || COMPREPLY=($(compgen -W "$words" -- "$cur"))',
    '}',
    'complete -F _counterfoil counterfoil',
  ];
}

function names(options: readonly OptionPlan[]): string {
  return [...new Set(options.map(({ name }) => name))].join(' ');
}

function offer(candidates: Candidates): string {
  switch (candidates.kind) {
    case 'words':
      return `words="${candidates.words.join(' ')}"`;
    case 'ledger':
      return `list="${candidates.lists.join(' ')}"`;
    case 'files':
      return 'compopt -o filenames; COMPREPLY=($(compgen -f -- "$cur"))';
    case 'none':
      return ':';
  }
}
