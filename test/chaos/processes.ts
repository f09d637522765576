import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';

const bin = fileURLToPath(new URL('../../src/bin.js', import.meta.url));

export type Place = { dir: string; env: Record<string, string> };

/** Runs a command as a user would; nothing of this process's settings reaches it. */
export function command(place: Place, args: string[]): ChildProcess {
  const base = Object.fromEntries(
    Object.entries(process.env).filter(([name]) => !/^(COUNTERFOIL_|NODE_|VITEST|VITE_)/.test(name)),
  );
  return spawn(process.execPath, [bin, ...args], {
    cwd: place.dir,
    env: { ...base, ...place.env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}

/** Runs a command to its end. */
export async function finish(
  place: Place,
  args: string[],
): Promise<{ code: number | null; out: string; err: string }> {
  const child = command(place, args);
  const said = { out: '', err: '' };
  child.stdout?.on('data', (chunk: Buffer) => (said.out += chunk));
  child.stderr?.on('data', (chunk: Buffer) => (said.err += chunk));
  const [code] = await once(child, 'close');
  return { code, ...said };
}

/** The first line that a command prints; throws when it ends before. */
export async function firstLine(child: ChildProcess): Promise<string> {
  let text = '';
  for await (const chunk of child.stdout ?? []) {
    text += String(chunk);
    const end = text.indexOf('\n');
    if (end !== -1) return text.slice(0, end);
  }
  throw new Error(`the command ended and printed only ${JSON.stringify(text)}`);
}

/** One command that is started again whenever it ends, as systemd or cron would. */
export type Slot = {
  name: string;
  pid(): number | undefined;
  signal(name: NodeJS.Signals): void;
  /** How its runs ended, by exit code or signal. */
  endings: Record<string, number>;
  /** The last thing it wrote to stderr. */
  lastWords(): string;
  /** Asks it to stop, and does not start it again. */
  stop(): Promise<void>;
};

export function keepRunning(place: Place, name: string, args: string[], pauseMs: number): Slot {
  const endings: Record<string, number> = {};
  let child: ChildProcess | undefined;
  let words = '';
  let stopped = false;
  let pause: NodeJS.Timeout | undefined;
  let gone: Promise<unknown> = Promise.resolve();
  const begin = (): void => {
    const mine = command(place, args);
    child = mine;
    mine.stdout?.resume();
    mine.stderr?.on('data', (chunk: Buffer) => (words = `${words}${chunk.toString()}`.slice(-500)));
    gone = once(mine, 'close').then(([code, signal]) => {
      const how = String(signal ?? code);
      endings[how] = (endings[how] ?? 0) + 1;
      child = undefined;
      if (!stopped) pause = setTimeout(begin, pauseMs);
    });
  };
  begin();
  return {
    name,
    pid: () => child?.pid,
    signal: (what) => void child?.kill(what),
    endings,
    lastWords: () => words,
    async stop() {
      stopped = true;
      clearTimeout(pause);
      child?.kill('SIGTERM');
      await gone;
    },
  };
}
