import type { Mutant } from './mutate.ts';

/** A mutant that no test can tell from the program, and why. Each is named by its texts, so that lines may move. */
type Survivor = Pick<Mutant, 'file' | 'from' | 'to'> & { why: string };

const typed = 'only the compiler needs it: the value is never absent here, or compares as if it were';
const domain: Record<string, [from: string, to: string, why: string][]> = {
  collection: [
    ["one.trx ?? ''", 'one.trx', typed],
    ["other.trx ?? ''", 'other.trx', typed],
    ["currency ?? ''", 'currency', typed],
  ],
  money: [
    ["comma[2] ?? ''", 'comma[2]', typed],
    ['limit === undefined', 'false', typed],
  ],
  'pair-conflicts': [
    ['!accepted', 'true', 'of an accepted payout nothing is called never sent or too early'],
  ],
  'resend-budget': [
    [
      'spacing[Math.min(Math.max(made, 1), spacing.length) - 1] ?? 0',
      'spacing[Math.min(Math.max(made, 1), spacing.length) - 1]',
      typed,
    ],
    ['first !== undefined', 'true', typed],
  ],
  severity: [["steps[Math.min(step, most)] ?? 'high'", 'steps[Math.min(step, most)]', typed]],
  transition: [
    ["status === 'success'", 'true', 'a returned payout comes here with a success only'],
    ['source', 'true', 'to add no source leaves the sources in their order'],
  ],
  verdict: [
    [
      'traits[one].gravity > traits[worst].gravity',
      'traits[one].gravity >= traits[worst].gravity',
      'two verdicts of one gravity are the same',
    ],
  ],
  witness: [
    [
      '/^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{6}Z$/.test(value)',
      'false',
      'the slow path reads the same time',
    ],
    ['value.slice(0, 23)', 'value', 'the slow path reads the same time'],
    ['!Number.isNaN(usual)', 'false', 'the slow path reads the same time'],
    ['clockOffMs === null', 'false', typed],
    ['clockOffMs <= 0n', 'clockOffMs < 0n', 'an instant less nothing is that instant'],
    ['[...statuses][0] ?? null', '[...statuses][0]', typed],
    ["typeof value === 'object'", 'true', 'the letters of a text are no objects'],
    ['next.slice(0, 20 * mostObjects)', 'next', 'bounds the memory only'],
    ['20', '20 + 1', 'bounds the memory only'],
    ["typeof value === 'number'", 'true', typed],
  ],
};

export const survivors: readonly Survivor[] = Object.entries(domain).flatMap(([name, all]) =>
  all.map(([from, to, why]) => ({ file: `src/core/domain/${name}.ts`, from, to, why })),
);

export function reasonOf({ file, from, to }: Mutant): string | undefined {
  return survivors.find((one) => one.file === file && one.from === from && one.to === to)?.why;
}
