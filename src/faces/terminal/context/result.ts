import { CommanderError } from 'commander';
import { forbiddenPlace } from '../../../core/domain/forbidden.ts';
import type { CommandJson } from '../../../core/shapes/json-shapes.ts';
import { forbiddenLedgerFile, ledgerFailureCode, wentBackCode } from '../../../core/storage/failure.ts';
import { adviceText, problemText } from '../../../words/advice-text.ts';

/** The end of a command by labels: where its files are, and the next sensible command. Empty texts are left out. */
export type Closing = Readonly<Record<string, string | readonly string[]>>;

/** What a command shows people: blocks with an empty line between them, and its end. Empty blocks are left out. */
export type Screen = { blocks: readonly (readonly string[])[]; end?: Closing };

/**
 * The result of a command: exit code, one sentence for stderr, a screen or lines for people, the object for `--json`.
 * Lines are printed as they are.
 */
export type Result = {
  code: number;
  problem?: string;
  screen?: Screen;
  lines?: string[];
  /** `--quiet` hides it where the code is 0. */
  isNews?: true;
  json?: CommandJson;
  /** A daemon that stops on request has succeeded: 0, not 130. */
  ignoresInterrupt?: boolean;
};

/** The one object that `--json` prints. A problem stands in it as `error`, beside the fields of the command. */
export function printedAnswer({ problem, json }: Result): string | null {
  if (!json && !problem) return null;
  return JSON.stringify({ schema: 1, ...(problem && { error: problem }), ...json?.fields });
}

/** Stops a command: one clear sentence with what to do, and the exit code; 2 is for usage and configuration. */
export class Stop extends Error {
  readonly code: number;
  constructor(message: string, code = 2) {
    super(message);
    this.code = code;
  }
}

/** `; did you mean NAME?`, or another ending of the sentence where no name is near. */
export function didYouMean(name: string | undefined, otherwise: string): string {
  return name === undefined ? otherwise : `; did you mean ${name}?`;
}

/** Turns a thrown error into an exit code and a sentence. No other place does. */
export function fail(error: unknown): Result {
  if (error instanceof CommanderError) {
    if (error.exitCode === 0) return { code: 0 };
    return { code: 2, json: { shape: 'error', fields: { error: error.message.replace(/^error: /, '') } } };
  }
  if (error instanceof Stop) return { code: error.code, problem: error.message };
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  if (error instanceof Error && code === 'LEDGER_LOCKED') return { code: 11, problem: problemText(error) };
  if (error instanceof Error && ['LEDGER_MODE', 'LEDGER_ABSENT', 'MISSING_KEYS'].includes(code))
    return { code: 2, problem: problemText(error) };
  const failure = ledgerFailureCode(error);
  if (failure !== null) return { code: 1, problem: ledgerProblem(failure, error) };
  if (code === 'ENOSPC')
    return {
      code: 1,
      problem: 'the disk is full: free some space, then run the command again; nothing is lost',
    };
  const forbidden = forbiddenPlace(error);
  if (forbidden)
    return {
      code: 1,
      problem: `this account cannot use ${forbidden.place} (${forbidden.why}). What is recorded stays recorded, and nothing is lost: give this account the folder (its owner, or its mode), then run the command again; counterfoil status shows where everything stands`,
    };
  return { code: 1, problem: problemText(error) };
}

function ledgerProblem(code: string, error: unknown): string {
  const said = error instanceof Error ? error.message : code;
  if (code.startsWith('POSTGRES_')) return postgresProblem(code, said);
  if (code === 'SQLITE_FULL') {
    return 'the ledger cannot grow: the disk is full. Sending has stopped; free some space, then run the command again; nothing is lost';
  }
  if (code === wentBackCode)
    return `the ledger cannot be used: ${said}. Sending has stopped; ${adviceText({ kind: 'adopt' })}, then run the command again`;
  const forbidden = forbiddenLedgerFile(error);
  if (forbidden)
    return `the ledger cannot be used: this account cannot use ${forbidden.place} (${forbidden.why}). Nothing more was sent, and nothing is lost; ${adviceText({ kind: 'give_file', place: forbidden.place })}, then run the command again`;
  if (code === 'SQLITE_NOTADB' || code.startsWith('SQLITE_CORRUPT')) {
    return `the ledger file is damaged or not a ledger (${said}). Nothing was sent; restore it from a backup`;
  }
  return `the ledger cannot be used (${code}: ${said}). Sending has stopped; check the disk and the file's owner, then run the command again`;
}

function postgresProblem(code: string, said: string): string {
  if (code === 'POSTGRES_UNFIT' || code === 'POSTGRES_STANDBY')
    return `the ledger cannot be used: ${said}. Nothing was sent`;
  if (['POSTGRES_COMMIT_UNKNOWN', 'POSTGRES_SESSION_LOST', 'POSTGRES_ANSWERS_LOST'].includes(code))
    return `the ledger's database failed: ${said}. Sending has stopped; run the command again when the database answers: what may have been sent becomes unknown and is asked about`;
  if (code === 'POSTGRES_HELD')
    return `the ledger cannot be changed now: ${said}. Then run the command again: nothing is lost`;
  if (code === 'POSTGRES_53100')
    return 'the ledger cannot grow: the disk of its database is full. Sending has stopped; free some space there, then run the command again; nothing is lost';
  return `the ledger's database cannot be used (${code}: ${said}). Sending has stopped; check ledger.url and the server, then run the command again`;
}

/** The worst of several exit codes: 1, then 3, then 4 (docs/commands.md). */
export function worst(...codes: number[]): number {
  return [1, 3, 4].find((code) => codes.includes(code)) ?? 0;
}
