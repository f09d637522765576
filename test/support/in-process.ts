import { expect } from 'vitest';
import { buildProgram } from '../../src/commands/program.ts';
import { fail, type Result } from '../../src/commands/result.ts';
import { noPaint } from '../../src/commands/terminal/ink.ts';
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
    paint: noPaint,
    // Lists and help are compared line by line. Else a test finds a sentence in one line. COLUMNS: of that width.
    columns: Number(
      env.COLUMNS ?? (/^(payouts|batches|help)$/.test(args[0] ?? '') || args.includes('--help') ? 80 : 1000),
    ),
    terminal: false,
    say: (line) => void err.push(line),
    print: (line) => void out.push(`${line}\n`),
    write: (text) => out.push(text) > 0,
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
  if (!args.includes('--json')) out.push(printed(lines));
  else if (json || problem)
    out.push(printed([JSON.stringify({ schema: 1, ...(json ?? { error: problem }) })]));
  return { code, out: out.join(''), err: printed(err) };
}

function printed(lines: string[]): string {
  return lines.map((line) => `${line}\n`).join('');
}
