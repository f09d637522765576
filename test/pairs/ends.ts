import type { PayoutState } from '../../src/core/domain/payout.ts';
import type { HoldReason } from '../../src/core/ledger/hold-reasons.ts';
import type { HaltKind } from '../../src/sending/halt.ts';
import type { VerbName } from '../../src/verbs/verbs.ts';
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

/** The verb by which a person ends the state of a payout; null: the service's word has ended it. */
export const endOfState: Record<PayoutState, VerbName | null> = {
  held: 'release',
  ready: 'cancel',
  sending: null,
  pending: 'settle',
  success: null,
  failed: 'retry',
  refused: 'retry',
  unknown: 'settle',
  cancelled: null,
  returned: 'retry',
};

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
