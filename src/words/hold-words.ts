import { isDeepStrictEqual } from 'node:util';
import type { HoldReason } from '../core/ledger/hold-reasons.ts';
import { holdFact, holdNote } from '../sending/hold-facts.ts';

/** Whether the reader may see whom payouts pay. */
export type ReaderSight = { names: boolean };
export const sightOfAll: ReaderSight = { names: true };

/** The reasons that hold a batch, each with the way out. `batch` is null for a file that is only checked. */
export function holdTexts(
  reasons: readonly HoldReason[],
  batch: string | null,
  { names }: ReaderSight = sightOfAll,
): string[] {
  const fact = names ? holdFact : holdNote;
  return reasons.map((reason) => `${fact(reason)}${wayOutOf(reason)(batch)}`);
}

/** The same after a release. A reason that is not among `seen` joined while the person looked, or while it ran. */
export function stayTexts(
  stays: readonly HoldReason[],
  { seen, batch }: { seen: readonly HoldReason[]; batch: string },
  sight = sightOfAll,
): string[] {
  return stays.map((reason) => {
    const isKnown = reason.kind === 'approval' || seen.some((one) => isDeepStrictEqual(one, reason));
    return `${isKnown ? 'still held' : 'held meanwhile'}: ${holdTexts([reason], batch, sight).join('')}`;
  });
}

type WayOut = (batch: string | null) => string;

function wayOutOf(reason: HoldReason): WayOut {
  if (reason.kind === 'cancelled' && reason.scope !== undefined)
    return () => '; cancel each of them, or reject them again';
  return wayOut[reason.kind];
}

const check: WayOut = (batch) => (batch === null ? '' : `; check, then counterfoil release ${batch}`);
const compare: WayOut = (batch) =>
  `; check it against its source, then counterfoil release ${batch} pays what was read, or counterfoil cancel ${batch} drops it`;

const wayOut: Record<HoldReason['kind'], WayOut> = {
  person: () => '; counterfoil release lifts it',
  cancelled: () => '; counterfoil cancel ends it',
  approval: (batch) => `: counterfoil approve${batch === null ? '' : ` ${batch}`}`,
  releasing: (batch) => `; counterfoil submit, serve or release ${batch} finishes it if it was interrupted`,
  file_grown: compare,
  file_changed: compare,
  file_not_archived: compare,
  file_missing: compare,
  repeated_row: check,
  alike: check,
  named_again: check,
  value_again: check,
  original_held: check,
  payout_limit: check,
  daily_limit: (batch) => `; raise the limit, or cancel them${check(batch)}`,
  balance: (batch) => `: put money into it${check(batch)}`,
  account_names: check,
  check_unreadable: (batch) =>
    batch === null
      ? ''
      : `; check, then counterfoil release ${batch} pays it without this look; an empty service.extras.balance or account_name turns it off`,
};
