import { ownerOfPort } from '../../../core/runtime/port-owner.ts';

/** What names a port: the setting or option that a person changes. */
type Listening = { what: string; host: string; port: number; setting: string };

/** What helps where a port cannot be listened on, by the system's code; undefined for a code that says nothing. */
export function listenFix(code: string, setting: string): string | undefined {
  const host = setting.replace(/port$/, 'host');
  const fixes: Record<string, string> = {
    EADDRINUSE: `stop that program, or set another ${setting}`,
    EACCES: `ports below 1024 belong to the system: set ${setting} to 1024 or above`,
    EADDRNOTAVAIL: `this machine has no such address: correct ${host}`,
    ENOTFOUND: `this name has no address: correct ${host}`,
  };
  return fixes[code];
}

/** Why nobody can listen there and what helps, as one sentence; null for an error that is about something else. */
export function listenProblem(error: unknown, { what, host, port, setting }: Listening): string | null {
  const code = error instanceof Error && 'code' in error ? String(error.code) : '';
  const fix = listenFix(code, setting);
  if (fix === undefined) return null;
  const why =
    code === 'EADDRINUSE' ? `the port is in use by ${ownerOfPort(port) ?? 'another program'}` : code;
  return `${what} cannot listen on ${host}:${port} (${setting}): ${why}; ${fix}`;
}
