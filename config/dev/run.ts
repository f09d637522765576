import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

/** `npm run dev`: a sandbox, `serve` and its dashboard on throw-away data, in one terminal. Ctrl-C removes the data. */
const bin = fileURLToPath(new URL('../../src/bin.js', import.meta.url));
const home = mkdtempSync(join(tmpdir(), 'counterfoil-dev-'));
const running: ChildProcess[] = [];
let isStopping = false;

async function stop(code: number): Promise<void> {
  if (isStopping) return;
  isStopping = true;
  for (const child of running) child.kill('SIGTERM');
  await Promise.all(
    running
      .filter((child) => (child.exitCode ?? child.signalCode) === null)
      .map((child) => once(child, 'exit')),
  );
  rmSync(home, { recursive: true, force: true });
  process.exit(code);
}
// Ctrl-C reaches the children too; each ends its work by itself.
for (const signal of ['SIGINT', 'SIGTERM'] as const) process.on(signal, () => void stop(0));

const [sandbox, receiver, admin] = await freePorts(3);
execFileSync(process.execPath, [bin, 'init', '--sandbox', '--quiet', home]);
const env = {
  ...process.env,
  COUNTERFOIL_SERVICE_BASE_URL: `http://127.0.0.1:${sandbox}`,
  COUNTERFOIL_RECEIVER_ENABLED: 'true',
  COUNTERFOIL_RECEIVER_PORT: String(receiver),
  COUNTERFOIL_ADMIN_PORT: String(admin),
  COUNTERFOIL_INTAKE_SETTLE_SECONDS: '1',
};
begin('sandbox', '--port', String(sandbox), '--webhook-url', `http://127.0.0.1:${receiver}/webhooks/test`);
begin('serve');
console.log(`dashboard  http://127.0.0.1:${admin}
inbox      ${join(home, 'data', 'inbox')}
Drop a batch there: it goes within a minute. Ctrl-C stops all and removes the data.`);

/** Starts one command in the home. When one ends, all do. */
function begin(...args: string[]): void {
  const child = spawn(process.execPath, [bin, ...args], {
    cwd: home,
    env,
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  child.once('exit', (code) => void stop(code ?? 1));
  running.push(child);
}

async function freePorts(count: number): Promise<number[]> {
  const servers = Array.from({ length: count }, () => createServer().listen(0, '127.0.0.1'));
  await Promise.all(servers.map((server) => once(server, 'listening')));
  const ports = servers.flatMap((server) => {
    const address = server.address();
    return typeof address === 'object' && address !== null ? [address.port] : [];
  });
  await Promise.all(servers.map((server) => once(server.close(), 'close')));
  return ports;
}
