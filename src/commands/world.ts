import type { Environment } from '../settings/environment.ts';
import type { Result } from './result.ts';

/** Everything outside itself that a command may use. */
export type World = {
  env: Environment;
  cwd: string;
  signal: AbortSignal;
  color: boolean;
  terminal: boolean;
  /** A line to stderr: progress, questions, warnings. */
  say(line: string): void;
  print(line: string): void;
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
