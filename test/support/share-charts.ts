import { registerHooks } from 'node:module';

/** The arguments of a thread that plays many days or pairs: a thread of charts for each page would take a fifth of its time. */
export const workerArguments = [...process.execArgv, '--import', import.meta.url];

const shared = new URL('./shared-charts.ts', import.meta.url).href;
registerHooks({
  resolve: (specifier, context, nextResolve) =>
    specifier === './charts-thread.ts' && context.parentURL?.endsWith('/report/charts.ts')
      ? { url: shared, shortCircuit: true }
      : nextResolve(specifier, context),
});
