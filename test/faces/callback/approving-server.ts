import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Webhook } from 'standardwebhooks';
import { onTestFinished } from 'vitest';
import type { ApprovalQuestion } from '../../../src/faces/callback/approval-question.ts';

export const secret = `whsec_${Buffer.alloc(32, 7).toString('base64')}`;

type Asked = { question: ApprovalQuestion; headers: IncomingHttpHeaders; body: string };
export type Reply = { status?: number; headers?: Record<string, string>; body: string } | 'silence';
/** How the server answers a question; the next one is answered likewise. */
export type Answering = (asked: Asked) => Reply | Promise<Reply>;

/** Signs as the answering server must. `over`: what a hostile one gets wrong. */
export function signed(
  answer: object | string,
  { headers }: Pick<Asked, 'headers'>,
  over: { id?: string; at?: Date; secret?: string } = {},
): Reply {
  const body = typeof answer === 'string' ? answer : JSON.stringify(answer);
  const { id = String(headers['webhook-id']), at = new Date(Number(headers['webhook-timestamp']) * 1000) } =
    over;
  const signature = new Webhook(over.secret ?? secret).sign(id, at, body);
  const stamp = `${Math.floor(at.getTime() / 1000)}`;
  return {
    headers: { 'webhook-id': id, 'webhook-timestamp': stamp, 'webhook-signature': signature },
    body,
  };
}

export const yes: Answering = (asked) => signed({ answer: 'yes', digest: asked.question.digest }, asked);
export const no: Answering = (asked) => signed({ answer: 'no', reason: 'the wrong month' }, asked);

/** A real server that decides about batches. */
export async function startApprover(first: Answering = yes) {
  const asked: Asked[] = [];
  const server = { url: '', asked, answer: first };
  async function answer(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const chunks: Buffer[] = [];
    for await (const chunk of request) chunks.push(chunk);
    const body = Buffer.concat(chunks).toString();
    const one = { question: JSON.parse(body), headers: request.headers, body };
    asked.push(one);
    const reply = await server.answer(one);
    if (reply === 'silence') return;
    response.writeHead(reply.status ?? 200, reply.headers).end(reply.body);
  }
  const http = createServer((request, response) => void answer(request, response)).listen(0, '127.0.0.1');
  await once(http, 'listening');
  onTestFinished(() => {
    http.closeAllConnections();
    http.close();
  });
  const { port } = http.address() as AddressInfo;
  server.url = `http://127.0.0.1:${port}/approve/t0ken`;
  return server;
}
