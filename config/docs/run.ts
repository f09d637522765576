import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeExamples } from './examples.ts';
import { generatedPages, root } from './pages.ts';
import { drawPictures } from './pictures.ts';

/**
 * `npm run docs`: writes the generated parts of pages, then runs the commands that pages show and writes what they print.
 * `-- --pages` stops after the first step; `-- --pictures` also draws the README's pictures, with Chromium.
 */
const options = process.argv.slice(2);
for (const [path, text] of generatedPages()) writeFileSync(join(root, path), text);
if (!options.includes('--pages')) await writeExamples();
if (options.includes('--pictures')) await drawPictures();
