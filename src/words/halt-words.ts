import type { Db } from '../core/storage/ledger.ts';
import type { BarrierCause, CanaryFailure, Halt, HaltCause, HaltKind } from '../sending/halt.ts';
import { findHalt } from '../sending/halts.sql.ts';
import { reasonText } from './advice-text.ts';

/** A halt in words. `kinds`: of its causes, in the same order. */
export type SaidHalt = { cause: string; at: string; kinds: HaltKind[] };

/** Finds why nothing may be sent, in words; undefined where nothing halts. */
export async function haltInWords(db: Db): Promise<SaidHalt | undefined> {
  return sayHalt(await findHalt(db));
}

export function sayHalt(halt: Halt | undefined): SaidHalt | undefined {
  return (
    halt && { cause: haltCauseText(halt.causes), at: halt.at, kinds: halt.causes.map(({ kind }) => kind) }
  );
}

export function haltCauseText(causes: Halt['causes']): string {
  return causes.map(causeText).join('; also: ');
}

function causeText(cause: HaltCause | BarrierCause): string {
  switch (cause.kind) {
    case 'barrier':
      return reasonText(cause);
    case 'person':
      return `held by ${cause.by ?? 'a person'}`;
    case 'account':
    case 'signature':
      return `the service answered ${cause.code} (${cause.message}) to ${cause.reference}`;
    case 'unknowns':
      return cause.count === cause.of
        ? `${cause.count} unknown outcomes in a row`
        : `${cause.count} of the last ${cause.of} outcomes are unknown`;
    case 'canary_open':
    case 'canary_failed':
      return `the canary of ${cause.batch} failed: ${failureText(cause.failure)}`;
  }
}

function failureText(failure: CanaryFailure): string {
  const { reference } = failure;
  switch (failure.kind) {
    case 'went_wrong':
      return `${reference} is ${failure.state}`;
    case 'not_settled':
      return `${reference} has not settled in ${failure.hours} hour(s)`;
    case 'withheld':
      return `${reference} is held, and cannot be sent; counterfoil show ${reference} says why`;
  }
}

/** The causes of a halt by their kinds, for messages that leave the machine. */
export const haltCauses: Readonly<Record<string, string>> = {
  person: 'a person stopped it',
  account: 'the service refuses the account (balance, keys or permission)',
  signature: 'the service calls our signature wrong',
  unknowns: 'too many outcomes are unknown',
  barrier: 'the ledger was restored, moved or adopted',
};
export const haltActs: Readonly<Record<string, string>> = {
  person: 'Ask that person. counterfoil release --mode lifts the halt.',
  account: 'Mend it at the service, then run counterfoil release --mode.',
  signature: 'Run counterfoil doctor, correct the key, then run counterfoil release --mode.',
  unknowns: 'Run counterfoil reconcile, then counterfoil release --mode.',
  barrier: 'Run counterfoil status: it names the way out.',
};
