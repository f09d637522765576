import { relative, resolve } from 'node:path';
import type { Context } from './context.ts';
import { runInit } from './init.ts';
import type { Result } from './result.ts';

/** `init [DIR]`: writes what is missing and says what to do next. */
export async function init(context: Context, args: string[]): Promise<Result> {
  const dir = resolve(context.cwd, args[0] ?? '.');
  const { written, kept } = await runInit(dir);
  const name = (path: string): string => relative(context.cwd, path) || '.';
  const lines = [
    ...written.map((path) => `wrote  ${name(path)}`),
    ...kept.map((path) => `kept   ${name(path)}`),
    '',
    'Next: set service.base_url in config/counterfoil.yaml, copy .env.example to .env (mode 0600) and put the keys there,',
    'then drop a CSV into data/inbox and run: counterfoil submit',
  ];
  return { code: 0, lines, json: { written, kept } };
}
