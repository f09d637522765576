import type { Server } from 'node:https';
import type { Clock } from '../runtime/clock.ts';
import type { Logger } from '../runtime/logger.ts';
import { readTlsPair, type TlsFiles, type TlsPair, TlsProblem, validityProblem } from './tls.ts';

/** Nothing older than TLS 1.2. */
export const oldestTls = 'TLSv1.2';

const everyMs = 20_000;
/** Two files are rarely written at one instant: a pair that does not match is read again before it is called broken. */
const settleMs = 2000;
const dayMs = 86_400_000;
const warnBeforeMs = 14 * dayMs;

export type TlsRenewal = {
  /** Reads the files now and uses them when they changed and are in order. Never throws. */
  reload(): Promise<void>;
  /** Stops looking at the files. */
  stop(): Promise<void>;
};

/**
 * Uses a renewed certificate without a restart: the files are read every twenty seconds, and on {@link TlsRenewal.reload}.
 * A pair that is broken or not valid today is not used: the old one stays, and a warning says why.
 */
export function renewTls(deps: {
  server: Pick<Server, 'setSecureContext'>;
  files: TlsFiles;
  pair: TlsPair;
  clock: Clock;
  log: Logger;
}): TlsRenewal {
  const { server, files, clock, log } = deps;
  const stopped = new AbortController();
  let current = deps.pair;
  let warned = '';

  /** Once for each new thing to say, and once a day while it stays so. */
  const warn = (text: string): void => {
    const told = `${Math.floor(clock.now() / dayMs)} ${text}`;
    if (told !== warned) log.warn(text);
    warned = told;
  };
  const read = async (): Promise<TlsPair | TlsProblem> => {
    try {
      const pair = await readTlsPair(files);
      const problem = isSame(pair, current) ? null : validityProblem(pair, files.certFile, clock.now());
      return problem ? new TlsProblem(problem) : pair;
    } catch (error) {
      return error instanceof TlsProblem ? error : new TlsProblem(String(error));
    }
  };
  const reload = async (): Promise<void> => {
    let found = await read();
    if (found instanceof TlsProblem) {
      await clock.sleep(settleMs, stopped.signal);
      found = await read();
    }
    if (found instanceof TlsProblem)
      return warn(`${found.message}. The receiver keeps the certificate it has, ${validUntil(current)}`);
    if (!isSame(found, current)) {
      server.setSecureContext({ cert: found.cert, key: found.key, minVersion: oldestTls });
      current = found;
      log.info(`the receiver uses the renewed certificate, ${validUntil(current)}`);
    }
    const late = ageProblem(current, files.certFile, clock.now());
    if (late) warn(late);
  };
  const watch = async (): Promise<void> => {
    while (!stopped.signal.aborted) {
      await clock.sleep(everyMs, stopped.signal);
      if (!stopped.signal.aborted) await reload();
    }
  };
  const late = ageProblem(current, files.certFile, clock.now());
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

function isSame(a: TlsPair, b: TlsPair): boolean {
  return a.cert === b.cert && a.key === b.key;
}

function validUntil({ validTo }: TlsPair): string {
  return `valid until ${new Date(validTo).toISOString()}`;
}

/** What is to be said of a certificate in use: that it is not valid, or soon will not be. */
function ageProblem(pair: TlsPair, certFile: string, nowMs: number): string | null {
  const problem = validityProblem(pair, certFile, nowMs);
  if (problem) return `${problem}: the service will refuse to deliver webhooks until it is renewed`;
  return pair.validTo - nowMs < warnBeforeMs
    ? `receiver.tls_cert: the certificate in ${certFile} expires soon (${validUntil(pair)}): renew it`
    : null;
}
