import { randomBytes } from 'node:crypto';
import { mkdir, readdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import { parse as parseYaml } from 'yaml';
import { z } from 'zod';
import { type Mode, modes } from '../../../core/domain/payout.ts';
import { configurationText, envExample } from './init-text.ts';

const sampleBatches = new URL('../../../../data/samples/', import.meta.url);
const folders = [
  'data',
  'data/inbox',
  'data/inbox/collections',
  'data/archive',
  'data/rejected',
  'data/reports',
];

/** The default port of `counterfoil sandbox` (program.ts). */
const sandboxPort = 8900;

/** Keys that the sandbox and its client read from the same `.env`. */
function sandboxKeys(): string {
  const made = (): string => randomBytes(12).toString('hex');
  return `# Made for the local sandbox: these keys open nothing else.
COUNTERFOIL_TEST_SECRET_KEY=sk_test_sandbox_${made()}
COUNTERFOIL_TEST_PUBLIC_KEY=pk_test_sandbox_${made()}
COUNTERFOIL_TEST_ENCRYPTION_KEY=enc_sandbox_${made()}
`;
}

/** Batches for a first try, by their path in the home. */
async function samples(): Promise<Record<string, string>> {
  const names = (await readdir(sampleBatches)).toSorted();
  const texts = names.map((name) => readFile(new URL(name, sampleBatches), 'utf8'));
  return Object.fromEntries(
    (await Promise.all(texts)).map((text, i) => [join('samples', names[i] ?? ''), text]),
  );
}

/** The sandbox has no webhook address, so no webhook is expected from it. */
function configurationOf({ mode, sandbox = false }: InitOptions): string {
  const baseUrl = sandbox ? `http://127.0.0.1:${sandboxPort}` : 'https://payments.example.com';
  return configurationText({ mode, baseUrl, expectsWebhooks: !sandbox });
}

type InitOptions = { mode: Mode; sandbox?: boolean };

/**
 * Makes a commented configuration for `mode`, `.env.example` and the data folders in `dir`. With `sandbox` also makes an
 * `.env` and sample batches, so that the sandbox and the commands work at once. Keeps existing files, byte for byte. Returns absolute paths;
 * throws what the file system throws.
 */
export async function runInit(
  dir: string,
  options: InitOptions = { mode: 'test' },
): Promise<{ written: string[]; kept: string[] }> {
  const written: string[] = [];
  const kept: string[] = [];
  for (const folder of folders) {
    const path = resolve(dir, folder);
    await makeFolder(dirname(path));
    const made = await attempt(() => mkdir(path, { mode: 0o700 }));
    (made ? written : kept).push(path);
  }
  const files = {
    [join('config', 'counterfoil.yaml')]: configurationOf(options),
    '.env.example': envExample,
    ...(options.sandbox && { '.env': sandboxKeys(), ...(await samples()) }),
  };
  for (const [name, text] of Object.entries(files)) {
    const path = resolve(dir, name);
    await makeFolder(dirname(path));
    // wx: also never overwrites the file of a second init, or one that appears meanwhile.
    const made = await attempt(() =>
      writeFile(path, text, { flag: 'wx', mode: name === '.env' ? 0o600 : 0o666 }),
    );
    (made ? written : kept).push(path);
  }
  return { written, kept };
}

const withMode = z.looseObject({ mode: z.enum(modes).default('test') });

/** The mode of the configuration in `dir`; null when there is none, or it cannot be read. */
export async function modeThere(dir: string): Promise<Mode | null> {
  const text = await readFile(resolve(dir, 'config', 'counterfoil.yaml'), 'utf8').catch(() => null);
  if (text === null) return null;
  try {
    return withMode.parse(parseYaml(text) ?? {}).mode;
  } catch {
    return null;
  }
}

/**
 * Makes a folder and those above it. Node's `recursive` loops forever below a folder that answers "not there" to every
 * name, as /proc does.
 */
async function makeFolder(path: string): Promise<void> {
  try {
    await attempt(() => mkdir(path));
  } catch (error) {
    const above = dirname(path);
    if (above === path || !(error instanceof Error && 'code' in error && error.code === 'ENOENT'))
      throw error;
    await makeFolder(above);
    await attempt(() => mkdir(path));
  }
}

/** False when the path exists. */
async function attempt(make: () => Promise<unknown>): Promise<boolean> {
  try {
    await make();
    return true;
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'EEXIST') return false;
    throw error;
  }
}
