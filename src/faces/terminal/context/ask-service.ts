import type { App } from '../../../app/app.ts';
import { counted } from '../../../core/domain/counted.ts';
import type { PayoutState } from '../../../core/domain/payout.ts';
import { hushed, loadSettings } from './context.ts';
import type { Result } from './result.ts';
import { withApp } from './with-app.ts';
import type { Context } from './world.ts';

/** The ledger, and the service where a key is configured. */
export type Asking = { app: App<'local'>; service: App | undefined };

/**
 * Runs a person's decision, which looks up its payouts first. It uses the service when a key is configured. `local`: the
 * command also works without a key.
 */
export async function withService(
  context: Context,
  kind: string,
  local: boolean,
  work: (asking: Asking) => Promise<Result>,
): Promise<Result> {
  const config = await loadSettings(context);
  const silent = hushed(context);
  const hasKey = (config.keys[config.mode]?.secretKeys.length ?? 0) > 0;
  if (!hasKey && local)
    return withApp(silent, { level: 'local', use: 'writes' }, (app) => work({ app, service: undefined }));
  return withApp(silent, { level: 'whole', use: 'writes', kind }, async (app) => {
    // Payouts that a dead process was sending become unknown now, and a person can decide about them.
    await app.takeOver();
    return work({ app, service: app });
  });
}

/** Looks up those of the payouts that are in one of these states. Each answer is recorded like any other. */
export async function askAbout(
  context: Context,
  { app, service }: Asking,
  ids: readonly bigint[],
  states: readonly PayoutState[],
): Promise<void> {
  if (!service) return;
  const open = (await app.decisions.standingOf(ids)).filter(({ state }) => states.includes(state));
  if (open.length === 0) return;
  if (!context.options.quiet) context.say(`asking the service about ${counted(open.length, 'payout')}`);
  await service.lookUps.lookUp(
    open.map(({ id }) => id),
    context.signal,
  );
}
