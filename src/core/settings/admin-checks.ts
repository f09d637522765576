import { isLoopback } from './settings-checks.ts';
import { type Role, roleNames } from './settings-schema.ts';

type Tokens = readonly { name: string; token: string }[];

type Roles = Record<string, readonly Role[]>;

/** What the holder of a token may do. Two people differ by more than the case of their names. */
export function rolesOf(roles: Roles, name: string): readonly Role[] {
  return Object.entries(roles).find(([one]) => isSamePerson(one, name))?.[1] ?? roleNames;
}

/** The people with a token who may do what a role allows. */
export function holdersOf(roles: Roles, tokens: Pick<Tokens[number], 'name'>[], role: Role): string[] {
  const names = new Set(tokens.map(({ name }) => name));
  return [...names].filter((name) => rolesOf(roles, name).includes(role));
}

function isSamePerson(one: string, other: string): boolean {
  return one.toLowerCase() === other.toLowerCase();
}

/** Why the admin server may not listen where other machines reach it; null where it may. */
export function exposureProblem(
  {
    enabled,
    host,
    tlsCert,
    trustProxy,
  }: {
    enabled: boolean;
    host: string;
    tlsCert: string;
    trustProxy: readonly string[];
  },
  tokens: number,
): string | null {
  if (!enabled || isLoopback(host)) return null;
  const lacks = [
    ...(tokens === 0 ? ['set COUNTERFOIL_ADMIN_TOKENS (name:token,…)'] : []),
    ...(tlsCert === '' && trustProxy.length === 0
      ? ['set admin.tls_cert and tls_key, or name the TLS proxy before it in admin.trust_proxy']
      : []),
  ];
  if (lacks.length === 0) return null;
  return `admin.host: ${host} is reachable from other machines: ${lacks.join('; and ')}; or set admin.host to 127.0.0.1`;
}

/** What is odd about roles and tokens, yet no reason to refuse the configuration. */
export function adminWarnings(roles: Roles, tokens: Tokens): string[] {
  return [...rolesOfNobody(roles, tokens), ...shortTokens(tokens)];
}

/** A role under a misspelt name leaves the token of the right name with all roles. */
function rolesOfNobody(roles: Roles, tokens: Tokens): string[] {
  const known = tokens.map(({ name }) => name);
  return Object.keys(roles)
    .filter((name) => !known.some((one) => isSamePerson(one, name)))
    .map((name) => `admin.roles names ${name}, and COUNTERFOIL_ADMIN_TOKENS has no token of that name`);
}

/** No limit on guesses protects a token that can be guessed. */
function shortTokens(tokens: Tokens): string[] {
  return tokens
    .filter(({ token }) => token.length < 16)
    .map(
      ({ name }) =>
        `the admin token of ${name} is short enough to guess: openssl rand -hex 24 makes a long one`,
    );
}
