import nodeModule from 'node:module';
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import type { TopLevelSpec } from 'vega-lite';
import type { Drawn, ThreadData } from './charts-thread.ts';

/** The thread that draws: takes one specification after another, and answers each with its picture. */
async function run(port: MessagePort, { compileCache }: ThreadData): Promise<void> {
  if (compileCache !== null) nodeModule.enableCompileCache(compileCache);
  const libraries = Promise.all([import('vega'), import('vega-lite')]);
  const tell = (drawn: Drawn): void => port.postMessage(drawn);
  port.on('message', (spec: TopLevelSpec) => {
    draw(libraries, spec).then(
      (svg) => tell({ kind: 'drawn', svg }),
      (error: unknown) =>
        tell({ kind: 'failed', message: error instanceof Error ? error.message : String(error) }),
    );
  });
  await libraries;
}

type Libraries = Promise<[typeof import('vega'), typeof import('vega-lite')]>;

async function draw(libraries: Libraries, spec: TopLevelSpec): Promise<string> {
  const [vega, lite] = await libraries;
  // The libraries log their own adjustments to the console; only errors are logged there.
  const logger = vega.logger(vega.Error);
  const compiled = lite.compile(spec, { logger }).spec;
  const view = new vega.View(vega.parse(compiled), { renderer: 'none', logger });
  try {
    return await view.toSVG();
  } finally {
    view.finalize();
  }
}

if (parentPort) await run(parentPort, workerData);
