import { onTestFinished } from 'vitest';
import { type Clock, systemClock } from '../../../src/core/runtime/clock.ts';
import { createLogger } from '../../../src/core/runtime/logger.ts';
import type { Config } from '../../../src/core/settings/settings.ts';
import { createAdminServer, type Routes } from '../../../src/faces/admin/admin-server.ts';

export const tokens = [
  { name: 'ada', token: 'ada-token-5f2c8e1b' },
  { name: 'bola', token: 'bola-token-91d7aa40' },
];

const settings: Config['admin'] = {
  enabled: true,
  host: '127.0.0.1',
  port: 0,
  tlsCert: '',
  tlsKey: '',
  trustProxy: [],
  roles: {},
};

type Over = {
  admin?: Partial<Config['admin']>;
  tokens?: Config['adminTokens'];
  clock?: Clock;
  routes?: Routes[];
};

/** A real admin server on a free port of loopback; it closes with the test. */
export async function startAdmin(over: Over = {}): Promise<{ url: string; port: number }> {
  const server = createAdminServer({
    config: { admin: { ...settings, ...over.admin }, adminTokens: over.tokens ?? tokens },
    clock: over.clock ?? systemClock(),
    log: createLogger({ to: { write: () => undefined } }),
    routes: over.routes ?? [],
  });
  const { url } = await server.listen();
  onTestFinished(() => server.close());
  return { url, port: Number(new URL(url).port) };
}
