import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { apiText } from './api-page.ts';
import { commandsText } from './commands-page.ts';
import { configurationText } from './configuration-page.ts';
import { jsonText } from './json-page.ts';
import { withRegion } from './region.ts';
import { schemaPicture } from './schema-picture.ts';

/** The project's folder. */
export const root = fileURLToPath(new URL('../..', import.meta.url));

const schema = await schemaPicture();

/** The pages that hold a generated part, by their path, as they should be. */
export function generatedPages(): Map<string, string> {
  const parts: [path: string, text: string][] = [
    ['docs/api.md', apiText()],
    ['docs/architecture.md', schema],
    ['docs/commands.md', commandsText()],
    ['docs/configuration.md', configurationText()],
    ['docs/json.md', jsonText()],
  ];
  return new Map(
    parts.map(([path, text]) => [path, withRegion(readFileSync(join(root, path), 'utf8'), text)]),
  );
}
