import { createHmac } from 'node:crypto';
import { createServer, type IncomingHttpHeaders } from 'node:http';
import type { BankTransferRequest, ListEnvelope } from '../../src/core/service/wire.ts';
import type { Sandbox } from '../../src/sandbox/sandbox.ts';

export type Heard = { headers: IncomingHttpHeaders; body: string; path: string };

/** A payout's parameters; written in alphabetical order, so that plain JSON satisfies both readings. */
export function orderOf(
  reference: string,
  patch: Partial<BankTransferRequest> = {},
): Record<string, unknown> {
  const order: Record<string, unknown> = {
    account_name: 'ADA OBI',
    account_number: '0123456789',
    amount: '1500.00',
    bank_code: '000013',
    currency: 'NGN',
    narration: 'November salary',
    reference,
    sender_name: 'Acme Ltd',
    ...patch,
  };
  return order;
}

export function sign(key: string, body: string): string {
  return createHmac('sha512', key).update(body).digest('hex');
}

/** Sends a payout, signed as the merchant would; `parts` replaces any of what is sent. */
export function pay(
  sandbox: Sandbox,
  order: Record<string, unknown>,
  parts: { body?: string; bearer?: string; signature?: string } = {},
): Promise<Response> {
  const body = parts.body ?? JSON.stringify(order);
  return fetch(`${sandbox.url}/api/v1/bank_transfer`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      authorization: `Bearer ${parts.bearer ?? sandbox.keys.test.secretKey}`,
      signature: parts.signature ?? sign(sandbox.keys.test.encryptionKey, body),
    },
    body,
  });
}

/** Calls an endpoint below `/api/v1` with the test mode's secret key unless another is given. */
export function call(sandbox: Sandbox, path: string, method = 'GET', bearer?: string): Promise<Response> {
  const authorization = `Bearer ${bearer ?? sandbox.keys.test.secretKey}`;
  return fetch(`${sandbox.url}/api/v1/${path}`, { method, headers: { authorization } });
}

/** Reads a page of a list; the shape is what the tests are about to check. */
export async function list(sandbox: Sandbox, path: string, bearer?: string): Promise<ListEnvelope> {
  const envelope: ListEnvelope = JSON.parse(await (await call(sandbox, path, 'GET', bearer)).text());
  return envelope;
}

/** A merchant that keeps every delivery and answers with the statuses given, then 200. */
export async function startMerchant(statuses: number[] = []) {
  const heard: Heard[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.setEncoding('utf8');
    request.on('data', (chunk: string) => {
      body += chunk;
    });
    request.on('end', () => {
      heard.push({ headers: request.headers, body, path: request.url ?? '' });
      response.writeHead(statuses.shift() ?? 200).end('success');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  return {
    heard,
    base: `http://127.0.0.1:${port}`,
    url: `http://127.0.0.1:${port}/webhooks/test`,
    stop: () =>
      new Promise<void>((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
