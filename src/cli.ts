import { buildProgram } from './commands/program.ts';
import { fail, type Result } from './commands/result.ts';
import { legible } from './domain/hidden.ts';
import { createShutdown } from './runtime/shutdown.ts';
import { noColor, readEnvironment, whereUserStands } from './settings/environment.ts';

/** Runs one command; resolves with its exit code (contract.md, Exit codes). Never throws. */
export async function main(argv: string[]): Promise<number> {
  const env = readEnvironment();
  const shutdown = createShutdown({ process });
  const json = argv.includes('--json');
  let result: Result | undefined;
  const program = buildProgram({
    env,
    cwd: whereUserStands(env, process.cwd()),
    signal: shutdown.signal,
    color: !noColor(env) && !argv.includes('--no-color') && Boolean(process.stderr.isTTY),
    terminal: Boolean(process.stderr.isTTY && process.stdin.isTTY),
    say: (line) => void process.stderr.write(`${legible(line)}\n`),
    print: (line) => void process.stdout.write(`${legible(line)}\n`),
    finish: (value) => {
      result = value;
    },
  });
  try {
    await program.parseAsync(argv, { from: 'user' });
  } catch (error) {
    const failed = fail(error);
    // Commander has already printed the help or the version.
    if (failed.code !== 0 || !result) result = failed;
  } finally {
    shutdown.dispose();
  }
  return show(result ?? { code: 0 }, json, shutdown.signal.aborted);
}

function show(result: Result, json: boolean, interrupted: boolean): number {
  if (result.problem) process.stderr.write(`counterfoil: ${legible(result.problem)}\n`);
  if (json) {
    const body = result.json ?? (result.problem ? { error: result.problem } : undefined);
    if (body) process.stdout.write(`${JSON.stringify({ schema: 1, ...body })}\n`);
  } else if (result.lines && result.lines.length > 0) {
    process.stdout.write(`${legible(result.lines.join('\n'))}\n`);
  }
  return interrupted && !result.ignoresInterrupt ? 130 : result.code;
}
