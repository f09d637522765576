import type { App } from '../../src/app/app.ts';
import { waitingForApproval } from './approver.ts';
import type { PeoplesAct } from './coverage.ts';
import type { Life } from './life.ts';
import type { Random } from './random.ts';
import type { Town } from './town.ts';

/** Two people who decide at once: what the second does begins while the first is still at it. */
export const raceNames = [
  'hold beside release',
  'release beside hold',
  'hold beside approve',
  'halt beside release mode',
] as const;
export type RaceName = (typeof raceNames)[number];

/** What the first does before, so that there is something to race for; what it does then; and what the second does beside. */
const parts: Record<RaceName, { before: PeoplesAct | null; first: PeoplesAct; second: PeoplesAct }> = {
  'hold beside release': { before: 'hold batch', first: 'release batch', second: 'hold batch' },
  'release beside hold': { before: null, first: 'hold batch', second: 'release batch' },
  'hold beside approve': { before: null, first: 'approve', second: 'hold batch' },
  'halt beside release mode': { before: 'hold mode', first: 'release mode', second: 'hold mode' },
};

const mostWaitMs = 60_000;

/** How long the second waits at most, where the first is done soon. */
const mostDelayMs: Partial<Record<PeoplesAct, number>> = { 'release mode': 20, approve: 40 };

type Command = (work: (app: App) => Promise<void>, begun?: (life: Life) => void) => Promise<void>;
type Act = (town: Town, app: App, what: PeoplesAct, subject: string | null) => Promise<void>;

/** Begins a race over a batch of which several payouts were never sent, or over the mode. */
export function beginRace(
  town: Town,
  { command, act, random }: { command: Command; act: Act; random: Random },
): void {
  const { world } = town;
  const { name, subject } = random.pick(possible(town));
  const { before, first, second } = parts[name];
  const begun = Promise.withResolvers<void>();
  let underWay = false;
  const one = async (app: App): Promise<void> => {
    if (before) await act(town, app, before, subject);
    underWay = true;
    begun.resolve();
    await act(town, app, first, subject);
    underWay = false;
  };
  // The second has opened the ledger before the first begins, so that either may come first.
  const other = async (app: App): Promise<void> => {
    // The first may stand still before it begins.
    await Promise.race([begun.promise, app.clock.sleep(mostWaitMs)]);
    await app.clock.sleep(random.between(0, mostDelayMs[first] ?? 120));
    if (underWay) world.coverage.count(`race: ${name}`);
    await act(town, app, second, subject);
  };
  void command(other);
  void command(one, (life) => {
    life.dawdle(() => random.between(0, 40));
    void life.died.then(() => begun.resolve());
  });
}

type Chance = { name: RaceName; subject: string | null };

function possible(town: Town): [Chance, ...Chance[]] {
  const ofMode: Chance = { name: 'halt beside release mode', subject: null };
  const chances: [Chance, ...Chance[]] = [ofMode];
  const [batch] = unsent(town);
  if (batch !== undefined)
    chances.push(
      { name: 'hold beside release', subject: batch },
      { name: 'release beside hold', subject: batch },
    );
  const [unapproved] = waitingForApproval(town, town.settingNow());
  // It waits for its approval but once.
  const beside: Chance = { name: 'hold beside approve', subject: unapproved ?? null };
  if (unapproved !== undefined) chances.push(beside, beside, beside);
  return chances;
}

/** Batches with enough that was never sent: to move it takes several transactions. */
function unsent({ inspector }: Town): string[] {
  return inspector
    .rows<{ id: string }>(
      `select batch_id as id from payouts join batches b on b.id = batch_id
        where b.phase = 'loaded' and state in ('held', 'ready') group by 1 having count(*) > 3 order by count(*) desc, 1`,
    )
    .map(({ id }) => id);
}
