import type { IncomingMessage } from 'node:http';
import type { Clock } from '../../core/runtime/clock.ts';
import { holdersOf, rolesOf } from '../../core/settings/admin-checks.ts';
import type { Config } from '../../core/settings/settings.ts';
import { isLoopback } from '../../core/settings/settings-checks.ts';
import type { Role } from '../../core/settings/settings-schema.ts';
import { addressList, createSourceReader, plainAddress } from '../../watching/webhooks/receiver-address.ts';
import { askFor } from '../../words/who-may.ts';
import { createSessions } from './sessions.ts';
import { createGuessLimit, createTokens } from './tokens.ts';

/**
 * What a caller may do. `figures`: see what holds no bank details; every token may, and a caller on this machine
 * without one. The others are the roles of `admin.roles`: `read` shows bank details and reports.
 */
export type Right = 'figures' | Role;

/**
 * The caller: the holder of a token, a caller on this machine without one, or anybody else. `signedIn`: by the cookie of
 * a session, which a browser sends by itself.
 */
export type Caller =
  | { kind: 'token'; name: string; roles: readonly Role[]; signedIn: boolean }
  | { kind: 'local' }
  | { kind: 'nobody' };

export function hasRight(caller: Caller, right: Right): boolean {
  if (right === 'figures') return caller.kind !== 'nobody';
  return caller.kind === 'token' && caller.roles.includes(right);
}

/** A request that is turned away: 401 without a known token, 403 without the right, 421 for a foreign host, 429. */
export class RefusedRequest extends Error {
  readonly statusCode: 401 | 403 | 421 | 429;
  readonly fix: string;
  readonly retryAfterSeconds: number | null;

  constructor(
    statusCode: 401 | 403 | 421 | 429,
    said: { problem: string; fix: string; retryAfterSeconds?: number },
  ) {
    super(said.problem);
    this.statusCode = statusCode;
    this.fix = said.fix;
    this.retryAfterSeconds = said.retryAfterSeconds ?? null;
  }
}

type Request = Pick<IncomingMessage, 'headers' | 'socket' | 'method'> & IncomingMessage;

export type CallerAccess = ReturnType<typeof createAccess>;

const forwardingHeaders = ['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip', 'via'];

/** Decides who may do what on the admin server (docs/operations.md, Admin server). */
export function createAccess(deps: {
  admin: Pick<Config['admin'], 'host' | 'tlsCert' | 'trustProxy' | 'roles'>;
  tokens: Config['adminTokens'];
  clock: Pick<Clock, 'monotonic'>;
}) {
  const { admin } = deps;
  const tokens = createTokens(deps.tokens);
  const guesses = createGuessLimit(deps.clock);
  const sessions = createSessions(deps.clock);
  const isProxy = addressList(admin.trustProxy);
  const sourceOf = createSourceReader(isProxy);

  /** On this machine, and through no proxy: a proxy here would lend its own address to the whole world. */
  const isLocal = (request: Request): boolean => {
    const peer = plainAddress(request.socket.remoteAddress);
    if (!isLoopback(peer) || isProxy(peer)) return false;
    return forwardingHeaders.every((name) => request.headers[name] === undefined);
  };
  /** The caller's address; a trusted proxy's word counts. */
  const addressOf = (request: Request): string => sourceOf(request).address;

  /** The holder of a token. Guesses from `address` are limited, and a right token is no guess. Throws {@link RefusedRequest}. */
  function nameOf(token: string, address: string): string {
    const name = tokens.nameOf(token);
    if (name !== undefined) return name;
    const wait = guesses.waitSeconds(address);
    if (wait > 0) throw tooManyGuesses(wait);
    guesses.count(address);
    throw unknownToken();
  }
  const noTokenFor = (right: Right): RefusedRequest => (tokens.exist ? noToken(right) : noTokensAtAll(right));
  /** The people who have this role. */
  const holders = (role: Role): string[] => holdersOf(admin.roles, deps.tokens, role);
  const isSecure = (request: Request): boolean => sourceOf(request).protocol === 'https';
  return {
    addressOf,
    holders,
    nameOf,
    /** Begins a session for the holder of the token; returns its cookie. Throws {@link RefusedRequest}. */
    signIn: (request: Request, token: string): string =>
      sessions.begin(nameOf(token, addressOf(request)), { secure: isSecure(request) }),
    /** Ends the session of the request; returns the cookie that removes it. */
    signOut: (request: Request): string =>
      sessions.end(request.headers.cookie, { secure: isSecure(request) }),
    /** Returns the caller. Throws {@link RefusedRequest} for a foreign host, an unknown token, a cross-site POST and plain HTTP. */
    identify(request: Request): Caller {
      const local = isLocal(request);
      if ((request.headersDistinct.host ?? []).length > 1) throw foreignHost();
      if (local && !isLoopback(hostNameOf(request.headers.host))) throw foreignHost();
      if (!local && admin.tlsCert === '' && sourceOf(request).protocol !== 'https') throw unencrypted();
      const changes = request.method !== 'GET' && request.method !== 'HEAD';
      if (changes && isCrossSite(request)) throw crossSite();
      const token = tokenIn(request.headers.authorization);
      const signedIn = token === null ? sessions.nameOf(request.headers.cookie) : undefined;
      if (token === null && signedIn === undefined) return { kind: local ? 'local' : 'nobody' };
      // A browser sends a cookie by itself: then it must also say that the page is of this server.
      if (signedIn !== undefined && changes && !saysItsSite(request)) throw crossSite();
      const name = signedIn ?? nameOf(token ?? '', addressOf(request));
      return { kind: 'token', name, roles: rolesOf(admin.roles, name), signedIn: signedIn !== undefined };
    },
    /** Throws {@link RefusedRequest} unless the caller has the right. */
    demand(caller: Caller, right: Right): void {
      if (hasRight(caller, right)) return;
      if (caller.kind === 'token' && right !== 'figures') throw noRight(caller.name, right, holders(right));
      throw noTokenFor(right);
    },
    noTokenFor,
  };
}

