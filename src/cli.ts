import { randomBytes } from 'node:crypto';
import { createShutdown } from './core/runtime/shutdown.ts';
import { noColor, readEnvironment, whereUserStands } from './core/settings/environment.ts';
import { fail, printedAnswer, type Result } from './faces/terminal/context/result.ts';
import { buildProgram } from './faces/terminal/entries/program.ts';
import { createInk, noPaint } from './faces/terminal/kit/ink.ts';
import { wrapAll } from './faces/terminal/kit/wrap.ts';

/** Runs one command; resolves with its exit code. Never throws. */
export async function main(argv: string[]): Promise<number> {
  const env = readEnvironment();
  const shutdown = createShutdown({ process });
  const json = argv.includes('--json');
  const ink = createInk(randomBytes(6).toString('hex'));
  const coloured = !noColor(env) && !argv.includes('--no-color');
  const write = (stream: NodeJS.WriteStream, text: string): void =>
    void stream.write(`${ink.render(text, coloured && stream.isTTY)}\n`);
  const say = (text: string): void =>
    write(process.stderr, wrapAll(text.split('\n'), process.stderr.columns || 80, 2).join('\n'));
  for (const stream of [process.stdout, process.stderr]) stream.on('error', ignoreClosedPipe);
  let result: Result | undefined;
  const program = buildProgram({
    env,
    cwd: whereUserStands(env, process.cwd()),
    signal: shutdown.signal,
    paint: coloured ? ink.paint : noPaint,
    columns: process.stdout.columns || 80,
    terminal: Boolean(process.stderr.isTTY && process.stdin.isTTY),
    say,
    print: (line) => write(process.stdout, line),
    write: (text) => {
      process.stdout.write(process.stdout.isTTY ? ink.render(text, false) : text);
      return process.stdout.writable;
    },
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
  const end = result ?? { code: 0 };
  const { code, problem, lines = [] } = end;
  if (problem) say(`counterfoil: ${problem}`);
  // JSON escapes every control character itself.
  const answer = json ? printedAnswer(end) : null;
  if (answer !== null) process.stdout.write(`${answer}\n`);
  if (!json && lines.length > 0) write(process.stdout, lines.join('\n'));
  return shutdown.signal.aborted && !end.ignoresInterrupt ? 130 : code;
}

/** A reader that closed its end, such as `head`, must not end a command that sends. Any other error is thrown. */
function ignoreClosedPipe(error: NodeJS.ErrnoException): void {
  if (error.code !== 'EPIPE') throw error;
}
