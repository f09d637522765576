import { expect, onTestFinished } from 'vitest';
import { jsonShapes, type ShapeName } from '../../src/core/shapes/json-shapes.ts';
import { fail, printedAnswer, type Result } from '../../src/faces/terminal/context/result.ts';
import { buildProgram } from '../../src/faces/terminal/entries/program.ts';
import { noPaint } from '../../src/faces/terminal/kit/ink.ts';
import { createOutput, type Done, type Home, parseJson, type Running } from './cli.ts';
import { logsOf } from './logger.ts';

type Where = { cwd: string; env?: Record<string, string | undefined> };

/** The same home, whose `run`, `json` and `begin` execute the command in this process; `start` still starts a real one. */
export function inProcess(home: Home): Home {
  const where = (more: Where['env']): Where => ({ cwd: home.dir, env: { ...home.env, ...more } });
  const run: Home['run'] = async (args, more) => {
    const output = createOutput();
    const code = await execute(args, where(more), { signal: new AbortController().signal, output });
    return { code, ...output.end() };
  };
  return {
    ...home,
    run,
    begin: (args, more) => begin(args, where(more)),
    async json(args, code, more) {
      const done = await run([...args, '--json'], more);
      expect(done.code, `${args.join(' ')}\n${done.out}\n${done.err}`).toBe(code);
      return parseJson(done);
    },
  };
}

/** Begins the command in this process, with its log among what it prints. SIGINT and SIGTERM ask it to end. */
export function begin(args: string[], where: Where): Running {
  const output = createOutput();
  const stopping = new AbortController();
  const code = logsOf.run(
    (line) => output.add('err', line),
    () => execute(args, where, { signal: stopping.signal, output }),
  );
  const done = code.then((value): Done => ({ code: value, ...output.end() }));
  onTestFinished(async () => {
    stopping.abort();
    await done;
  });
  const signal = (name: NodeJS.Signals): void => {
    if (name !== 'SIGINT' && name !== 'SIGTERM') throw new Error(`only a process of its own gets ${name}`);
    stopping.abort();
  };
  return { pid: process.pid, signal, done, line: output.line };
}

/** As `main` does, without a terminal, signals and the environment of this process. Resolves with the exit code. */
async function execute(
  args: string[],
  { cwd, env = {} }: Where,
  { signal, output }: { signal: AbortSignal; output: ReturnType<typeof createOutput> },
): Promise<number> {
  let result: Result | undefined;
  const say = (line: string): void => output.add('err', `${line}\n`);
  const print = (line: string): void => output.add('out', `${line}\n`);
  const program = buildProgram({
    env,
    cwd,
    signal,
    paint: noPaint,
    // Lists and help are compared line by line. Else a test finds a sentence in one line. COLUMNS: of that width.
    columns: Number(
      env.COLUMNS ?? (/^(payouts|batches|help)$/.test(args[0] ?? '') || args.includes('--help') ? 80 : 1000),
    ),
    terminal: false,
    say,
    print,
    write(text) {
      output.add('out', text);
      return true;
    },
    finish: (value) => {
      result = value;
    },
  });
  await program.parseAsync(args, { from: 'user' }).catch((error: unknown) => {
    const failed = fail(error);
    if (failed.code !== 0 || !result) result = failed;
  });
  const end = result ?? { code: 0 };
  const { code, problem, lines = [], json, ignoresInterrupt } = end;
  if (json) expect(shapeIssues(json.shape, json.fields)).toEqual([]);
  if (problem) say(`counterfoil: ${problem}`);
  const answer = args.includes('--json') ? printedAnswer(end) : null;
  if (answer !== null) print(answer);
  if (!args.includes('--json')) for (const line of lines) print(line);
  return signal.aborted && !ignoresInterrupt ? 130 : code;
}

/** How a command's JSON differs from the shape that docs/json.md shows. */
export function shapeIssues(shape: ShapeName, fields: object): string[] {
  const { error } = jsonShapes[shape].shape.safeParse(fields);
  return error?.issues.map(({ path, message }) => `${shape}: ${path.join('.')}: ${message}`) ?? [];
}
