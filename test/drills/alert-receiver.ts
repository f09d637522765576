import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';

/** A message as the web server of a chat service gets it. `atMs`: by the monotonic clock of the drill. */
export type Message = { atMs: number; text: string };
export type AlertReceiver = { url: string; messages: Message[]; close(): void };

/** The way out of the alerts: it takes every message and keeps it. */
export async function startAlertReceiver(): Promise<AlertReceiver> {
  const messages: Message[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      const { text }: { text: string } = JSON.parse(body);
      messages.push({ atMs: performance.now(), text });
      response.end('ok');
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}/alerts`,
    messages,
    close() {
      server.closeAllConnections();
      server.close();
    },
  };
}
