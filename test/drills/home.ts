import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { SandboxKeys } from '../../src/sandbox/keyring.ts';
import { createSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts';
import { finish } from '../chaos/processes.ts';
import { freePort } from '../support/server-process.ts';
import { type AlertReceiver, startAlertReceiver } from './alert-receiver.ts';
import { createServe, type Serve } from './serve-process.ts';

/** The name and token of the one who may decide. */
export const token = 'drill-token-5f2c8e1b77';
const every = '*/5 * * * * *';

export type DrillHome = {
  dir: string;
  sandbox: Sandbox;
  alerts: AlertReceiver;
  /** The addresses of the admin server and of the receiver. */
  admin: string;
  receiver: string;
  /** Runs a command to its end in this home. */
  run(...args: string[]): ReturnType<typeof finish>;
  /** Puts a whole file into the inbox. */
  drop(name: string, content: string): void;
  serve: Serve;
  /** Ends the payments service, and starts it again on its port. */
  stopService(): Promise<void>;
  startService(): Promise<void>;
  close(): Promise<void>;
};

/** A home as `init` makes it, the payments service, a receiver of alerts, and `serve`, which is not started yet. */
export async function openHome(
  settings: Record<string, string> = {},
  keys?: SandboxKeys,
): Promise<DrillHome> {
  const dir = mkdtempSync(join(tmpdir(), 'counterfoil-drill-'));
  await finish({ dir, env: {} }, ['init', dir]);
  const [receiverPort, adminPort] = [await freePort(), await freePort()];
  const receiver = `http://127.0.0.1:${receiverPort}`;
  const sandboxWith = (port: number): Promise<Sandbox> =>
    createSandbox({
      port,
      settleMs: 200,
      webhookUrl: `${receiver}/webhooks/test`,
      ...(keys && { keys: { test: keys } }),
    });
  const sandbox = await sandboxWith(0);
  const { test } = sandbox.keys;
  const alerts = await startAlertReceiver();
  const env = {
    // As in the shipped unit.
    MALLOC_ARENA_MAX: '1',
    COUNTERFOIL_SERVICE_BASE_URL: sandbox.url,
    COUNTERFOIL_SERVICE_REQUESTS_PER_SECOND: '0',
    COUNTERFOIL_INTAKE_SETTLE_SECONDS: '0',
    COUNTERFOIL_RECEIVER_PORT: String(receiverPort),
    COUNTERFOIL_ADMIN_PORT: String(adminPort),
    COUNTERFOIL_ADMIN_TOKENS: `drill:${token}`,
    COUNTERFOIL_ALERTS_WEBHOOK_URL: alerts.url,
    COUNTERFOIL_SCHEDULES_INTAKE: every,
    COUNTERFOIL_SCHEDULES_SUBMIT: every,
    COUNTERFOIL_SCHEDULES_FOLLOW_UP: every,
    // Between two runs that fail there is a look of the alerts: a run under way is neither late nor failed.
    COUNTERFOIL_SCHEDULES_RECONCILE: '0 */2 * * * *',
    COUNTERFOIL_SCHEDULES_RECONCILE_FULL: '',
    COUNTERFOIL_TEST_SECRET_KEY: test.secretKey,
    COUNTERFOIL_TEST_PUBLIC_KEY: test.publicKey,
    COUNTERFOIL_TEST_ENCRYPTION_KEY: test.encryptionKey,
    ...settings,
  };
  const place = { dir, env };
  const serve = createServe(place);
  const home: DrillHome = {
    dir,
    sandbox,
    alerts,
    admin: `http://127.0.0.1:${adminPort}`,
    receiver,
    run: (...args) => finish(place, args),
    drop(name, content) {
      const path = join(dir, 'data', 'inbox', name);
      writeFileSync(`${path}.part`, content);
      renameSync(`${path}.part`, path);
    },
    serve,
    stopService: () => home.sandbox.stop(),
    async startService() {
      home.sandbox = await sandboxWith(Number(new URL(sandbox.url).port));
    },
    async close() {
      await serve.end('SIGTERM');
      await home.sandbox.stop();
      alerts.close();
      rmSync(dir, { recursive: true, force: true });
    },
  };
  return home;
}
