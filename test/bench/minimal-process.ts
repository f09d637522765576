import { createHmac } from 'node:crypto';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { Answer, Order } from './service.ts';

/** The least that a payments service can be: it verifies the signature, keeps the order and answers at once. */
const keys = { secretKey: 'sk_test_bench', publicKey: 'pk_test_bench', encryptionKey: 'enc_test_bench' };
const perPage = 50;

type Transfer = { id: number; order: Record<string, string>; status: string; at: string };
type Book = { transfers: Transfer[]; byReference: Map<string, Transfer> };

function pay({ transfers, byReference }: Book, body: string, signature: unknown): object {
  if (signature !== createHmac('sha512', keys.encryptionKey).update(body).digest('hex'))
    return { success: false, status: '22', message: 'bad signature' };
  const order = JSON.parse(body);
  const { reference } = order;
  if (byReference.has(reference))
    return { success: false, status: '09', message: 'a duplicate', data: { reference } };
  const id = transfers.length + 1;
  const transfer = { id, order, status: 'pending', at: new Date().toISOString().replace('Z', '000Z') };
  transfers.push(transfer);
  byReference.set(reference, transfer);
  const data = { transfer_id: String(id), reference, status: 'pending' };
  return { success: true, status: '00', message: 'Transfer initiated', data };
}

function shown({ id, order, status, at }: Transfer): object {
  const { sender_name: _, ...own } = order;
  const bank = { trx: `TRX${id}`, transactionRef: null, sessionid: null, fee: '10.00', bank_name: 'A BANK' };
  return { id, ...own, ...bank, domain: 'test', status, created_at: at, updated_at: at };
}

function details({ byReference }: Book, reference: string): object {
  const transfer = byReference.get(reference);
  return transfer
    ? { success: true, status: '00', message: 'found', data: shown(transfer) }
    : { success: false, status: '04', message: 'not found' };
}

/** One page of the list, the newest first. */
function listed({ transfers }: Book, page: number): object {
  const end = Math.max(0, transfers.length - (page - 1) * perPage);
  const data = transfers
    .slice(Math.max(0, end - perPage), end)
    .toReversed()
    .map(shown);
  const last_page = Math.max(1, Math.ceil(transfers.length / perPage));
  const paged = { current_page: page, data, last_page, per_page: perPage, total: transfers.length };
  return { success: true, status: '00', data: paged };
}

async function answer(book: Book, request: IncomingMessage): Promise<object> {
  const [name = '', argument = ''] = (request.url ?? '').replace('/api/v1/', '').split(/[/?]/);
  if (request.headers.authorization !== `Bearer ${keys.secretKey}`)
    return { success: false, status: '18', message: 'unknown key' };
  if (name === 'fetch_transfer_details') return details(book, argument);
  if (name === 'fetch_all_transfers') return listed(book, Number(/\bpage=(\d+)/.exec(argument)?.[1] ?? 1));
  let body = '';
  request.setEncoding('utf8');
  request.on('data', (part: string) => {
    body += part;
  });
  await new Promise((resolve) => request.on('end', resolve));
  return pay(book, body, request.headers.signature);
}

async function startMinimal(): Promise<{ book: Book; url: string }> {
  const book: Book = { transfers: [], byReference: new Map() };
  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    void answer(book, request).then((said) => {
      const text = JSON.stringify(said);
      response.writeHead(200, {
        'content-type': 'application/json',
        'content-length': Buffer.byteLength(text),
      });
      response.end(text);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  if (typeof address !== 'object' || !address) throw new Error('no address');
  return { book, url: `http://127.0.0.1:${address.port}` };
}

function tell(said: Answer): void {
  process.send?.(said);
}

const { book, url } = await startMinimal();
process.on('message', (order: Order) => {
  if (order.do === 'stop') process.exit(0);
  for (const transfer of book.transfers) transfer.status = 'success';
  tell({ kind: 'settled', successes: book.transfers.length });
});
process.on('disconnect', () => process.exit(0));
tell({ kind: 'ready', url, ...keys });
