import { nameOf } from '../storage/place.ts';
import { loadSettings } from './context.ts';
import { hasLedger, noLedgerYet, refuseWithoutLedger } from './ledger-there.ts';
import type { Result } from './result.ts';
import { type UpgradeDone, upgrade } from './upgrading.ts';
import type { Context } from './world.ts';

/** `upgrade [--check]`: brings an older ledger to this version, or says whether that is due. */
export async function upgradeCommand(
  context: Context,
  _args: string[],
  options: Record<string, unknown>,
): Promise<Result> {
  const config = await loadSettings(context);
  await refuseWithoutLedger(config);
  const ledger = nameOf(config.ledgerPlace);
  if (!(await hasLedger(config))) {
    context.say(noLedgerYet(config));
    return { code: 0, json: { ledger, due: false, upgraded: false, backup: null } };
  }
  if (options.check !== true) return { code: 0, ...describe(ledger, await upgrade(context, config)) };
  const { isUpgradeDue } = await import('../custody/upgrade-ledger.ts');
  const { systemClock } = await import('../runtime/clock.ts');
  const due = await isUpgradeDue(config.ledgerPlace, { mode: config.mode, now: systemClock().iso });
  const line = due
    ? `${ledger} is of an earlier version: stop what works on it, then run counterfoil upgrade. Nothing was changed`
    : current(ledger);
  return { code: 0, lines: [line], json: { ledger, due } };
}

function describe(ledger: string, { upgraded, backup }: UpgradeDone): Pick<Result, 'lines' | 'json'> {
  const lines = [upgraded ? `${ledger} is upgraded` : current(ledger)];
  return { lines, json: { ledger, due: false, upgraded, backup } };
}

function current(ledger: string): string {
  return `${ledger} is of this version: there is nothing to upgrade`;
}
