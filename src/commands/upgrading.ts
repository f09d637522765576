import type { Config } from '../settings/settings.ts';
import { Stop } from './result.ts';
import { whoIsThere } from './who-is-there.ts';
import type { World } from './world.ts';

/** `backup`: where the ledger lies as it was before. */
export type UpgradeDone = { upgraded: boolean; backup: string | null };

/** Upgrades where it is due, and says on stderr what was done; stops with 11 beside any other process on the ledger. */
export async function upgrade(context: Pick<World, 'say'>, config: Config): Promise<UpgradeDone> {
  const { upgradeLedger, upgradeText } = await import('../custody/upgrade-ledger.ts');
  const { systemClock } = await import('../runtime/clock.ts');
  const place = config.ledgerPlace;
  const done = await upgradeLedger(place, { mode: config.mode, now: systemClock().iso });
  if (done.kind === 'locked') throw new Stop(11, await whoIsThere(config, 'the command'));
  if (done.kind === 'current') return { upgraded: false, backup: null };
  // Also where --quiet was said: it is the only word on where the ledger from before lies.
  context.say(upgradeText(place, done.backup));
  return { upgraded: true, backup: done.backup };
}
