import { argumentCases, type Candidates, type OptionPlan, type Plan, valueCases } from './plan.ts';

/** The script for zsh. `source <(counterfoil completion zsh)` reads it, and so does a folder of `fpath`. */
export function zshScript(plan: Plan): string[] {
  const { verbs, globals } = plan;
  return [
    '#compdef counterfoil',
    '# Completion of counterfoil for zsh. In ~/.zshrc, after compinit: source <(counterfoil completion zsh)',
    '_counterfoil() {',
    '  local cur=$words[CURRENT] prev=$words[CURRENT-1] program=$words[1] verb= i',
    '  local -a places list offers',
    '  for ((i = 2; i < CURRENT; i++)); do',
    '    case $words[i] in',
    '      --config|--data) places+=("$words[i]" "$words[i+1]"); ((i++)) ;;',
    '      -*) ;;',
    '      *) [[ -n $verb ]] || verb=$words[i] ;;',
    '    esac',
    '  done',
    '  case "$verb $prev" in',
    ...valueCases(plan, offer),
    '    *)',
    '      case "$verb:$cur" in',
    ...verbs.map(
      ({ name, options }) => `        ${name}:-*) offers=(${described([...options, ...globals])}) ;;`,
    ),
    `        :-*) offers=(${described(globals)}) ;;`,
    `        :*) offers=(${described(verbs)}) ;;`,
    ...argumentCases(plan, offer),
    '      esac ;;',
    '  esac',
    '  for i in $list; do',
    `    offers+=(\${(f)"$("$program" "\${places[@]}" complete "$i" "$cur" 2>/dev/null)"})`,
    '  done',
    "  (( ! $#offers )) || _describe 'counterfoil' offers",
    '}',
    'if [[ $funcstack[1] == _counterfoil ]]; then _counterfoil "$@"; else compdef _counterfoil counterfoil; fi',
  ];
}

/** Words with their texts, as `_describe` wants them. */
function described(things: readonly Pick<OptionPlan, 'name' | 'text'>[]): string {
  return things.map(({ name, text }) => quoted(`${name}:${text.replaceAll(':', '\\:')}`)).join(' ');
}

function quoted(text: string): string {
  return `'${text.replaceAll("'", "'\\''")}'`;
}

function offer(candidates: Candidates): string {
  switch (candidates.kind) {
    case 'words':
      return `offers=(${candidates.words.join(' ')})`;
    case 'ledger':
      return `list=(${candidates.lists.join(' ')})`;
    case 'files':
      return '_files';
    case 'none':
      return ':';
  }
}
