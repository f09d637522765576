import type { Environment } from '../../../core/settings/environment.ts';
import type { Paint } from '../kit/ink.ts';
import type { Result } from './result.ts';

/** Everything outside itself that a command may use. */
export type World = {
  env: Environment;
  cwd: string;
  signal: AbortSignal;
  /** Colours texts; the streams that are no terminal print them without. */
  paint: Paint;
  /** Characters in a line of the terminal; 80 where there is none. */
  columns: number;
  terminal: boolean;
  /** A line to stderr: progress, questions, warnings. */
  say(line: string): void;
  print(line: string): void;
  /** Text to stdout byte for byte, such as CSV; only a terminal gets it legible. False: nobody reads on (`| head`). */
  write(text: string): boolean;
};

export type GlobalOptions = {
  config?: string;
  data?: string;
  json?: boolean;
  quiet?: boolean;
  color?: boolean;
  yes?: boolean;
};

export type Context = World & { options: GlobalOptions };

/** One verb: its arguments, and its options by their names in camelCase. */
export type Handler = (context: Context, args: string[], options: Record<string, unknown>) => Promise<Result>;
