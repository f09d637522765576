import * as resultsJob from '../../jobs/results.ts';
import type { App } from '../app/app.ts';

/** Changes that arrive within this time are written together. */
const gatherMs = 1000;
/** After each write, the pause lasts this many times as long, so that a large batch is not rewritten for every webhook. */
const restFactor = 9;
/** The pause before a retry when the folder cannot be written. */
const afterFailureMs = 60_000;
/** A slower write is skipped on shutdown. */
const quickMs = 2000;

/** Keeps the result files of batches current with webhooks and look-ups, using at most a tenth of the time. */
export function createResults(
  app: App,
  { stopping, watched }: { stopping: AbortSignal; watched<T>(work: Promise<T>): Promise<T> },
) {
  const { clock, log } = app;
  let tookMs = 0;
  let notBefore = 0;
  let writing = false;

  async function write(): Promise<void> {
    const began = clock.monotonic();
    writing = true;
    const rest = await watched(resultsJob.run(app)).then(
      ({ files }) => {
        if (files.length > 0) tookMs = clock.monotonic() - began;
        return tookMs * restFactor;
      },
      (error: unknown) => {
        log.error({ err: error }, 'the results of batches could not be written; they are tried again');
        return afterFailureMs;
      },
    );
    writing = false;
    notBefore = clock.monotonic() + rest;
  }
  return {
    /** Writes due results once the pause is over. Never throws: results that were not written stay due. */
    async keep(): Promise<void> {
      await clock.sleep(Math.max(gatherMs, notBefore - clock.monotonic()), stopping);
      if (!stopping.aborted) await write();
    },
    /** Writes due results as the daemon ends, unless that may take long; the next start then does it. Never throws. */
    async last(): Promise<void> {
      if (!writing && tookMs <= quickMs) await write();
    },
  };
}
