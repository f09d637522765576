import { ActionNeeded } from '../domain/advice.ts';
import type { Mode } from '../domain/payout.ts';

/** Compares a ledger's tables with those of this program; `new`: there are none yet. */
export type SchemaStanding = 'new' | 'current' | 'older' | 'newer';

/** Compares a ledger's migrations (null: it has no migration table) with those that this program knows. */
export function schemaStanding(done: readonly string[] | null, known: readonly string[]): SchemaStanding {
  if (done === null || done.length === 0) return 'new';
  if (!done.every((name) => known.includes(name))) return 'newer';
  return done.length === known.length ? 'current' : 'older';
}

/** The tables are of an earlier version: only `upgrade` and what sends may change them. */
export class LedgerOlder extends ActionNeeded {
  readonly code = 'LEDGER_OLDER';
  constructor(name: string) {
    super(`the ledger ${name} is of an earlier version of Counterfoil`, { kind: 'upgrade' });
  }
}

/** The tables are of a later version that this program does not know. */
export class LedgerNewer extends Error {
  readonly code = 'LEDGER_NEWER';
  constructor(name: string) {
    super(
      `${name} was upgraded by a newer version of Counterfoil: use that version. This one sends nothing from it, and can only make a backup of it`,
    );
  }
}

export class LedgerAbsent extends ActionNeeded {
  readonly code = 'LEDGER_ABSENT';
  constructor(name: string) {
    super(`there is no ledger yet at ${name}`, { kind: 'first_submit' });
  }
}

/** A home, or its ledger, belongs to the other mode (P24): exit code 2. */
class OtherMode extends ActionNeeded {
  readonly code = 'LEDGER_MODE';
  constructor(what: string, own: Mode, asked: Mode) {
    super(`${what} is of mode ${own}, and the configuration says mode ${asked}`, {
      kind: 'init_for_mode',
      mode: asked,
    });
  }
}

/** Parses the mode of the ledger or home named `what`. */
export function readMode(what: string, text: string | undefined): Mode {
  if (text === 'test' || text === 'live') return text;
  throw new Error(`${what} names no mode: it must say test or live`);
}

/** Throws where the ledger or home named `what` belongs to another mode than the configured one (P24). */
export function assertMode(what: string, own: Mode | undefined, wanted: Mode | undefined): void {
  if (own !== undefined && wanted !== undefined && own !== wanted) throw new OtherMode(what, own, wanted);
}
