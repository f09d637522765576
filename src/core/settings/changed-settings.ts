import { isDeepStrictEqual } from 'node:util';
import { modes } from '../domain/payout.ts';
import { eventsSecretName, smtpPasswordName } from './secrets.ts';
import type { Config } from './settings.ts';
import type { FileConfig } from './settings-schema.ts';

/** What a process binds itself to when it starts: its ledger (P24), and which processes share it. */
const fixedKeys: readonly string[] = ['mode', 'ledger.url', 'queue.url'];

/** The names of the settings and secrets that differ between two readings, as the file and the environment spell them. */
export function changedSettings(before: Config, now: Config): string[] {
  const [old, current] = [named(before), named(now)];
  const names = new Set([...old.keys(), ...current.keys()]);
  return [...names].filter((name) => !isDeepStrictEqual(old.get(name), current.get(name)));
}

/** Those of the changed settings that only a new start can change. */
export function fixedAmong(changed: readonly string[]): string[] {
  return changed.filter((name) => fixedKeys.includes(name));
}

/** Whether one of the changed settings decides which account the service sees, or whether it lets us in (P31). */
export function changesAccess(changed: readonly string[]): boolean {
  return changed.some((name) =>
    /^service\.(base_url|authorization_key)$|_(SECRET|ENCRYPTION)_KEY$/.test(name),
  );
}

function named(config: Config): Map<string, unknown> {
  const { alerts, events, service, intake, submission, receiver, admin, ledger, queue } = config;
  const { reconciliation, schedules, reports } = config;
  const { smtpPassword, ...alertKeys } = alerts;
  const { secret, ...eventKeys } = events;
  const sections = {
    ...{ service, intake, submission, receiver, admin, ledger, queue, reconciliation, schedules, reports },
    alerts: alertKeys,
    events: eventKeys,
  } satisfies Record<Exclude<keyof FileConfig, 'mode'>, object>;
  const settings = Object.entries(sections).flatMap(([section, values]) =>
    Object.entries(values).map(([key, value]) => [`${section}.${snake(key)}`, value] as const),
  );
  const keys = modes.flatMap((mode) =>
    Object.entries(config.keys[mode] ?? {}).map(
      ([kind, values]) =>
        [`COUNTERFOIL_${mode}_${snake(kind).replace(/s$/, '')}`.toUpperCase(), values] as const,
    ),
  );
  return new Map<string, unknown>([
    ['mode', config.mode],
    ...settings,
    // The list itself: the file may have changed under its name.
    ['intake.banks_file', [config.intake.banksFile, config.banks]],
    ...keys.filter(([, values]) => values.length > 0),
    ['COUNTERFOIL_ADMIN_TOKENS', config.adminTokens],
    [smtpPasswordName, smtpPassword],
    [eventsSecretName, secret],
  ]);
}

function snake(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}
