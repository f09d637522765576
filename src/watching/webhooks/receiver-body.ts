import type { IncomingMessage } from 'node:http';
import type { Turn } from './receiver-connections.ts';

/** `gone`: the sender disconnected; `no_room`: other bodies fill the available memory. */
export type BodyRead =
  | { kind: 'body'; body: Buffer }
  | { kind: 'too_large' }
  | { kind: 'no_room' }
  | { kind: 'gone' };

/** The overhead of each piece of a body: a sender may send single bytes. */
const pieceBytes = 256;

/** Reads a request's body, at most `maxBytes` of it. Always resolves; a body that is too large is not kept. */
export function receiveBody(request: IncomingMessage, maxBytes: number, turn: Turn): Promise<BodyRead> {
  return new Promise((resolve) => {
    const chunks: Buffer[] = [];
    let size = 0;
    const end = (read: BodyRead): void => {
      request.off('data', take);
      resolve(read);
    };
    const take = (chunk: Buffer): void => {
      size += chunk.length;
      if (size > maxBytes) end({ kind: 'too_large' });
      else if (turn.hold(chunk.length + pieceBytes)) chunks.push(chunk);
      else end({ kind: 'no_room' });
    };
    request.on('data', take);
    request.once('end', () => {
      const [only] = chunks;
      end({ kind: 'body', body: only && chunks.length === 1 ? only : Buffer.concat(chunks) });
    });
    request.once('close', () => end({ kind: 'gone' }));
    request.once('error', () => end({ kind: 'gone' }));
  });
}
