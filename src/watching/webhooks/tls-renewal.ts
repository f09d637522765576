import type { Server } from 'node:https';
import type { Clock } from '../../core/runtime/clock.ts';
import type { Logger } from '../../core/runtime/logger.ts';
import {
  readTlsPair,
  type TlsFiles,
  type TlsPair,
  TlsProblem,
  type TlsSection,
  validityProblem,
  warnDays,
} from './tls.ts';

/** Only TLS 1.2 and newer. */
export const oldestTls = 'TLSv1.2';

const everyMs = 20_000;
/** Two files are rarely replaced together: a pair that does not match is read again before it counts as broken. */
const settleMs = 2000;
const dayMs = 86_400_000;

/** How the log names each server, and what an expired certificate means for it. */
const servers: Record<TlsSection, { name: string; refusal: string }> = {
  receiver: { name: 'the receiver', refusal: 'the service will refuse to deliver webhooks' },
  admin: { name: 'the admin server', refusal: 'browsers and monitors will refuse it' },
};

export type TlsRenewal = {
  /** Reads the files now and uses them if they changed and are valid. Never throws. */
  reload(): Promise<void>;
  /** Stops checking the files. */
  stop(): Promise<void>;
};

/**
 * Uses a renewed certificate without a restart: reads the files every twenty seconds, and on {@link TlsRenewal.reload}.
 * A broken pair, or one not valid today, is not used: the old one stays, and a warning says why.
 */
export function renewTls(deps: {
  server: Pick<Server, 'setSecureContext'>;
  files: TlsFiles;
  pair: TlsPair;
  clock: Clock;
  log: Logger;
}): TlsRenewal {
  const { server, files, clock, log } = deps;
  const { name } = servers[files.section ?? 'receiver'];
  const stopped = new AbortController();
  let current = deps.pair;
  let warned = '';

  /** Warns once for each new text, and once a day while it stays the same. */
  const warn = (text: string): void => {
    const line = `${Math.floor(clock.now() / dayMs)} ${text}`;
    if (line !== warned) log.warn(text);
    warned = line;
  };
  const read = async (): Promise<TlsPair | TlsProblem> => {
    try {
      const pair = await readTlsPair(files);
      const problem = isSame(pair, current) ? null : validityProblem(pair, files, clock.now());
      return problem ? new TlsProblem(problem) : pair;
    } catch (error) {
      return error instanceof TlsProblem ? error : new TlsProblem(String(error));
    }
  };
  const reload = async (): Promise<void> => {
    let next = await read();
    if (next instanceof TlsProblem) {
      await clock.sleep(settleMs, stopped.signal);
      next = await read();
    }
    if (next instanceof TlsProblem)
      return warn(`${next.message}. ${sentence(name)} keeps the certificate it has, ${validUntil(current)}`);
    if (!isSame(next, current)) {
      server.setSecureContext({ cert: next.cert, key: next.key, minVersion: oldestTls });
      current = next;
      log.info(`${name} uses the renewed certificate, ${validUntil(current)}`);
    }
    const late = ageProblem(current, files, clock.now());
    if (late) warn(late);
  };
  const watch = async (): Promise<void> => {
    while (!stopped.signal.aborted) {
      await clock.sleep(everyMs, stopped.signal);
      if (!stopped.signal.aborted) await reload();
    }
  };
  const late = ageProblem(current, files, clock.now());
  if (late) warn(late);
  const watching = watch();
  return {
    reload,
    async stop() {
      stopped.abort();
      await watching;
    },
  };
}

function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function isSame(a: TlsPair, b: TlsPair): boolean {
  return a.cert === b.cert && a.key === b.key;
}

function validUntil({ validTo }: TlsPair): string {
  return `valid until ${new Date(validTo).toISOString()}`;
}

/** The warning about a certificate in use that is not valid, or soon will not be; null if there is none. */
function ageProblem(pair: TlsPair, files: TlsFiles, nowMs: number): string | null {
  const { certFile, section = 'receiver' } = files;
  const problem = validityProblem(pair, files, nowMs);
  if (problem) return `${problem}: ${servers[section].refusal} until it is renewed`;
  return pair.validTo - nowMs < warnDays * dayMs
    ? `${section}.tls_cert: the certificate in ${certFile} expires soon (${validUntil(pair)}): renew it`
    : null;
}
