import { enableCompileCache, registerHooks } from 'node:module';
import { join } from 'node:path';
import { fileURLToPath, pathToFileURL } from 'node:url';
import type { Place } from './apply.ts';

const root = fileURLToPath(new URL('../../../', import.meta.url));

// Preloaded into each thread of a run that is to have a defect: the one file is read with the defect in it. All others
// are those of the product, whose compiled code the runs share.
enableCompileCache(join(root, 'node_modules', '.cache', 'counterfoil-defects'));
const { file, find, replace }: Place = JSON.parse(process.env.DEFECT ?? '');
const place = pathToFileURL(join(root, file)).href;
registerHooks({
  load(url, context, nextLoad) {
    const loaded = nextLoad(url, context);
    if (url !== place) return loaded;
    const text = typeof loaded.source === 'string' ? loaded.source : new TextDecoder().decode(loaded.source);
    return { ...loaded, source: text.replace(find, () => replace) };
  },
});
