import { type PayoutState, payoutStates } from '../../src/core/domain/payout.ts';
import type { HoldReason } from '../../src/core/ledger/hold-reasons.ts';
import type { HaltKind } from '../../src/sending/halt.ts';
import type { VerbName } from '../../src/verbs/verbs.ts';
import { settle } from './moves/verbs.ts';
import type { Stage } from './stage.ts';

/** The verb by which a person ends what holds a batch. */
export const endOfHold: Record<HoldReason['kind'], Extract<VerbName, 'release' | 'approve' | 'cancel'>> = {
  person: 'release',
  cancelled: 'cancel',
  approval: 'approve',
  releasing: 'release',
  file_grown: 'release',
  file_changed: 'release',
  file_not_archived: 'release',
  file_missing: 'release',
  repeated_row: 'release',
  alike: 'release',
  named_again: 'release',
  value_again: 'release',
  original_held: 'release',
  payout_limit: 'release',
  daily_limit: 'cancel',
  balance: 'release',
  account_names: 'release',
  check_unreadable: 'release',
};

/** The verb by which a person ends a halt: the ledger is adopted first where it went back in time. */
const endOfHalt: Record<HaltKind, Extract<VerbName, 'release-all'>> = {
  barrier: 'release-all',
  person: 'release-all',
  account: 'release-all',
  signature: 'release-all',
  unknowns: 'release-all',
  canary_open: 'release-all',
  canary_failed: 'release-all',
};

/** The verb by which a person ends the state of a payout (P32); null: it has ended, or its answer or its process ends it. */
const endOfState: Record<PayoutState, Extract<VerbName, 'settle'> | null> = {
  held: 'settle',
  ready: 'settle',
  sending: null,
  pending: 'settle',
  success: null,
  failed: null,
  refused: null,
  unknown: 'settle',
  cancelled: null,
  returned: null,
};

/** P32: amid all, a person ends one payout of each state that stands, by the verb that is for it. */
export function judgeStates(stage: Stage): void {
  const { inspector, service, world } = stage.town;
  stage.command(async (app) => {
    const now = (reference: string) => inspector.states().find((one) => one.reference === reference)?.state;
    for (const state of payoutStates) {
      const verb = endOfState[state];
      const one = inspector.states().find((some) => some.state === state);
      if (verb === null || !one) continue;
      const { reference } = one;
      const isAlive = service.book.entries(reference).some(({ record }) => record.status !== 'failed');
      const { did, what } = await settle(app, reference, isAlive ? 'success' : 'failed');
      if (!did && now(reference) === state)
        world.violate('P32: a verb ends every state', `${verb} leaves it ${state}: ${what}`, reference);
    }
  });
}

/** What stands in the ledger now: `state: held`, `hold: person`, `halt: account`. */
export function standing({ town: { inspector } }: Stage): string[] {
  const states = inspector.rows<{ kind: string }>("select distinct 'state: ' || state as kind from payouts");
  const holds = inspector.rows<{ kind: string }>(
    `select distinct 'hold: ' || json_extract(r.value, '$.kind') as kind
     from batches b, json_each(b.hold_reasons) r where b.phase = 'loaded' and exists (select 1 from payouts p
       where p.batch_id = b.id and p.state in ('held', 'ready', 'sending', 'unknown'))`,
  );
  const halts = inspector.rows<{ kind: string }>(`select distinct 'halt: ' || kind as kind from halts
    union select 'halt: barrier' from meta where key in ('behind', 'sealed', 'listing_due')`);
  return [...states, ...holds, ...halts].map(({ kind }) => kind).toSorted();
}

/** P32: when people have tidied up, nothing stands any more that a verb of theirs was to end. */
export function judgeEnds(stage: Stage): void {
  for (const kind of standing(stage)) {
    const [group, name = ''] = kind.split(': ');
    if (group === 'state') continue;
    const verb = group === 'halt' ? endOfHalt[name as HaltKind] : endOfHold[name as HoldReason['kind']];
    stage.town.world.violate('P32: a verb ends what stands', `${kind} stands after ${verb}`);
  }
}