/** The host's name in a Host header, without its port; empty for none. */
function hostNameOf(host: string | undefined): string {
  return (host ?? '').replace(/:\d+$/, '').toLowerCase();
}

/** The token of an Authorization header: `Bearer TOKEN`, or `Basic` with any name and the token as the password. */
function tokenIn(header: string | undefined): string | null {
  const [, scheme = '', value = ''] = /^(\S+) +(\S+)\s*$/.exec(header ?? '') ?? [];
  if (/^bearer$/i.test(scheme)) return value;
  if (!/^basic$/i.test(scheme)) return header === undefined ? null : '';
  const text = Buffer.from(value, 'base64').toString('utf8');
  return text.includes(':') ? text.slice(text.indexOf(':') + 1) : '';
}

/**
 * Browsers say where a request comes from. A program that sends neither header holds its token itself, and no page can
 * make it send one.
 */
function isCrossSite({ headers }: Request): boolean {
  const site = headers['sec-fetch-site'];
  if (site !== undefined && site !== 'same-origin' && site !== 'none') return true;
  const { origin, host = '' } = headers;
  if (origin === undefined) return false;
  return !URL.canParse(origin) || new URL(origin).host !== host.toLowerCase();
}

function saysItsSite({ headers }: Request): boolean {
  return headers['sec-fetch-site'] === 'same-origin' || headers.origin !== undefined;
}

function foreignHost(): RefusedRequest {
  return new RefusedRequest(421, {
    problem: 'the Host header names another machine',
    fix: 'ask for localhost or 127.0.0.1; behind a proxy, name it in admin.trust_proxy and send X-Forwarded-For',
  });
}

function unencrypted(): RefusedRequest {
  return new RefusedRequest(403, {
    problem: 'a request from another machine came without TLS',
    fix: 'use the address of the TLS proxy, which sends X-Forwarded-Proto: https, or set admin.tls_cert and tls_key',
  });
}

function crossSite(): RefusedRequest {
  return new RefusedRequest(403, {
    problem: 'the request comes from another site',
    fix: 'use the pages of this server; behind a proxy, keep the Host header',
  });
}

function tooManyGuesses(retryAfterSeconds: number): RefusedRequest {
  return new RefusedRequest(429, {
    problem: 'too many unknown tokens',
    fix: `wait ${retryAfterSeconds} s`,
    retryAfterSeconds,
  });
}

function unknownToken(): RefusedRequest {
  return new RefusedRequest(401, {
    problem: 'the token is unknown',
    fix: 'send a token of COUNTERFOIL_ADMIN_TOKENS as Authorization: Bearer TOKEN, without its name',
  });
}

function noToken(right: Right): RefusedRequest {
  return new RefusedRequest(401, {
    problem: `this needs a token (${rightWords[right]})`,
    fix: 'send a token of COUNTERFOIL_ADMIN_TOKENS as Authorization: Bearer TOKEN, without its name',
  });
}

function noTokensAtAll(right: Right): RefusedRequest {
  return new RefusedRequest(403, {
    problem: `this needs a token (${rightWords[right]}), and there is none`,
    fix: 'set COUNTERFOIL_ADMIN_TOKENS (name:token,…) and start serve again',
  });
}

function noRight(name: string, right: Role, holders: readonly string[]): RefusedRequest {
  return new RefusedRequest(403, {
    problem: `the token of ${name} has no right to this (${rightWords[right]})`,
    fix: askFor(right, holders),
  });
}

const rightWords: Record<Right, string> = {
  figures: 'reading over the API, from another machine, or through a proxy',
  read: 'bank details and reports',
  drop: 'dropping files',
  approve: 'approving a batch',
  decide: 'a decision',
};
