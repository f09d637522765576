import { execFileSync } from 'node:child_process';
import { chmodSync, cpSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { exactDependencies } from './exact-dependencies.ts';

/**
 * `npm run pack [-- FOLDER]`: makes `counterfoil-VERSION.tgz`, which `npm install --global` turns into a command. Node
 * strips no types below `node_modules`, so the tarball holds JavaScript in the places of the sources, with its types.
 */

const root = fileURLToPath(new URL('../..', import.meta.url));
const files = [
  'CHANGELOG.md',
  'LICENSE',
  'README.md',
  'config/counterfoil.example.yaml',
  'config/deploy',
  'data/samples',
  'docs',
];
const fieldsForUsers = [
  'name',
  'version',
  'private',
  'description',
  'license',
  'type',
  'bin',
  'exports',
  'engines',
];

const readJson = (name: string): unknown => JSON.parse(readFileSync(join(root, name), 'utf8'));

/** Fills the folder with what the tarball holds. */
function stage(folder: string): void {
  const compiler = join(root, 'node_modules/.bin/tsc');
  execFileSync(compiler, ['--project', join(root, 'config/pack/tsconfig.json'), '--outDir', folder], {
    stdio: 'inherit',
  });
  chmodSync(join(folder, 'src/bin.js'), 0o755);
  for (const name of files) cpSync(join(root, name), join(folder, name), { recursive: true });
  const manifest = readJson('package.json');
  if (typeof manifest !== 'object' || manifest === null) throw new Error('package.json holds no object');
  const kept = Object.entries(manifest).filter(([name]) => fieldsForUsers.includes(name));
  const pinned = exactDependencies(readJson('package-lock.json'));
  // The sources that others may import are JavaScript here.
  const text = JSON.stringify({ ...Object.fromEntries(kept), ...pinned }, null, 2).replaceAll('.ts"', '.js"');
  writeFileSync(join(folder, 'package.json'), `${text}\n`);
}

const staged = mkdtempSync(join(tmpdir(), 'counterfoil-pack-'));
try {
  const target = resolve(process.argv[2] ?? root);
  stage(staged);
  const args = ['pack', '--silent', '--pack-destination', target];
  const name = execFileSync('npm', args, { cwd: staged, encoding: 'utf8' }).trim();
  process.stdout.write(`${join(target, name)}\n`);
} finally {
  rmSync(staged, { recursive: true });
}
