import { getCompileCacheDir } from 'node:module';
import { extname } from 'node:path';
import { Worker } from 'node:worker_threads';
import type { TopLevelSpec } from 'vega-lite';

/** The thread's start data: where compiled modules are cached, if anywhere. */
export type ThreadData = { compileCache: string | null };
export type Drawn = { kind: 'drawn'; svg: string } | { kind: 'failed'; message: string };

/** Draws in a thread of its own: loading the libraries alone would hold the event loop for a third of a second. */
export type ChartsThread = {
  /** Draws one picture at a time, as an `svg` element. Throws why it cannot be drawn. */
  svg(spec: TopLevelSpec): Promise<string>;
  end(): Promise<void>;
};

/** Starts the thread; the libraries load in the background. Call `end`, or the thread keeps the process alive. */
export function beginCharts(): ChartsThread {
  const workerData: ThreadData = { compileCache: getCompileCacheDir() ?? null };
  // The installed program is compiled: its files end in `.js`.
  const script = new URL(`./charts-worker${extname(import.meta.url)}`, import.meta.url);
  const worker = new Worker(script, { name: 'charts', workerData });
  let waiting: PromiseWithResolvers<string> | null = null;
  let broken: Error | null = null;
  const fail = (error: Error): void => {
    broken ??= error;
    waiting?.reject(broken);
  };
  worker.on('message', (drawn: Drawn) => {
    if (drawn.kind === 'drawn') waiting?.resolve(drawn.svg);
    else waiting?.reject(new Error(drawn.message));
  });
  worker.on('error', (error) => fail(error instanceof Error ? error : new Error(String(error))));
  worker.on('exit', (code) => fail(new Error(`the thread that draws ended with code ${code}`)));
  return {
    svg(spec) {
      if (broken) return Promise.reject(broken);
      waiting = Promise.withResolvers<string>();
      worker.postMessage(spec);
      return waiting.promise;
    },
    async end() {
      await worker.terminate();
    },
  };
}
