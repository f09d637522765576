import * as resultsJob from '../../jobs/results.ts';
import type { App } from '../app/app.ts';

/** What is heard within so long of each other goes into one writing. */
const gatherMs = 1000;
/** After a writing nothing is written for so many times as long: a large batch is not written again and again for each webhook. */
const restFactor = 9;
/** A folder that cannot be written is tried again after this. */
const afterFailureMs = 60_000;
/** At the end only what is known to be quick is written: nobody who stops a daemon waits for a million rows. */
const quickMs = 2000;

export type Results = {
  /** Writes what is due once its time has come. Never throws: what was not written stays due. */
  keep(): Promise<void>;
  /** Writes what is due as the daemon ends, unless that may take long: the next start then does. Never throws. */
  last(): Promise<void>;
};

/** Keeps the result files of batches true to what webhooks and look-ups changed, in at most a tenth of the time. */
export function createResults(
  app: App,
  { stopping, watched }: { stopping: AbortSignal; watched<T>(work: Promise<T>): Promise<T> },
): Results {
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
    async keep() {
      await clock.sleep(Math.max(gatherMs, notBefore - clock.monotonic()), stopping);
      if (!stopping.aborted) await write();
    },
    async last() {
      if (!writing && tookMs <= quickMs) await write();
    },
  };
}
