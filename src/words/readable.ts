import { grouped } from '../core/domain/counted.ts';

/** A sentence of the ledger for the terminal: its instants are short and local, its amounts grouped. */
export function readable(sentence: string, time: (instant: string) => string): string {
  return sentence
    .replaceAll(/\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?(?:Z|[+-]\d\d:\d\d)\b/g, (instant) =>
      time(instant),
    )
    .replaceAll(/(?<![\w.,-])-?\d{4,}\.\d{2,3}(?![\w.,]*\d)/g, (amount) => grouped(amount));
}

/** A value as one word of a command that a person pastes into a shell: `november.csv`, `'november (1).csv'`. */
export function shellWord(value: string): string {
  return /^[\p{L}\p{N}_@%+=:,./-]+$/u.test(value) ? value : `'${value.replaceAll("'", "'\\''")}'`;
}
