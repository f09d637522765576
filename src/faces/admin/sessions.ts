import { createHash, randomBytes } from 'node:crypto';
import type { Clock } from '../../core/runtime/clock.ts';

/** A session ends after so long without a request, and in any case after so long. */
const idleMs = 30 * 60_000;
const longestMs = 12 * 3_600_000;
/** More people never sign in at once; the one that was longest idle is signed out for another. */
const mostSessions = 500;

const cookieName = 'counterfoil_session';

type Session = { name: string; beganMs: number; usedMs: number };

/**
 * Who signed in with a token on a page. Kept in this process alone: a restart, and a change of the tokens, sign everybody
 * out. Only the digest of a session's key is kept.
 */
export function createSessions(clock: Pick<Clock, 'monotonic'>) {
  const sessions = new Map<string, Session>();
  const find = (header: string | undefined): { key: string; session: Session } | undefined => {
    const value = cookieIn(header);
    if (value === undefined) return undefined;
    const key = digestOf(value);
    const session = sessions.get(key);
    if (!session) return undefined;
    const now = clock.monotonic();
    if (now - session.usedMs <= idleMs && now - session.beganMs <= longestMs) return { key, session };
    sessions.delete(key);
    return undefined;
  };
  return {
    /** Begins a session; returns its cookie. `secure`: the page came over TLS. */
    begin(name: string, { secure }: { secure: boolean }): string {
      const value = randomBytes(32).toString('base64url');
      const now = clock.monotonic();
      const [idlest] = [...sessions].toSorted(([, a], [, b]) => a.usedMs - b.usedMs);
      if (sessions.size >= mostSessions && idlest) sessions.delete(idlest[0]);
      sessions.set(digestOf(value), { name, beganMs: now, usedMs: now });
      return cookieOf(value, longestMs / 1000, secure);
    },
    /** The name behind a Cookie header, and that its session was used now. */
    nameOf(header: string | undefined): string | undefined {
      const found = find(header);
      if (found) found.session.usedMs = clock.monotonic();
      return found?.session.name;
    },
    /** Ends the session; returns the cookie that removes it. */
    end(header: string | undefined, { secure }: { secure: boolean }): string {
      const found = find(header);
      if (found) sessions.delete(found.key);
      return cookieOf('', 0, secure);
    },
  };
}

function cookieOf(value: string, seconds: number, secure: boolean): string {
  return `${cookieName}=${value}; Path=/; Max-Age=${seconds}; HttpOnly; SameSite=Strict${secure ? '; Secure' : ''}`;
}

function cookieIn(header: string | undefined): string | undefined {
  const found = (header ?? '').split(';').map((part) => part.trim().split('='));
  return found.find(([name, value]) => name === cookieName && /^[\w-]{43}$/.test(value ?? ''))?.[1];
}

function digestOf(value: string): string {
  return createHash('sha256').update(value).digest('base64');
}
