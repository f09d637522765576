import { enableCompileCache, registerHooks } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Place } from './defect.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));

// Preloaded into each thread of a run that is to have a defect: its files are read with the defect in them. All others
// are those of the product, whose compiled code the runs share.
enableCompileCache(join(root, 'node_modules', '.cache', 'counterfoil-defects'));
const places: Place[] = JSON.parse(process.env.DEFECT ?? '');
const byFile = Map.groupBy(places, ({ file }) => pathToFileURL(join(root, file)).href);
registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context);
    const own = byFile.get(url);
    if (!own) return loaded;
    const text = typeof loaded.source === 'string' ? loaded.source : new TextDecoder().decode(loaded.source);
    return {
      ...loaded,
      source: own.reduce((sofar, { find, replace }) => sofar.replace(find, () => replace), text),
    };
  },
});
