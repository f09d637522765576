import { discrepancyKinds } from '../../../core/domain/discrepancy-kinds.ts';
import { modes, payoutStates } from '../../../core/domain/payout.ts';
import { scenarioNames } from '../../../sandbox/scenarios.ts';
import { type CommandEntry, entryName, type OptionEntry } from '../entries/entry.ts';
import { globalOptions } from '../entries/global-options.ts';

/** What can stand in one place of a command line. */
export type Candidates =
  | { kind: 'words'; words: readonly string[] }
  /** Names that the ledger knows: `counterfoil complete LIST` prints them. */
  | { kind: 'ledger'; lists: readonly ('batches' | 'references')[] }
  | { kind: 'files' }
  /** Free text, a number, a date: nothing to offer. */
  | { kind: 'none' };

export type OptionPlan = { name: string; text: string; value: Candidates | null };
type VerbPlan = { name: string; text: string; options: OptionPlan[]; argument: Candidates };
export type Plan = { verbs: VerbPlan[]; globals: OptionPlan[] };

/** What the names of arguments and values stand for, in one command or in all. Others are free text. */
const candidates: Readonly<Record<string, Candidates>> = {
  batch: { kind: 'ledger', lists: ['batches'] },
  reference: { kind: 'ledger', lists: ['references'] },
  prefix: { kind: 'ledger', lists: ['references'] },
  name: { kind: 'ledger', lists: ['batches', 'references'] },
  file: { kind: 'files' },
  dir: { kind: 'files' },
  state: { kind: 'words', words: payoutStates },
  kind: { kind: 'words', words: discrepancyKinds },
  mode: { kind: 'words', words: modes },
  verdict: { kind: 'words', words: ['paid', 'not-paid'] },
  shell: { kind: 'words', words: ['bash', 'zsh', 'fish'] },
  'config verb': { kind: 'words', words: ['show'] },
  'discrepancies verb': { kind: 'words', words: ['ack', 'resolve'] },
  'retry state': { kind: 'words', words: ['failed', 'refused', 'returned', 'unknown'] },
  'sandbox name': { kind: 'words', words: scenarioNames },
  'sandbox what': { kind: 'words', words: ['refuse', 'accept', 'conflict'] },
};

/** Everything that a completion script offers, from the table of commands. */
export function planOf(entries: readonly CommandEntry[]): Plan {
  const verbs = entries.map((entry) => {
    const name = entryName(entry);
    return {
      name,
      text: entry.summary,
      options: (entry.options ?? []).map((option) => optionPlan(option, name)),
      argument: candidatesFor(name, /[<[]([a-z]+)/.exec(entry.usage)?.[1]),
    };
  });
  return { verbs, globals: globalOptions.map((option) => optionPlan(option, '')) };
}

function optionPlan([flags, text]: OptionEntry, verb: string): OptionPlan {
  const [name = '', value] = flags.split(' ');
  return { name, text, value: value === undefined ? null : candidatesFor(verb, /[a-z]+/.exec(value)?.[0]) };
}

function candidatesFor(verb: string, name = ''): Candidates {
  return candidates[`${verb} ${name}`] ?? candidates[name] ?? { kind: 'none' };
}

/** The cases of bash and zsh for a word behind an option that takes a value. */
export function valueCases({ verbs, globals }: Plan, offer: (candidates: Candidates) => string): string[] {
  const caseOf = (verb: string, { name, value }: OptionPlan): string[] =>
    value ? [`    ${verb} ${name}") ${offer(value)} ;;`] : [];
  return [
    ...verbs.flatMap((verb) => verb.options.flatMap((option) => caseOf(`"${verb.name}`, option))),
    ...globals.flatMap((option) => caseOf('*"', option)),
  ];
}

/** The cases of bash and zsh for an argument. */
export function argumentCases({ verbs }: Plan, offer: (candidates: Candidates) => string): string[] {
  return verbs.flatMap(({ name, argument }) =>
    argument.kind === 'none' ? [] : [`        ${name}:*) ${offer(argument)} ;;`],
  );
}
