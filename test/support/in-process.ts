import { expect } from 'vitest';
import { buildProgram } from '../../src/commands/program.ts';
import { fail, type Result } from '../../src/commands/result.ts';
import { type Done, type Home, parseJson } from './cli.ts';

/** The same home, whose `run` and `json` execute the command in this process; `start` still starts a real one. */
export function inProcess(home: Home): Home {
  const run: Home['run'] = (args, more = {}) => execute(home, args, { ...home.env, ...more });
  return {
    ...home,
    run,
    async json(args, code, more) {
      const done = await run([...args, '--json'], more);
      expect(done.code, `${args.join(' ')}\n${done.out}\n${done.err}`).toBe(code);
      return parseJson(done);
    },
  };
}

/** As `main` does, without a terminal, signals and the environment of this process. */
async function execute(home: Home, args: string[], env: Record<string, string | undefined>): Promise<Done> {
  const out: string[] = [];
  const err: string[] = [];
  let result: Result | undefined;
  const program = buildProgram({
    env,
    cwd: home.dir,
    signal: new AbortController().signal,
    color: false,
    terminal: false,
    say: (line) => void err.push(line),
    print: (line) => void out.push(line),
    finish: (value) => {
      result = value;
    },
  });
  await program.parseAsync(args, { from: 'user' }).catch((error: unknown) => {
    const failed = fail(error);
    if (failed.code !== 0 || !result) result = failed;
  });
  const { code, problem, lines = [], json } = result ?? { code: 0 };
  if (problem) err.push(`counterfoil: ${problem}`);
  if (!args.includes('--json')) out.push(...lines);
  else if (json || problem) out.push(JSON.stringify({ schema: 1, ...(json ?? { error: problem }) }));
  return { code, out: printed(out), err: printed(err) };
}

function printed(lines: string[]): string {
  return lines.map((line) => `${line}\n`).join('');
}
