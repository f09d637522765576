import { execFile } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

/** Runs a script of this folder in a process of its own; returns what it prints. */
export async function inProcess<T>(script: string, order: object, options: readonly string[]): Promise<T> {
  const path = fileURLToPath(new URL(`./${script}`, import.meta.url));
  const { stdout } = await promisify(execFile)(process.execPath, [...options, path, JSON.stringify(order)]);
  return JSON.parse(stdout);
}
