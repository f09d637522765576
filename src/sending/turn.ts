import type { Standpoint } from '../domain/origin.ts';
import type { RecordEvent } from '../ledger/projection.ts';
import { record } from '../ledger/record.ts';
import { type Clock, type Moment, momentOf } from '../runtime/clock.ts';
import type { ServiceClient } from '../service/types.ts';
import type { Ledger } from '../storage/ledger.ts';
import type { Brakes } from './brakes.ts';
import type { Cleared, Scope } from './claim-request.ts';
import { type Claim, claimUnlessHalted } from './claims.sql.ts';
import type { Done } from './flight.ts';
import { type Halt, type HaltCause, haltKindOf } from './halt.ts';
import { halt, tooManyUnknown } from './halts.sql.ts';
import { holdReturned } from './holds.sql.ts';

type TurnDeps = {
  ledger: Ledger;
  clock: Clock;
  service: Pick<ServiceClient, 'serviceNow' | 'bankTransfer'>;
  workerId: string;
  standpoint: Standpoint;
  rules: { haltAfterUnknown: number; brakes: Brakes };
};

/** What a turn may claim; `cleared` is read inside its transaction, however long that had to wait. */
type Intents = { free: number; scope: Scope | undefined; cleared: () => Cleared };

/** `began`: the age of the claims counts from here. */
type Turn = { claims: Claim[]; halted: Halt | null; asked: number; began: Moment };

/** Makes one group commit: outcomes first, then the halt they may cause (P11), then intents for free slots (P1). */
export async function commitTurn(
  deps: TurnDeps,
  finished: readonly Done[],
  { free, scope, cleared }: Intents,
): Promise<Turn> {
  const { clock } = deps;
  const none = { claims: [], halted: null, asked: 0, began: momentOf(clock) };
  if (finished.length === 0 && free <= 0) return none;
  const { haltAfterUnknown, brakes } = deps.rules;
  return deps.ledger.write(async (trx) => {
    // P3: an intent's age counts from here, inside its transaction: a wait for another process's commit does not count.
    const began = momentOf(clock);
    const at = clock.iso();
    const events = finished.map(
      ({ claim: { payoutId, attemptId }, outcome, begun }): RecordEvent => ({
        payoutId,
        // What was recalled is no answer: it must not end a row of unknown ones (P11).
        source: begun ? 'response' : 'recall',
        event: { kind: 'outcome', attemptId, outcome },
      }),
    );
    await holdReturned(trx, at, await record(trx, at, events));
    const cause = await haltCause(finished, () => tooManyUnknown(trx, haltAfterUnknown));
    if (cause) await halt(trx, cause, at);
    const serviceNow = deps.service.serviceNow();
    const clockOffMs = serviceNow === null ? null : clock.now() - serviceNow;
    const { originId } = deps.standpoint;
    const by = { workerId: deps.workerId, originId, clockOffMs, cleared: cleared() };
    const request = { ...scope, ...by, brakes, limit: free, at };
    const { claims, halted: why } = await claimUnlessHalted(trx, request);
    return why === null ? { claims, halted: null, asked: free, began } : { ...none, halted: why };
  });
}

async function haltCause(
  finished: readonly Done[],
  countUnknown: () => Promise<HaltCause | null>,
): Promise<HaltCause | null> {
  for (const { claim: claimed, outcome } of finished) {
    if (outcome.kind === 'unknown' && outcome.halts) {
      const { code, message } = outcome;
      return { kind: haltKindOf(code), code, message, reference: claimed.reference };
    }
  }
  if (!finished.some(({ outcome }) => outcome.kind === 'unknown')) return null;
  return countUnknown();
}
