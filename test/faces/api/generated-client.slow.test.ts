import { execFileSync, spawn } from 'node:child_process';
import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { root } from '../../../config/docs/pages.ts';
import { batchOf } from '../../support/cli.ts';
import { temporaryFolder } from '../../support/temporary-folder.ts';
import { serveApi, tokenOf } from './support.ts';

/** What a stranger writes with the types that a generator makes of the document. */
const program = `
import createClient from 'openapi-fetch';
import type { paths } from './api.js';

const { URL: baseUrl = '', DROP = '', APPROVE = '', READ = '', FILE = '' } = process.env;
const as = (token: string) => createClient<paths>({ baseUrl, headers: { authorization: \`Bearer \${token}\` } });
const must = <T>({ data, error }: { data?: T; error?: unknown }): T => {
  if (data === undefined) throw new Error(JSON.stringify(error));
  return data;
};

const posted = must(await as(DROP).POST('/batches', {
  params: { query: { name: 'pay.csv', rows: 2 } },
  body: FILE,
  bodySerializer: (body) => body,
  headers: { 'content-type': 'text/csv' },
}));
if (!('batch' in posted)) throw new Error('only checked');
const path = { batch: posted.batch };
const digest = posted.digest ?? '';
must(await as(APPROVE).POST('/batches/{batch}/approve', { params: { path }, body: { digest } }));
for (;;) {
  const { state } = must(await as(READ).GET('/batches/{batch}', { params: { path } }));
  if (state === 'done') break;
  await new Promise((resolve) => setTimeout(resolve, 100));
}
const { payouts } = must(await as(READ).GET('/payouts', { params: { query: { batch: posted.batch } } }));
const report = must(await as(READ).GET('/batches/{batch}/results.csv', { params: { path }, parseAs: 'text' }));
console.log(JSON.stringify({ states: payouts.map(({ state }) => state), lines: report.trim().split('\\n').length }));
`;

it('is driven by a client that openapi-typescript and openapi-fetch make: submit, approve, follow to paid, report', async () => {
  const { home, url, ask } = await serveApi({ settleMs: 1 }, { COUNTERFOIL_SUBMISSION_APPROVAL: 'always' });
  const folder = temporaryFolder();
  const files = {
    // The generator needs a TypeScript before 7, which this project does not have.
    'package.json': JSON.stringify({ private: true, type: 'module' }),
    'openapi.json': await (await ask('eve', '/openapi.json')).text(),
    'program.ts': program,
    'tsconfig.json': JSON.stringify({
      compilerOptions: { strict: true, module: 'nodenext', target: 'es2024', types: ['node'] },
      files: ['program.ts'],
    }),
  };
  for (const [name, text] of Object.entries(files)) writeFileSync(join(folder, name), text);
  const run = (command: string, ...args: string[]): string =>
    execFileSync(command, args, { cwd: folder, encoding: 'utf8', env: { ...process.env, NODE_OPTIONS: '' } });
  run('npm', 'install', '--no-audit', '--save-exact', 'openapi-typescript@7.13.0', 'typescript@5.9.3');
  mkdirSync(join(folder, 'node_modules/@types'), { recursive: true });
  for (const name of ['openapi-fetch', 'openapi-typescript-helpers', '@types/node', 'undici-types'])
    symlinkSync(join(root, 'node_modules', name), join(folder, 'node_modules', name));
  run('node_modules/.bin/openapi-typescript', 'openapi.json', '--output', 'api.ts');
  run('node_modules/.bin/tsc', '--preserveSymlinks', '--skipLibCheck');
  const settling = setInterval(() => void home.sandbox.settleAll(), 200);
  const child = spawn(process.execPath, ['program.js'], {
    cwd: folder,
    env: {
      ...{ URL: `${url}/api/v1`, FILE: batchOf(2) },
      ...{ DROP: tokenOf('dayo'), APPROVE: tokenOf('ada'), READ: tokenOf('rita') },
    },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  let out = '';
  for await (const text of child.stdout) out += String(text);
  clearInterval(settling);
  expect(JSON.parse(out)).toEqual({ states: ['success', 'success'], lines: 3 });
}, 300_000);
