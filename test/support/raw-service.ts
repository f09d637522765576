import { createServer, type Server, type Socket } from 'node:net';

export type RawRequest = { head: string; body: string; socket: Socket; number: number };
export type RawOptions = {
  /** Another server of sockets, such as one of TLS; the address is then https. */
  make?: (onSocket: (socket: Socket) => void) => Server;
  /** Hears of every chunk before the request is whole; `count` chunks have come on this socket. */
  onBytes?: (socket: Socket, count: number) => void;
};

/** A service below HTTP: `answer` does what it likes with the socket once a whole request was read. */
export async function startRawService(answer: (request: RawRequest) => void, options: RawOptions = {}) {
  const bodies: string[] = [];
  const heads: string[] = [];
  const sockets = new Set<Socket>();
  let [connections, bytes] = [0, 0];
  const server = (options.make ?? createServer)((socket) => {
    let text = '';
    let chunks = 0;
    socket.on('error', () => undefined);
    socket.on('data', (chunk) => {
      bytes += chunk.length;
      options.onBytes?.(socket, ++chunks);
      text += chunk.toString('latin1');
      for (;;) {
        const end = text.indexOf('\r\n\r\n');
        if (end === -1) return;
        const head = text.slice(0, end);
        const length = Number(/content-length: (\d+)/i.exec(head)?.[1] ?? 0);
        if (text.length < end + 4 + length) return;
        const body = text.slice(end + 4, end + 4 + length);
        text = text.slice(end + 4 + length);
        bodies.push(body);
        heads.push(head);
        answer({ head, body, socket, number: bodies.length });
      }
    });
  });
  // Also those whose handshake never ends.
  server.on('connection', (socket: Socket) => {
    connections += 1;
    sockets.add(socket);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    url: `${options.make ? 'https' : 'http'}://127.0.0.1:${port}`,
    /** Every body that arrived whole, in order. */
    bodies,
    heads,
    connections: () => connections,
    /** How many bytes of requests arrived, whole or not. */
    bytes: () => bytes,
    stop: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}

/** A whole HTTP/1.1 reply. */
export function httpReply(status: number, body: string, headers: string[] = []): string {
  const lines = [`HTTP/1.1 ${status} X`, `content-length: ${Buffer.byteLength(body)}`, ...headers];
  return `${lines.join('\r\n')}\r\n\r\n${body}`;
}
