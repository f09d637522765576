import type { Mode } from '../domain/payout.ts';
import type { FileConfig } from './settings-schema.ts';

/** The credentials of one mode. During a rotation a key has two values: the first signs, each verifies. */
export type ModeKeys = {
  secretKeys: string[];
  publicKeys: string[];
  encryptionKeys: string[];
  webhookKeys: string[];
};

/** Returns a secret by its variable's name. It collects problems for the caller to print, never the value. */
export type SecretReader = (name: string) => string | undefined;

/** Reads one mode's keys; undefined when none is set. A key that belongs to the other mode is a problem (P24). */
export function readModeKeys(mode: Mode, secret: SecretReader, problems: string[]): ModeKeys | undefined {
  const read = (kind: string): string[] => {
    const name = `COUNTERFOIL_${mode.toUpperCase()}_${kind}_KEY`;
    const values = (secret(name) ?? '').split(',').flatMap((value) => value.trim() || []);
    const claimed = values.map((value) => /^(?:[a-z]+[_-])?(test|live)[_-]/i.exec(value)?.[1]?.toLowerCase());
    const stranger = claimed.find((other) => other !== undefined && other !== mode);
    if (stranger) problems.push(`${name}: this is a ${stranger} key; put the ${mode} key there`);
    return values;
  };
  const keys: ModeKeys = {
    secretKeys: read('SECRET'),
    publicKeys: read('PUBLIC'),
    encryptionKeys: read('ENCRYPTION'),
    webhookKeys: read('WEBHOOK'),
  };
  return Object.values(keys).some((values) => values.length > 0) ? keys : undefined;
}

/** Parses `name:token,…`; the name identifies the approver. */
export function readAdminTokens(secret: SecretReader, problems: string[]): { name: string; token: string }[] {
  const entries = (secret('COUNTERFOIL_ADMIN_TOKENS') ?? '')
    .split(',')
    .flatMap((entry) => entry.trim() || []);
  return entries.flatMap((entry, index) => {
    const at = entry.indexOf(':');
    if (at > 0 && at < entry.length - 1) return { name: entry.slice(0, at), token: entry.slice(at + 1) };
    problems.push(`COUNTERFOIL_ADMIN_TOKENS: entry ${index + 1}: expected name:token`);
    return [];
  });
}

/** The variable that holds the password of `alerts.smtp_url`. */
export const smtpPasswordName = 'COUNTERFOIL_ALERTS_SMTP_PASSWORD';

/** A user of the mail server needs the password, and a password a user. */
export function checkSmtpUser(url: string, password: string | undefined, problems: string[]): void {
  const user = URL.canParse(url) ? new URL(url).username : '';
  if (user !== '' && password === undefined)
    problems.push(`alerts.smtp_url names a user: set ${smtpPasswordName} in the environment or .env`);
  if (user === '' && password !== undefined)
    problems.push(`${smtpPasswordName} is set, but alerts.smtp_url names no user: smtps://user@host:465`);
}

/** The variable that holds the secret with which events are signed. */
export const eventsSecretName = 'COUNTERFOIL_EVENTS_SECRET';

/** Standard Webhooks: `whsec_` and 24 to 64 bytes as base64. The addresses that are signed for need it. */
export function checkEventsSecret(
  { events, submission }: Pick<FileConfig, 'events' | 'submission'>,
  secret: string | undefined,
  problems: string[],
): void {
  const signed = { 'events.url': events.url, 'submission.approval_url': submission.approval_url };
  const [name] = Object.entries(signed).flatMap(([key, url]) => (url === '' ? [] : key));
  if (name !== undefined && secret === undefined)
    problems.push(`${name} is set: set ${eventsSecretName} in the environment or .env`);
  if (secret === undefined) return;
  const bytes = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(secret)?.[1] ?? '';
  const length = Buffer.from(bytes, 'base64').length;
  if (length < 24 || length > 64)
    problems.push(
      `${eventsSecretName}: expected whsec_ and 24 to 64 bytes as base64: echo "whsec_$(openssl rand -base64 32)"`,
    );
}

/** The path and query of an address that nobody must guess, as written. */
export function pathsOf(url: string): string[] {
  if (!URL.canParse(url)) return [];
  const { pathname, search } = new URL(url);
  return [`${pathname}${search}`, search].filter((text) => text.length > 1);
}

/** The password inside an address, both as written and percent-decoded. */
export function passwordsOf(url: string): string[] {
  if (!URL.canParse(url)) return [];
  const { password, searchParams } = new URL(url);
  const given = [password, searchParams.get('password') ?? ''].filter((text) => text !== '');
  return given.flatMap((text) => [text, decoded(text)]);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
