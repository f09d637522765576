export type Environment = Record<string, string | undefined>;

/** The environment of this process; the only place that reads it. */
export function readEnvironment(): Environment {
  return process.env;
}

/** Whether output must stay without colour: NO_COLOR is set, or the terminal is dumb (no-color.org). */
export function noColor(env: Environment): boolean {
  return Boolean(env.NO_COLOR) || env.TERM === 'dumb';
}

/** Whether `serve` may send in live mode. */
export function liveAllowedForServe(env: Environment): boolean {
  return env.COUNTERFOIL_LIVE === 'yes';
}

/** The folder that file arguments are relative to: npm runs a script in the folder of its package, and says where it was called. */
export function whereUserStands(env: Environment, cwd: string): string {
  return (env.npm_lifecycle_event === 'counterfoil' && env.INIT_CWD) || cwd;
}
