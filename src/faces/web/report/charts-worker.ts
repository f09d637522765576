import nodeModule from 'node:module';
import { type MessagePort, parentPort, workerData } from 'node:worker_threads';
import type { TopLevelSpec } from 'vega-lite';
import type { Drawn, ThreadData } from './charts-thread.ts';

/** The thread that draws: takes one specification after another, and answers each with its picture. */
async function run(port: MessagePort, { compileCache }: ThreadData): Promise<void> {
  if (compileCache !== null) nodeModule.enableCompileCache(compileCache);
  const libraries = loadLibraries();
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

type Libraries = Promise<{ vega: typeof import('vega'); vegaLite: typeof import('vega-lite') }>;

/** Loads each library from its one bundled file, a quarter of the time of its hundreds of modules. They become global names. */
async function loadLibraries(): Libraries {
  const bundle = (name: string): string => new URL(`${name}.min.js`, import.meta.resolve(name)).href;
  await import(bundle('vega'));
  await import(bundle('vega-lite'));
  return globalThis as typeof globalThis & Awaited<Libraries>;
}

async function draw(libraries: Libraries, spec: TopLevelSpec): Promise<string> {
  const { vega, vegaLite } = await libraries;
  // The libraries log their own adjustments to the console; only errors are logged there.
  const logger = vega.logger(vega.Error);
  const compiled = vegaLite.compile(spec, { logger }).spec;
  const view = new vega.View(vega.parse(compiled), { renderer: 'none', logger });
  try {
    return await view.toSVG();
  } finally {
    view.finalize();
  }
}

if (parentPort) await run(parentPort, workerData);
