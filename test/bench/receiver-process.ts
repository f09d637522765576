import { createHmac, timingSafeEqual } from 'node:crypto';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { plainKeys, secretKey, startReceiver } from '../support/receiver.ts';

/** Told once, when it listens; the process ends when its parent lets go of it. */
export type Listening = { port: number };

if (process.argv[2] === 'ours') {
  const running = await startReceiver({ keys: { test: plainKeys } });
  tell(running.port);
  process.on('disconnect', () => void running.remove().then(() => process.exit(0)));
} else {
  // The least that any receiver must do: no ledger, no limits, no evidence.
  const server = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => void chunks.push(chunk));
    request.on('end', () => {
      const given = Buffer.from(String(request.headers.payloadsignature), 'hex');
      const right = timingSafeEqual(
        createHmac('sha512', secretKey).update(Buffer.concat(chunks)).digest(),
        given,
      );
      response.writeHead(right ? 200 : 401, { 'content-type': 'text/plain' }).end('success');
    });
  });
  server.listen(0, '127.0.0.1', () => tell((server.address() as AddressInfo).port));
  process.on('disconnect', () => process.exit(0));
}

function tell(port: number): void {
  const listening: Listening = { port };
  process.send?.(listening);
}
