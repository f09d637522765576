import { connect, createServer, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

/** A way to a server that can be cut in the middle of everything, or swallow without a word whatever is sent from then on. */
export async function relayTo(target: string): Promise<{ url: string; cut(): void; swallow(): void }> {
  const { hostname, port } = new URL(target);
  const sockets: Socket[] = [];
  let swallows = false;
  const server = createServer((socket) => {
    sockets.push(socket.on('error', () => undefined));
    if (swallows) return;
    const there = connect(Number(port), hostname);
    sockets.push(there.on('error', () => undefined));
    socket.pipe(there).pipe(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const cut = (): void => sockets.forEach((socket) => void socket.destroy());
  onTestFinished(() => {
    cut();
    server.close();
  });
  const own = new URL(target);
  const address = server.address();
  own.host = `127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
  return {
    url: own.href,
    cut,
    swallow() {
      swallows = true;
      for (const socket of sockets) socket.unpipe();
    },
  };
}
