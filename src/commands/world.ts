import type { Environment } from '../settings/environment.ts';

/** What a command may use of the world around it. */
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
