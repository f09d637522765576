import type { Mutant } from './mutate.ts';

/** A mutant that no test can tell from the program, and why. Each is named by its texts, so that lines may move. */
type Survivor = Pick<Mutant, 'file' | 'from' | 'to'> & { why: string };

const typed = 'only the compiler needs it: the value is never absent here, or compares as if it were';
const faster = 'it only saves a search that finds the same';
const domain: Record<string, [from: string, to: string, why: string][]> = {
  banks: [
    ["byAlias.get(one) ?? ''", 'byAlias.get(one)', typed],
    ["sixDigitsOf.get(one) ?? ''", 'sixDigitsOf.get(one)', typed],
    ["threeDigitsOf.get(one) ?? ''", 'threeDigitsOf.get(one)', typed],
  ],
  'batch-rules': [
    ["cell('amount') ?? ''", "cell('amount')", typed],
    ["cell('bank_code') ?? ''", "cell('bank_code')", typed],
    ["amount.kind !== 'ok'", 'true', 'in a good amount nothing is found'],
    ['finding', 'true', 'nothing is said of no finding'],
    ['problem === null', 'false', 'nothing valid is repaired'],
    ['value.length > 10', 'value.length >= 10', 'ten digits are right and do not come here'],
  ],
  collection: [
    ["one.trx ?? ''", 'one.trx', typed],
    ["other.trx ?? ''", 'other.trx', typed],
    ["currency ?? ''", 'currency', typed],
  ],
  'collection-records': [
    ['level.length > 0', 'true', faster],
    ['level.length > 0', 'level.length >= 0', faster],
    ['isFields(value)', 'true', 'a list has no field with one of the names'],
    ["typeof one !== 'object'", 'false', 'in what is no object nothing is found'],
    ['one === null', 'false', 'in what is no object nothing is found'],
  ],
  'collection-rules': [
    ["cell('currency') ?? ''", "cell('currency')", typed],
    ["cell('amount') ?? ''", "cell('amount')", typed],
  ],
  'column-names': [
    ['30', '30 + 1', faster],
    ['key.length > longest', 'false', faster],
    ['key.length > longest', 'key.length >= longest', faster],
    ['look.length > longest', 'false', faster],
    ['look.length > longest', 'look.length >= longest', faster],
  ],
  'discrepancy-kinds': [
    ['Object.keys(kindRules).filter(isDiscrepancyKind)', 'Object.keys(kindRules)', typed],
  ],
  fees: [["known.fee_by ?? ''", 'known.fee_by', typed]],
  'file-formats': [
    ['read.filter(({ isText }) => isText)', 'read', 'no other format is read yet'],
    [
      'readEnding.exec(name)?.[0].toLowerCase() ?? foreignEnding.exec(name)?.[0]',
      'foreignEnding.exec(name)?.[0]',
      'no other format is read yet',
    ],
  ],
  forbidden: [["!('code' in error)", 'false', typed]],
  grace: [['cut < begunAt', 'cut <= begunAt', 'of two equal instants either is the earlier']],
  hidden: [
    ['/^[ -~]*$/.test(text)', 'false', faster],
    ['kept', 'true', typed],
    ['character.codePointAt(0) ?? 0', 'character.codePointAt(0)', typed],
  ],
  'local-day': [
    [
      'DateTime.min(...time.getPossibleOffsets()) ?? time',
      'DateTime.min(...time.getPossibleOffsets())',
      typed,
    ],
  ],
  money: [
    ["comma[2] ?? ''", 'comma[2]', typed],
    ['limit === undefined', 'false', typed],
  ],
  nearest: [
    ['distances(a, b)[b.length] ?? 0', 'distances(a, b)[b.length]', typed],
    ['row[j - 1] ?? 0', 'row[j - 1]', typed],
    ['row[j] ?? 0', 'row[j]', typed],
    ['next[j - 1] ?? 0', 'next[j - 1]', typed],
  ],
  'own-pages': [['0', '0 + 1', 'nobody has the buffer that is left']],
  'pair-conflicts': [
    ['!accepted', 'true', 'of an accepted payout nothing is called never sent or too early'],
  ],
  'pay-day': [
    ['serviceNow === undefined', 'false', typed],
    ['heard < own', 'heard <= own', 'of two equal days either is the earlier'],
    ["last.toISODate() ?? ''", 'last.toISODate()', typed],
  ],
  'payee-name': [
    ['0x600', '0x600 + 1', 'a letter beyond the table looks like itself, too'],
    ['100', '100 + 1', 'both ways sort alike'],
    ['text.length > mostInserted', 'true', 'both ways sort alike'],
    ['text.length > mostInserted', 'false', 'both ways sort alike'],
    ['text.length > mostInserted', 'text.length >= mostInserted', 'both ways sort alike'],
    ['place > 0', 'true', 'no letter is below nothing'],
    ['place > 0', 'place >= 0', 'no letter is below nothing'],
    [
      '(sorted[place - 1] ?? 0) > look',
      '(sorted[place - 1] ?? 0) >= look',
      'two equal letters may change their places',
    ],
    ['sorted[place - 1] ?? 0', 'sorted[place - 1]', typed],
    ['!beyondAscii.test(name)', 'false', 'the longer pattern says the same'],
    ['plainLetters[letter] ?? letter', 'plainLetters[letter]', typed],
  ],
  'resend-budget': [
    [
      'spacing[Math.min(Math.max(made, 1), spacing.length) - 1] ?? longestSpacingMs',
      'spacing[Math.min(Math.max(made, 1), spacing.length) - 1]',
      typed,
    ],
    ['first !== undefined', 'true', typed],
  ],
  'retry-file': [
    ["values[i] ?? ''", 'values[i]', typed],
    ['states[state] ?? state', 'states[state]', typed],
  ],
  'same-name': [
    ['letters[letter] ?? letter', 'letters[letter]', typed],
    ['untitled.length < words.length', 'true', 'without a title the readings are the same'],
    [
      'untitled.length < words.length',
      'untitled.length <= words.length',
      'without a title the readings are the same',
    ],
    ['one.length <= other.length', 'one.length < other.length', 'of two of one length either is the shorter'],
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
    ['3', '3 + 1', 'only the order of the gravities counts'],
  ],
  witness: [
    [
      '/^\\d{4}-\\d\\d-\\d\\dT\\d\\d:\\d\\d:\\d\\d\\.\\d{6}Z$/.test(value)',
      'false',
      'the slow path reads the same time',
    ],
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
