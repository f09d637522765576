import { readFileSync } from 'node:fs';
import { connect, createServer, type Socket } from 'node:net';
import { createServer as createTlsServer } from 'node:tls';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { batchOf, makeHome, until } from '../support/cli.ts';

const fixture = (name: string): string =>
  fileURLToPath(new URL(`../fixtures/tls/${name}.pem`, import.meta.url));
const pem = (name: string): string => readFileSync(fixture(name), 'utf8');

/** TLS in front of a plain service; connections after the first wait before their handshake until let go. */
async function startFront(target: string) {
  const port = Number(new URL(target).port);
  const sockets = new Set<Socket>();
  const keep = <T extends Socket>(socket: T): T => {
    sockets.add(socket.on('error', () => undefined));
    return socket;
  };
  const tls = createTlsServer({ cert: pem('trusted.cert'), key: pem('trusted.key') }, (socket) => {
    const behind = keep(connect(port, '127.0.0.1'));
    keep(socket).pipe(behind).pipe(socket);
  });
  const waiting: Socket[] = [];
  const seen = { connections: 0 };
  let held = true;
  const front = createServer((socket) => {
    seen.connections += 1;
    if (held && seen.connections > 1) waiting.push(keep(socket));
    else tls.emit('connection', keep(socket));
  });
  await new Promise<void>((resolve) => front.listen(0, '127.0.0.1', resolve));
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => front.close(resolve));
  });
  const address = front.address();
  return {
    url: `https://127.0.0.1:${typeof address === 'object' && address !== null ? address.port : 0}`,
    seen,
    letGo() {
      held = false;
      for (const socket of waiting.splice(0)) tls.emit('connection', socket);
    },
  };
}

it('P3: a sender that was stopped longer than its intent may live sends nothing stale when it wakes, and pays once', async () => {
  const home = await makeHome();
  const front = await startFront(home.sandbox.url);
  const submit = home.start(['submit', home.put('pay.csv', batchOf(1)), '--json'], {
    COUNTERFOIL_SERVICE_BASE_URL: front.url,
    COUNTERFOIL_SUBMISSION_SEND_DEADLINE_MS: '1000',
    NODE_EXTRA_CA_CERTS: fixture('trusted.cert'),
  });
  // The first connection asked for the list; the second is the order's: its intent is committed.
  await until(
    15_000,
    () => front.seen.connections,
    (count) => count >= 2,
  );
  submit.signal('SIGSTOP');
  await new Promise((resolve) => setTimeout(resolve, 1500));
  front.letGo();
  submit.signal('SIGCONT');
  const done = await submit.done;
  expect(done.code, done.err).toBe(0);
  const { attempts } = await home.json(['show', 'PAY-0001'], 0);
  expect(attempts.map(({ outcome }: { outcome: string }) => outcome)).toEqual(['not_sent', 'accepted']);
  expect(attempts[0].message).toContain('grew older than submission.send_deadline_ms');
  expect(home.sandbox.requests.bodies('PAY-0001')).toBe(1);
});
