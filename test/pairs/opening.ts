import type { BrakeWeather } from '../simulation/brake-weather.ts';
import type { ListFlawKind } from '../simulation/list-flaw.ts';

/** How a play begins: what its two or three moves need to stand in the ledger, in the configuration or in the calendar. */
export type Opening = {
  /** True time at which the play begins. */
  startsAt: number;
  /** The first move waits until that time; null: until the first batch has met its fates. */
  movesAt: number | null;
  /** Why the second, smaller batch is held: two of its rows look alike, or it needs an approval. */
  second: { twins: boolean; approval: boolean };
  brakes: Partial<BrakeWeather>;
  haltAfterUnknown: number;
  /** The questions before payment that are switched on. */
  extras: { balance: boolean; account_name: boolean };
  /** The column `invoice` holds what is paid once. */
  unique: boolean;
  /** What comes back is shown as failed. */
  returns: boolean;
  /** The service has a transfer of somebody else, which a run has found. */
  stranger: boolean;
  listFlaw: ListFlawKind | null;
  /** An operator keeps a copy of the ledger. */
  oldCopy: boolean;
  /** The clock of the machine is set wrong in this play. */
  clockSteps: boolean;
};

/** What a move needs of it. */
export type Needs = {
  [Key in keyof Opening]?: Opening[Key] extends object ? Partial<Opening[Key]> : Opening[Key];
};

const ordinary: Opening = {
  // Just before a scheduled run of `submit`: from then on the daemon sends what becomes ready.
  startsAt: Date.UTC(2026, 10, 19, 7, 57),
  movesAt: null,
  second: { twins: false, approval: false },
  brakes: { timezone: 'America/New_York' },
  haltAfterUnknown: 0,
  extras: { balance: false, account_name: false },
  unique: false,
  returns: false,
  stranger: false,
  listFlaw: null,
  oldCopy: false,
  clockSteps: false,
};

/** One opening that has all that the moves need. The earliest beginning wins; something stands in the second batch anyway. */
export function openingFor(needs: readonly Needs[]): Opening {
  const opening = structuredClone(ordinary);
  for (const need of needs) {
    const { second, brakes, extras, startsAt, movesAt, ...plain } = need;
    Object.assign(opening, plain);
    Object.assign(opening.second, second);
    Object.assign(opening.brakes, brakes);
    Object.assign(opening.extras, extras);
    if (startsAt === undefined) continue;
    const isFirst = opening.startsAt === ordinary.startsAt || startsAt < opening.startsAt;
    if (isFirst) Object.assign(opening, { startsAt, movesAt: movesAt ?? null });
  }
  if (!opening.second.approval) opening.second.twins = true;
  return opening;
}
