import { execFile } from 'node:child_process';
import type { Environment } from '../settings/environment.ts';
import type { Logger } from './logger.ts';

/** What systemd learns of a service of `Type=notify` (sd_notify(3)). Each call returns at once and never throws. */
export type ServiceManager = {
  /** The service does its work, and from now on says every third of `WatchdogSec` that it lives. */
  ready(): void;
  /** The service reloads; {@link ServiceManager.ready} ends it. */
  reloading(): void;
  stopping(): void;
  /** Resolves when everything was sent. */
  close(): Promise<void>;
};

const patienceMs = 5000;

/**
 * Speaks to systemd; null where no service manager asked for it. Node has no datagram sockets of the kind that systemd
 * reads, so `systemd-notify` sends each message: the unit needs `NotifyAccess=all`. The watchdog's messages come from
 * the event loop, so that a process whose loop hangs is ended and started again.
 */
export function createServiceManager(env: Environment, log: Logger): ServiceManager | null {
  const { NOTIFY_SOCKET, WATCHDOG_USEC, PATH } = env;
  if (!NOTIFY_SOCKET) return null;
  // No secret of our own environment goes to another program.
  const childEnv = { NOTIFY_SOCKET, ...(PATH && { PATH }) };
  let last = Promise.resolve();
  let hasFailed = false;
  let timer: NodeJS.Timeout | undefined;

  const send = (...fields: string[]): void => {
    last = last.then(
      () =>
        new Promise((resolve) => {
          execFile('systemd-notify', fields, { env: childEnv, timeout: patienceMs }, (error) => {
            if (error && !hasFailed) {
              log.warn({ err: error }, 'systemd-notify failed: systemd may stop serve as one that hangs');
            }
            hasFailed = error !== null;
            resolve();
          });
        }),
    );
  };
  const watch = (): void => {
    const everyMs = Number(WATCHDOG_USEC) / 3000;
    if (everyMs > 0) timer ??= setInterval(() => send('WATCHDOG=1'), everyMs).unref();
  };
  return {
    ready() {
      send('READY=1', 'STATUS=serving');
      watch();
    },
    reloading: () => send('RELOADING=1', 'STATUS=reading settings, keys and certificates again'),
    stopping: () => send('STOPPING=1', 'STATUS=finishing what is in flight'),
    async close() {
      clearInterval(timer);
      await last;
    },
  };
}
