export type Redact = (text: string) => string;

const hidden = '[hidden]';

/**
 * Replaces secrets by value, in the spellings of JSON and URLs: a service may echo a key. Texts that are too short for
 * a key, or that may be account numbers, stay: replacing them would change what a reply says.
 */
export function createRedactor(secrets: readonly string[]): Redact {
  const known = new Set(secrets.filter(isTelling).flatMap(spellings));
  const longestFirst = [...known].toSorted((a, b) => b.length - a.length);
  return (text) => longestFirst.reduce((safe, secret) => safe.replaceAll(secret, hidden), text);
}

/** An account number with all but its last four digits replaced. */
export function maskAccount(account: string): string {
  return account.replace(/.(?=.{4})/gsu, '*');
}

/** The same for account numbers inside JSON, or inside a sentence that names them. */
export function maskAccounts(text: string): string {
  return text.replace(
    /(account_?number\\?["']?\s*[:=]\s*\\?["']?)([0-9]{5,20})/gi,
    (_, name: string, account: string) => `${name}${maskAccount(account)}`,
  );
}

function isTelling(secret: string): boolean {
  return secret.length >= 8 && !/^\d{1,20}$/.test(secret);
}

function spellings(secret: string): string[] {
  const inJson = JSON.stringify(secret).slice(1, -1);
  return [secret, inJson, inJson.replaceAll('/', '\\/'), encodeURIComponent(secret)];
}
