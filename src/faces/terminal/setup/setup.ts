import { relative, resolve } from 'node:path';
import { Stop } from '../context/result.ts';
import type { Handler } from '../context/world.ts';
import { modeThere, runInit } from './init.ts';

/** `init [DIR]`: writes what is missing and says what to do next. */
export const init: Handler = async (context, args, options) => {
  const dir = resolve(context.cwd, args[0] ?? '.');
  const { mode, sandbox } = options;
  if (mode !== 'test' && mode !== 'live')
    throw new Stop(`--mode: expected test or live, got "${String(mode)}"`);
  if (mode === 'live' && sandbox === true)
    throw new Stop('--sandbox is a test service: leave out --mode live');
  const there = await modeThere(dir);
  if (mode === 'live' && there === 'test')
    throw new Stop(
      `${dir} has a configuration that says mode: test, and a home belongs to one mode: name another folder. Nothing was written`,
    );
  const { written, kept } = await runInit(dir, { mode, sandbox: sandbox === true });
  const name = (path: string): string => relative(context.cwd, path) || '.';
  const isLive = (there ?? mode) === 'live';
  const lines = [
    ...written.map((path) => `wrote  ${name(path)}`),
    ...kept.map((path) => `kept   ${name(path)}`),
    '',
    ...(sandbox === true ? nextInSandbox(name(dir)) : nextWithKeys(name(dir), isLive)),
  ];
  return { code: 0, lines, json: { shape: 'init', fields: { mode: there ?? mode, written, kept } } };
};

function nextInSandbox(dir: string): string[] {
  return [
    `Next: cd ${dir}, run counterfoil sandbox in a second terminal (it runs until you stop it),`,
    'then: counterfoil submit samples/november-salaries.csv, and counterfoil reconcile',
  ];
}

function nextWithKeys(dir: string, isLive: boolean): string[] {
  return [
    `Next: ${dir === '.' ? '' : `cd ${dir}, `}set service.base_url in config/counterfoil.yaml, copy .env.example to .env (mode 0600) and put the keys there,`,
    `then drop a CSV into data/inbox and run: counterfoil submit${isLive ? ' --live' : ''}`,
  ];
}
