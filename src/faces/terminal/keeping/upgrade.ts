import type { Config } from '../../../core/settings/settings.ts';
import { placeName } from '../../../core/storage/place.ts';
import { loadSettings } from '../context/context.ts';
import { hasLedger, noLedgerYet, refuseWithoutLedger } from '../context/ledger-there.ts';
import { type Result, Stop } from '../context/result.ts';
import { whoIsThere } from '../context/who-is-there.ts';
import type { Handler, World } from '../context/world.ts';

/** `backup`: the copy of the ledger from before the upgrade. */
export type UpgradeDone = { upgraded: boolean; backup: string | null };

/** Upgrades the ledger when due, and reports it on stderr. Stops with 11 while another process uses the ledger. */
export async function upgrade(context: Pick<World, 'say'>, config: Config): Promise<UpgradeDone> {
  const { upgradeLedger } = await import('../../../custody/upgrade-ledger.ts');
  const { systemClock } = await import('../../../core/runtime/clock.ts');
  const place = config.ledgerPlace;
  const done = await upgradeLedger(place, { mode: config.mode, now: systemClock().iso });
  if (done.kind === 'locked') throw new Stop(await whoIsThere(config, 'the command'), 11);
  if (done.kind === 'current') return { upgraded: false, backup: null };
  // Also with --quiet: nothing else says where the backup of the old ledger is.
  const { upgradeText } = await import('../../../words/custody-words.ts');
  context.say(upgradeText(place, done.backup));
  return { upgraded: true, backup: done.backup };
}

/** `upgrade [--check]`: brings an older ledger to this version, or says whether that is due. */
export const upgradeCommand: Handler = async (context, _args, options) => {
  const config = await loadSettings(context);
  await refuseWithoutLedger(config);
  const ledger = placeName(config.ledgerPlace);
  if (!(await hasLedger(config))) {
    context.say(noLedgerYet(config));
    return {
      code: 0,
      json: { shape: 'upgrade', fields: { ledger, due: false, upgraded: false, backup: null } },
    };
  }
  if (options.check !== true) return { code: 0, ...describe(ledger, await upgrade(context, config)) };
  const { isUpgradeDue } = await import('../../../custody/upgrade-ledger.ts');
  const { systemClock } = await import('../../../core/runtime/clock.ts');
  const due = await isUpgradeDue(config.ledgerPlace, { mode: config.mode, now: systemClock().iso });
  const line = due
    ? `${ledger} is of an earlier version: stop what works on it, then run counterfoil upgrade. Nothing was changed`
    : current(ledger);
  return { code: 0, lines: [line], json: { shape: 'upgrade --check', fields: { ledger, due } } };
};

function describe(ledger: string, { upgraded, backup }: UpgradeDone): Pick<Result, 'lines' | 'json'> {
  const lines = [upgraded ? `${ledger} is upgraded` : current(ledger)];
  return { lines, json: { shape: 'upgrade', fields: { ledger, due: false, upgraded, backup } } };
}

function current(ledger: string): string {
  return `${ledger} is of this version: there is nothing to upgrade`;
}
