import { readFileSync, statSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { isMap, isScalar, LineCounter, parseDocument, parse as parseYaml } from 'yaml';
import type { Advice } from '../domain/advice.ts';
import type { Banks } from '../domain/banks.ts';
import { type Place, placeNamed } from '../storage/place.ts';
import { adminWarnings, exposureProblem } from './admin-checks.ts';
import { readBanks } from './banks-file.ts';
import { readEnv } from './dotenv.ts';
import type { Environment } from './environment.ts';
import { canBeWritten, parseFile } from './file-values.ts';
import {
  checkEventsSecret,
  checkSmtpUser,
  eventsSecretName,
  type ModeKeys,
  passwordsOf,
  pathsOf,
  readAdminTokens,
  readModeKeys,
  type SecretReader,
  smtpPasswordName,
} from './secrets.ts';
import { idleApproval, isLoopback } from './settings-checks.ts';
import type { FileConfig } from './settings-schema.ts';

export type { ModeKeys } from './secrets.ts';

type CamelCase<S extends string> = S extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : S;
type Camel<T> = { [K in keyof T as K extends string ? CamelCase<K> : K]: T[K] };
type Sections = { [K in Exclude<keyof FileConfig, 'mode'>]: Camel<FileConfig[K]> };

/** The whole configuration: the file in camelCase, the secrets, and the paths. */
export type Config = Omit<Sections, 'alerts' | 'events'> & {
  alerts: Sections['alerts'] & { smtpPassword: string | undefined };
  events: Sections['events'] & { secret: string | undefined };
  mode: FileConfig['mode'];
  /** The folder that holds `config/` (or the file itself, when it lies elsewhere), absolute. */
  home: string;
  dataDir: string;
  configFile: string;
  /** Where the ledger is, according to `ledger.url`. */
  ledgerPlace: Place;
  /** Its SQLite file, absolute. For a ledger on PostgreSQL, the base name of the files that this machine keeps for it. */
  ledgerFile: string;
  keys: { test?: ModeKeys; live?: ModeKeys };
  adminTokens: { name: string; token: string }[];
  /** The list of `intake.banks_file`; absent where none is set. */
  banks?: Banks;
  /** The origin of each value, by its name in the file: `default`, `file`, or the variable's name. */
  origins: Record<string, string>;
  /** Settings that are legal but unwise, such as an `.env` that others can read. */
  warnings: string[];
};

/** Where to look for the configuration and the data. */
export type LoadOptions = {
  configFlag?: string | undefined;
  dataFlag?: string | undefined;
  cwd: string;
  env: Environment;
};

/** The inputs besides the values, so that {@link explainConfig} can name origins. */
export type Sources = {
  /** The values in the file's own spelling and order. */
  values: FileConfig;
  text: string;
  environment: Environment;
  dotEnv: Environment;
};

/** Why there is no configuration, every problem at once. */
export type Unreadable = { kind: 'problem'; problems: string[]; advice?: Advice };

/**
 * Reads the file, `.env` and the environment; the environment wins. Reports every problem together. Each names the key
 * and what was expected, never a secret's value.
 */
export function loadConfig(
  options: LoadOptions,
): { kind: 'ok'; config: Config; sources: Sources } | Unreadable {
  const { cwd } = options;
  const { configFile, home } = placesOf(options);
  const dataDir = options.dataFlag ? resolve(cwd, options.dataFlag) : join(home, 'data');
  const problems: string[] = [];
  const warnings: string[] = [];

  const text = readText(configFile);
  if (text.kind === 'absent') {
    return { kind: 'problem', problems: [`no configuration at ${configFile}`], advice: { kind: 'init' } };
  }
  if (text.kind === 'unreadable') return { kind: 'problem', problems: [`${configFile}: ${text.why}`] };
  const dotEnv = readDotEnv(join(home, '.env'), problems, warnings);
  const env = { ...dotEnv, ...options.env };
  const tree = readTree(configFile, text.text, problems);
  const file = parseFile(tree, env, problems, (path) => placeOfKey(configFile, text.text, path));
  const secret = secretReader(env, home, problems);
  const test = readModeKeys('test', secret, problems);
  const live = readModeKeys('live', secret, problems);
  const adminTokens = readAdminTokens(secret, problems);
  const smtpPassword = secret(smtpPasswordName);
  checkSmtpUser(file?.values.alerts.smtp_url ?? '', smtpPassword, problems);
  const eventsSecret = secret(eventsSecretName);
  if (file) checkEventsSecret(file.values, eventsSecret, problems);
  if (!file || problems.length > 0)
    return { kind: 'problem', problems, ...(lacksCredential(env) && { advice: { kind: 'run_as_unit' } }) };
  const values = camelSections(file.values);
  const ledgerPlace = placeNamed(file.values.ledger.url, dataDir);
  const receiver = withFiles(values.receiver, home);
  const admin = withFiles(values.admin, home);
  const banksFile = pathIn(home, values.intake.banksFile);
  const banks = banksFile === '' ? null : readBanks(banksFile, problems);
  if (problems.length > 0) return { kind: 'problem', problems };
  const exposure = exposureProblem(admin, adminTokens.length);
  if (exposure) return { kind: 'problem', problems: [exposure] };
  if (receivesPlainHttp(receiver)) warnings.push(plainHttpWarning(receiver.host));
  warnings.push(...idleApproval(values.submission), ...adminWarnings(admin.roles, adminTokens));
  return {
    kind: 'ok',
    config: {
      ...values,
      receiver,
      admin,
      ledger: { ...values.ledger, backupDir: pathIn(dataDir, values.ledger.backupDir) },
      alerts: { ...values.alerts, smtpPassword },
      events: { ...values.events, secret: eventsSecret },
      mode: file.values.mode,
      home,
      dataDir,
      configFile,
      ledgerPlace,
      ledgerFile: ledgerPlace.path,
      keys: { ...(test && { test }), ...(live && { live }) },
      adminTokens,
      ...(banks && { banks }),
      origins: file.origins,
      warnings,
    },
    sources: { values: file.values, text: text.text, environment: options.env, dotEnv },
  };
}

/** The keys of test mode from the environment and `.env`, with or without a configuration file beside them. */
export function loadTestKeys(options: LoadOptions): { kind: 'ok'; keys: ModeKeys | undefined } | Unreadable {
  const { home } = placesOf(options);
  const problems: string[] = [];
  const env = { ...readDotEnv(join(home, '.env'), problems, []), ...options.env };
  const keys = readModeKeys('test', secretReader(env, home, problems), problems);
  return problems.length > 0 ? { kind: 'problem', problems } : { kind: 'ok', keys };
}

function placesOf({ cwd, configFlag, env }: LoadOptions): { configFile: string; home: string } {
  const configFile = resolve(cwd, configFlag || env.COUNTERFOIL_CONFIG || 'config/counterfoil.yaml');
  const folder = dirname(configFile);
  return { configFile, home: basename(folder) === 'config' ? dirname(folder) : folder };
}

/** Every secret value of both modes, and the passwords inside addresses, so that a redactor can remove them. */
export function secretsOf({
  keys,
  adminTokens = [],
  queue,
  ledger,
  alerts,
  events,
  submission,
}: Secrets): string[] {
  const ofModes = [keys.test, keys.live].flatMap((own) => (own ? Object.values(own).flat() : []));
  const addresses = [queue?.url ?? '', ledger?.url ?? ''];
  const ofAlerts = alerts
    ? [alerts.smtpPassword ?? '', ...[alerts.webhookUrl, alerts.heartbeatUrl].flatMap(pathsOf)]
    : [];
  return [
    ...ofModes,
    ...adminTokens.map(({ token }) => token),
    ...addresses.flatMap(passwordsOf),
    ...ofAlerts,
    ...(events ? [events.secret ?? '', ...pathsOf(events.url)] : []),
    ...pathsOf(submission?.approvalUrl ?? ''),
  ];
}

type Secrets = Pick<Config, 'keys'> &
  Partial<Pick<Config, 'adminTokens' | 'queue' | 'ledger' | 'alerts' | 'events' | 'submission'>>;

type Text = { kind: 'text'; text: string } | { kind: 'absent' } | { kind: 'unreadable'; why: string };

function readText(path: string): Text {
  try {
    return { kind: 'text', text: readFileSync(path, 'utf8') };
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : String(error);
    return code === 'ENOENT' || code === 'ENOTDIR'
      ? { kind: 'absent' }
      : { kind: 'unreadable', why: `cannot be read (${code})` };
  }
}

function readTree(path: string, text: string, problems: string[]): unknown {
  try {
    const tree: unknown = parseYaml(text) ?? {};
    if (canBeWritten(tree)) return tree;
    problems.push(`${path}: an alias stands inside its own anchor, or the values are nested too deep`);
    return undefined;
  } catch (error) {
    problems.push(
      `${path}: not valid YAML: ${error instanceof Error ? error.message.split('\n')[0]?.replace(/:$/, '') : String(error)}`,
    );
    return undefined;
  }
}

/** The position of a key in the file, as `FILE, line 12: `. */
function placeOfKey(file: string, text: string, path: readonly string[]): string {
  const lines = new LineCounter();
  let at: unknown = parseDocument(text, { lineCounter: lines }).contents;
  let line = 1;
  for (const key of path) {
    if (!isMap(at)) break;
    const pair = at.items.find((item) => isScalar(item.key) && String(item.key.value) === key);
    if (!pair || !isScalar(pair.key)) break;
    line = lines.linePos(pair.key.range?.[0] ?? 0).line;
    at = pair.value;
  }
  return `${file}, line ${line}: `;
}

function readDotEnv(path: string, problems: string[], warnings: string[]): Environment {
  const text = readText(path);
  if (text.kind === 'absent') return {};
  if (text.kind === 'unreadable') {
    problems.push(`${path}: ${text.why}`);
    return {};
  }
  if ((statSync(path).mode & 0o077) !== 0) warnings.push(`${path} can be read by others: chmod 600 ${path}`);
  const { values, unreadable } = readEnv(text.text);
  if (unreadable.length > 0)
    problems.push(`${path}, line ${unreadable.join(', ')}: expected NAME=value, or a comment after #`);
  return values;
}

/** Returns a reader of secrets. An empty variable counts as absent, so that a compose file may pass one through unset. */
function secretReader(env: Environment, home: string, problems: string[]): SecretReader {
  return (name) => {
    const path = env[`${name}_FILE`];
    if (!path) return env[name] || undefined;
    if (env[name]) {
      problems.push(`${name} and ${name}_FILE are both set: keep one`);
      return undefined;
    }
    const text = readText(resolve(home, path));
    if (text.kind === 'text') return text.text.trim();
    // A person may have put the key itself there: keep it out of the log.
    const named = path.includes('/') ? path : 'the file it names';
    problems.push(`${name}_FILE: ${named} ${text.kind === 'absent' ? 'does not exist' : text.why}`);
    return undefined;
  };
}

/** Whether a file is a credential of a systemd unit, in a folder that only the unit's account can enter. */
export function isUnitCredential(path: string): boolean {
  return path.startsWith('/run/credentials/');
}

/** Whether a secret is a credential of a unit that this process cannot read. */
function lacksCredential(env: Environment): boolean {
  const files = Object.entries(env).filter(([name]) => /^COUNTERFOIL_\w+_FILE$/.test(name));
  return files.some(([, path = '']) => isUnitCredential(path) && readText(path).kind !== 'text');
}

/** An absolute path; an empty one stays empty: nothing is set. */
function pathIn(folder: string, path: string): string {
  return path === '' ? '' : resolve(folder, path);
}

function withFiles<T extends { tlsCert: string; tlsKey: string }>(server: T, home: string): T {
  return { ...server, tlsCert: pathIn(home, server.tlsCert), tlsKey: pathIn(home, server.tlsKey) };
}

function receivesPlainHttp({ enabled, host, tlsCert, trustProxy }: Config['receiver']): boolean {
  return enabled && tlsCert === '' && trustProxy.length === 0 && !isLoopback(host);
}

function plainHttpWarning(host: string): string {
  return `receiver.host ${host} is reachable from other machines, and webhooks would arrive unencrypted: set receiver.tls_cert and tls_key, or name the TLS proxy before it in receiver.trust_proxy`;
}

function camelSections(values: FileConfig): Sections {
  const camel = (name: string): string => name.replace(/_(\w)/g, (_, letter: string) => letter.toUpperCase());
  const entries = Object.entries(values).flatMap(([name, keys]) =>
    typeof keys === 'string'
      ? []
      : [[name, Object.fromEntries(Object.entries(keys).map(([key, value]) => [camel(key), value]))]],
  );
  // The one place where the two spellings meet: the loop produces what the mapped type above describes.
  return Object.fromEntries(entries) as Sections;
}
