import { LineCounter, parseDocument } from 'yaml';
import { modes } from '../domain/payout.ts';
import { createRedactor } from '../domain/redact.ts';
import { withoutCredentials } from './file-values.ts';
import { eventsSecretName, type ModeKeys, smtpPasswordName } from './secrets.ts';
import { type Config, type LoadOptions, loadConfig, secretsOf, type Unreadable } from './settings.ts';
import { sections } from './settings-schema.ts';

/** One effective value, its name in the file, and its origin. Credentials inside an address are left out. */
export type Setting = { key: string; value: unknown; origin: string };

/** Whether a secret is set, never any part of it. `file` is the path in NAME_FILE. */
export type SecretState = { name: string; values: number; origin: string; file: string | null };

export type Explained = {
  config: Config;
  settings: Setting[];
  secrets: SecretState[];
  /** Variables that begin with COUNTERFOIL_ and that nothing reads. A misspelt one would otherwise go unnoticed. */
  unread: string[];
};

const kinds: readonly [name: string, key: keyof ModeKeys][] = [
  ['SECRET', 'secretKeys'],
  ['PUBLIC', 'publicKeys'],
  ['ENCRYPTION', 'encryptionKeys'],
  ['WEBHOOK', 'webhookKeys'],
];

/** Reads the configuration as {@link loadConfig} does, and says of each value where it came from. */
export function explainConfig(options: LoadOptions): ({ kind: 'ok' } & Explained) | Unreadable {
  const loaded = loadConfig(options);
  if (loaded.kind === 'problem') return loaded;
  const { config, sources } = loaded;
  const { environment, dotEnv } = sources;
  const lineOf = createLineFinder(sources.text);
  const giver = (name: string): string => (environment[name] === undefined ? '.env' : 'environment');
  const originOf = (key: string): string => {
    const origin = config.origins[key] ?? 'default';
    if (origin === 'default') return origin;
    return origin === 'file' ? `file:${lineOf(key)}` : `${giver(origin)} ${origin}`;
  };
  const redact = createRedactor(secretsOf(config));
  const setting = (key: string, value: unknown): Setting => ({
    key,
    value: typeof value === 'string' ? redact(shownText(key, value)) : value,
    origin: originOf(key),
  });
  const secret = (name: string, values: number): SecretState => {
    const file = environment[`${name}_FILE`] ?? dotEnv[`${name}_FILE`];
    if (values === 0) return { name, values, origin: '', file: null };
    return file
      ? { name, values, origin: `file named by ${name}_FILE`, file }
      : { name, values, origin: giver(name), file: null };
  };
  const { mode, ...own } = sources.values;
  return {
    kind: 'ok',
    config,
    settings: [
      setting('mode', mode),
      ...Object.entries(own).flatMap(([name, values]) =>
        Object.entries(values).map(([key, value]) => setting(`${name}.${key}`, value)),
      ),
    ],
    secrets: [
      ...modes.flatMap((of) =>
        kinds.map(([name, key]) =>
          secret(`COUNTERFOIL_${of.toUpperCase()}_${name}_KEY`, config.keys[of]?.[key].length ?? 0),
        ),
      ),
      secret('COUNTERFOIL_ADMIN_TOKENS', config.adminTokens.length),
      secret(smtpPasswordName, config.alerts.smtpPassword === undefined ? 0 : 1),
      secret(eventsSecretName, config.events.secret === undefined ? 0 : 1),
    ],
    unread: unknownVariables({ ...dotEnv, ...environment }),
  };
}

function unknownVariables(env: Readonly<Record<string, string | undefined>>): string[] {
  const prefixes = Object.keys(sections).map((name) => `COUNTERFOIL_${name.toUpperCase()}_`);
  const secret = /^COUNTERFOIL_((TEST|LIVE)_(SECRET|PUBLIC|ENCRYPTION|WEBHOOK)_KEY|ADMIN_TOKENS)(_FILE)?$/;
  return Object.keys(env).filter(
    (name) =>
      name.startsWith('COUNTERFOIL_') &&
      !/^COUNTERFOIL_(CONFIG|MODE|LIVE)$/.test(name) &&
      !secret.test(name) &&
      !prefixes.some((prefix) => name.startsWith(prefix)),
  );
}

function shownText(key: string, value: string): string {
  // The path of an alert address is often the password itself; that of the service is no secret.
  return /(^|[._])url$/.test(key) && key !== 'service.base_url' ? withoutCredentials(value) : value;
}

/** The line of a key in the YAML text, counted from 1. */
function createLineFinder(text: string): (key: string) => number {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines });
  return (key) => {
    const node = document.getIn(key.split('.'), true);
    const range = typeof node === 'object' && node !== null && 'range' in node ? node.range : undefined;
    const start: unknown = Array.isArray(range) ? range[0] : undefined;
    return typeof start === 'number' ? lines.linePos(start).line : 1;
  };
}
