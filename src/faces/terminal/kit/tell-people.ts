import type { App } from '../../../app/app.ts';
import type { Context } from '../context/world.ts';

/** The longest that a command stays for its alerts, once its own work is done. What is not sent by then waits. */
const mostMs = 10_000;

/** Tells people what they must know, where no daemon does it. Never changes what the command reports. */
export async function tellPeople({ signal }: Pick<Context, 'signal'>, { alerts, log }: App): Promise<void> {
  if (!alerts.isOn) return;
  try {
    await alerts.look({ daemon: false });
    await alerts.deliver(AbortSignal.any([signal, AbortSignal.timeout(mostMs)]));
  } catch (err) {
    log.warn({ err }, 'alerts could not be looked after');
  }
}
