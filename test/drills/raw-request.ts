import { exchange, statusesOf } from '../support/receiver.ts';

/** An answer to bytes that no client of ours would send. */
export type Answer = { status: number; headers: string; body: string };

/** Sends a request as it stands, from an address of this machine. */
export async function rawRequest(
  port: number,
  line: string,
  { headers = [], body = '', from = '127.0.0.1' }: { headers?: string[]; body?: string; from?: string } = {},
): Promise<Answer> {
  const hasHost = headers.some((one) => /^host:/i.test(one));
  const all = [...(hasHost ? [] : [`host: 127.0.0.1:${port}`]), 'connection: close', ...headers];
  const text = `${line} HTTP/1.1\r\n${all.map((one) => `${one}\r\n`).join('')}\r\n${body}`;
  const said = await exchange(port, [text], { from, ms: 20_000 });
  const [head = '', ...rest] = said.split('\r\n\r\n');
  return { status: statusesOf(head)[0] ?? 0, headers: head.toLowerCase(), body: rest.join('\r\n\r\n') };
}
