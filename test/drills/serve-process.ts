import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { command, firstLine, type Place } from '../chaos/processes.ts';

/** The `serve` of a home; it may be started again and again. */
export type Serve = {
  pid(): number;
  /** What it logged. */
  log(): string;
  /** Resolves once it is ready. */
  start(): Promise<void>;
  end(signal: NodeJS.Signals): Promise<void>;
  /** Resolves once it has ended by itself. */
  ended(): Promise<void>;
};

export function createServe(place: Place): Serve {
  let child: ChildProcess | undefined;
  let log = '';
  const isRunning = (): boolean =>
    child !== undefined && child.exitCode === null && child.signalCode === null;
  return {
    pid: () => child?.pid ?? 0,
    log: () => log,
    async ended() {
      if (child && isRunning()) await once(child, 'exit');
    },
    async start() {
      child = command(place, ['serve', '--json']);
      child.stderr?.on('data', (chunk: Buffer) => (log = `${log}${chunk.toString()}`.slice(-200_000)));
      await firstLine(child);
    },
    async end(signal) {
      if (!child || !isRunning()) return;
      const gone = once(child, 'exit');
      child.kill(signal);
      await gone;
    },
  };
}
