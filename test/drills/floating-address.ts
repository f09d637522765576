import { once } from 'node:events';
import { connect, createServer, type Socket } from 'node:net';

/** An address that leads to one server after another, as a virtual IP does. */
export type FloatingAddress = {
  /** The URL of the first server, with this address in place of its own. */
  url: string;
  /** From now on it leads to this server; what is open is cut. */
  pointTo(url: string): void;
  close(): void;
};

export async function floatingAddress(first: string): Promise<FloatingAddress> {
  let target = new URL(first);
  const open = new Set<Socket>();
  const keep = (socket: Socket): Socket => {
    open.add(socket);
    return socket.on('error', () => undefined).on('close', () => void open.delete(socket));
  };
  const server = createServer((socket) => {
    const there = keep(connect(Number(target.port), target.hostname));
    keep(socket).pipe(there).pipe(socket);
    socket.on('close', () => void there.destroy());
    there.on('close', () => void socket.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const own = new URL(first);
  own.port = String(typeof address === 'object' ? address?.port : '');
  const cut = (): void => open.forEach((socket) => void socket.destroy());
  return {
    url: own.href,
    pointTo(url) {
      target = new URL(url);
      cut();
    },
    close() {
      cut();
      server.close();
    },
  };
}
