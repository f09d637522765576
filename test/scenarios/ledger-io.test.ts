import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import Database from 'better-sqlite3';
import { expect, it } from 'vitest';
import type { Home } from '../support/cli.ts';
import { clean, prepared, restartsCleanly, rows } from './failing-ledger.ts';

/** What `submit` runs, in a process of its own and on a ledger that may grow by so many pages only. */
async function submitWithin(home: Home, pages: number): Promise<string> {
  const root = fileURLToPath(new URL('../../', import.meta.url));
  const from = (name: string): string => JSON.stringify(join(root, name));
  const script = `
    import * as submitJob from ${from('jobs/submit.ts')};
    import { openApp } from ${from('src/app/app.ts')};
    import { loadConfig } from ${from('src/core/settings/settings.ts')};
    import { readEnvironment } from ${from('src/core/settings/environment.ts')};
    import { createLogger } from ${from('src/core/runtime/logger.ts')};
    const { config } = loadConfig({ cwd: process.cwd(), env: readEnvironment() });
    const app = await openApp('whole', { config, log: createLogger({ quiet: true }), maxPageCount: ${pages}, kind: 'submit' });
    await submitJob.run(app).then(() => console.log('all sent'), (error) => console.log(error.code));
    process.exit(1);`;
  const file = home.put('submit-within.mjs', script);
  const child = spawn(process.execPath, ['--no-warnings', file], {
    cwd: home.dir,
    env: { ...clean(), ...home.env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let out = '';
  child.stdout.on('data', (chunk: Buffer) => {
    out += chunk;
  });
  await new Promise((resolve) => child.on('close', resolve));
  return out.trim();
}

it('P12: a ledger that is full in the middle of sending stops it; what was answered is unknown or recorded', async () => {
  const home = await prepared();
  const raw = new Database(join(home.dir, 'data', 'ledger.db'));
  const pages = Number(raw.pragma('page_count', { simple: true }));
  raw.close();
  expect(await submitWithin(home, pages + 6)).toBe('SQLITE_FULL');
  const sent = home.sandbox.requests.posts;
  expect(sent, 'it had begun').toBeGreaterThan(0);
  expect(sent, 'it had not ended').toBeLessThan(rows);
  await restartsCleanly(home, 'full');
});
