import { onTestFinished } from 'vitest';
import { type CounterfoilClient, createClient } from '../../../src/client/client.ts';
import type { SandboxOptions } from '../../../src/sandbox/sandbox.ts';
import type { Home } from '../../support/cli.ts';
import { makeHome } from '../../support/decided.ts';
import { everySecond, serving } from '../../support/serving.ts';

/** Who may do what: each has one role, Eve has none. */
const people = { dayo: 'drop', ada: 'approve', femi: 'decide', rita: 'read', eve: '' };
export type PersonName = keyof typeof people;

export const tokenOf = (name: PersonName): string => `${name}-token-5f2c8e1b90`;

const apiSettings = {
  COUNTERFOIL_ADMIN_TOKENS: Object.keys(people)
    .map((name) => `${name}:${name}-token-5f2c8e1b90`)
    .join(','),
  COUNTERFOIL_ADMIN_ROLES: JSON.stringify(
    Object.fromEntries(Object.entries(people).map(([name, role]) => [name, role === '' ? [] : [role]])),
  ),
  COUNTERFOIL_SCHEDULES_SUBMIT: everySecond,
};

export type Served = {
  home: Home;
  url: string;
  port: number;
  /** A client with the token of this person. */
  as(name: PersonName, over?: Partial<Parameters<typeof createClient>[0]>): CounterfoilClient;
  /** A request to a path below `/api/v1` with the token of this person, or without one. */
  ask(name: PersonName | null, path: string, init?: RequestInit): Promise<Response>;
};

/** A daemon with the API, in the process of the test unless `begin` says otherwise. */
export async function serveApi(
  options: SandboxOptions = {},
  settings: Record<string, string> = {},
  begin?: (home: Home) => Home['begin'],
): Promise<Served> {
  const home = await makeHome(options, { ...apiSettings, ...settings });
  const { daemon } = await serving(home, {}, begin?.(home));
  const url: string = JSON.parse(await daemon.line(/"ready":true/)).admin;
  onTestFinished(async () => {
    daemon.signal('SIGTERM');
    await daemon.done;
  });
  return {
    home,
    url,
    port: Number(new URL(url).port),
    as: (name, over = {}) => createClient({ url, token: tokenOf(name), ...over }),
    ask: (name, path, init = {}) =>
      fetch(`${url}/api/v1${path}`, {
        ...init,
        headers: {
          ...(name !== null && { authorization: `Bearer ${tokenOf(name)}` }),
          ...Object.fromEntries(new Headers(init.headers)),
        },
      }),
  };
}
