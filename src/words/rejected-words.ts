import { counted } from '../core/domain/counted.ts';
import { visible } from '../core/domain/hidden.ts';
import type { RejectedFile, RejectionKind } from '../core/ledger/rejected-files.ts';
import { shellWord } from './readable.ts';

const problemsOf = ({ problems }: RejectedFile): string => counted(Number(problems), 'problem');

const what: Record<RejectionKind, (file: RejectedFile) => string> = {
  refused: (file) => `${visible(file.name)} was refused, and nothing of it is paid: ${problemsOf(file)}`,
  left_out: (file) =>
    `${counted(Number(file.rows_left), 'row')} of ${visible(file.name)} ${file.rows_left === 1n ? 'was' : 'were'} left out of ${file.owner}: ${problemsOf(file)}`,
  taken_before: ({ name, owner }) =>
    `${visible(name)} was not taken in: its content is batch ${owner} already`,
};

type WayOut = { place: string; name: string };

const correct = ({ place, name }: WayOut): string =>
  `correct ${place} and drop it again, or end it: counterfoil ack ${shellWord(name)} --note "why nothing is missing"`;

/** What a person can do about a rejected file. `place`: what to correct. `name`: what to acknowledge. */
export const rejectionWaysOut: Record<RejectionKind, (file: WayOut) => string> = {
  refused: correct,
  left_out: correct,
  taken_before: ({ name }) =>
    `leave its references as they are: new ones would pay again what the batch pays. End it: counterfoil ack ${shellWord(name)} --note "dropped twice"`,
};

/** Says what became of a rejected file: `november.csv was refused, and nothing of it is paid: 3 problems`. */
export function rejectedText(file: RejectedFile): string {
  const { kind, errors_file: errors } = file;
  return `${what[kind](file)}${errors === null ? '' : `, see ${visible(errors)}`}`;
}

/** The form for JSON. `file`: its name as it was dropped. `place`: what to correct and drop again. */
export function rejectedJson(file: RejectedFile) {
  const { kind, name, since, problems, rows_left: rows, owner, place, errors_file } = file;
  return {
    kind,
    file: name,
    since,
    problems: Number(problems),
    rows: Number(rows),
    batch: owner === '' ? null : owner,
    place,
    errors_file,
  };
}

/** The kind that a finding of rejected files is about. */
export function rejectionOf(subject: string): RejectionKind {
  return subject === 'left_out' || subject === 'taken_before' ? subject : 'refused';
}

const correctAlert =
  'Correct what the errors file names, then drop it again. counterfoil status shows where each file is; counterfoil ack FILE ends this without it.';

/** The messages about so many files of a kind. */
export const rejectedAlerts: Record<
  RejectionKind,
  (count: number) => { problem: string; over: string; fix: string }
> = {
  refused: (count) => ({
    problem: `${counted(count, 'file was', 'files were')} refused: nothing of ${count === 1 ? 'it' : 'them'} is paid.`,
    over: 'Each refused file was dropped again, or acknowledged',
    fix: correctAlert,
  }),
  left_out: (count) => ({
    problem: `Rows were left out of ${counted(count, 'file')}: they are not paid.`,
    over: 'The rows that were left out were dropped again, or acknowledged',
    fix: correctAlert,
  }),
  taken_before: (count) => ({
    problem: `${counted(count, 'file was', 'files were')} dropped again after the content became a batch: nothing is taken twice.`,
    over: 'Each file that was dropped again was acknowledged',
    fix: 'Leave the references as they are: new ones would pay again what the batch pays. counterfoil status names the batch; counterfoil ack FILE ends this.',
  }),
};
