import { createReadStream, createWriteStream, existsSync, renameSync } from 'node:fs';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import type { Answer } from './service.ts';

/** What the builder of the million may ask of its service: to settle what was ordered, or to keep the book in its file. */
export type MillionOrder = { do: 'settle' } | { do: 'keep' } | { do: 'stop' };

const keys = { secretKey: 'sk_test_bench', publicKey: 'pk_test_bench', encryptionKey: 'enc_test_bench' };
const perPage = 50;

type Transfer = { id: number; order: Record<string, string>; status: string; at: string; settledAt: string };

const [port = '0', bookFile = ''] = process.argv.slice(2);
const transfers: Transfer[] = [];
const byReference = new Map<string, Transfer>();

/** Every 67th fails, and a few disagree with the ledger, so that a reconciliation finds some of each kind. */
function statusOf(id: number): string {
  if (id % 5000 === 17) return 'pending';
  return id % 67 === 0 ? 'failed' : 'success';
}

const isHidden = ({ id }: Transfer): boolean => id % 10_000 === 55;

function add(transfer: Transfer): void {
  transfers.push(transfer);
  byReference.set(transfer.order.reference ?? '', transfer);
}

function pay(body: string): object {
  const order = JSON.parse(body);
  const { reference } = order;
  if (byReference.has(reference))
    return { success: false, status: '09', message: 'a duplicate', data: { reference } };
  const at = new Date().toISOString().replace('Z', '000Z');
  const id = transfers.length + 1;
  add({ id, order, status: 'pending', at, settledAt: at });
  return {
    success: true,
    status: '00',
    message: 'Transfer initiated',
    data: { transfer_id: String(id), reference, status: 'pending' },
  };
}

function shown({ id, order, status, at, settledAt }: Transfer): object {
  const { sender_name: _, ...own } = order;
  const amount = id % 10_000 === 33 ? `9${order.amount}` : order.amount;
  const bank = { trx: `TRX${id}`, transactionRef: null, sessionid: null, fee: '10.00', bank_name: 'A BANK' };
  return { id, ...own, amount, ...bank, domain: 'test', status, created_at: at, updated_at: settledAt };
}

function details(reference: string): object {
  const transfer = byReference.get(reference);
  return transfer && !isHidden(transfer)
    ? { success: true, status: '00', message: 'found', data: shown(transfer) }
    : { success: false, status: '04', message: 'not found' };
}

/** One page of the list, the newest first. */
function listed(page: number): object {
  const end = Math.max(0, transfers.length - (page - 1) * perPage);
  const some = transfers.slice(Math.max(0, end - perPage), end).toReversed();
  // A hidden transfer appears as somebody else's, so that the total stays what the list shows.
  const data = some.map((transfer) =>
    isHidden(transfer)
      ? { ...shown(transfer), reference: `FOREIGN-${transfer.id}`, id: 5_000_000 + transfer.id }
      : shown(transfer),
  );
  const last_page = Math.max(1, Math.ceil(transfers.length / perPage));
  const paged = { current_page: page, data, last_page, per_page: perPage, total: transfers.length };
  return { success: true, status: '00', data: paged };
}

async function answer(request: IncomingMessage): Promise<object> {
  const [name = '', argument = ''] = (request.url ?? '').replace('/api/v1/', '').split(/[/?]/);
  if (name === 'fetch_transfer_details') return details(argument);
  if (name === 'fetch_all_transfers') return listed(Number(/\bpage=(\d+)/.exec(argument)?.[1] ?? 1));
  let body = '';
  request.setEncoding('utf8');
  for await (const part of request) body += part;
  return pay(body);
}

function settle(): void {
  const settledAt = new Date().toISOString().replace('Z', '000Z');
  for (const transfer of transfers) {
    if (transfer.status !== 'pending') continue;
    transfer.status = statusOf(transfer.id);
    transfer.settledAt = settledAt;
  }
}

async function keepBook(): Promise<void> {
  const lines = function* (): Generator<string> {
    for (const transfer of transfers) yield `${JSON.stringify(transfer)}\n`;
  };
  await pipeline(Readable.from(lines()), createWriteStream(`${bookFile}.new`));
  renameSync(`${bookFile}.new`, bookFile);
}

function tell(said: Answer): void {
  process.send?.(said);
}

if (existsSync(bookFile))
  for await (const line of createInterface(createReadStream(bookFile))) add(JSON.parse(line));
const server = createServer((request: IncomingMessage, response: ServerResponse) => {
  void answer(request).then((said) => {
    const text = JSON.stringify(said);
    response.writeHead(200, {
      'content-type': 'application/json',
      'content-length': Buffer.byteLength(text),
    });
    response.end(text);
  });
});
await new Promise<void>((resolve) => server.listen(Number(port), '127.0.0.1', resolve));
process.on('message', (order: MillionOrder) => {
  if (order.do === 'stop') process.exit(0);
  if (order.do === 'settle') settle();
  const done = (): void =>
    tell({ kind: 'settled', successes: transfers.filter(({ status }) => status === 'success').length });
  if (order.do === 'keep') void keepBook().then(done);
  else done();
});
process.on('disconnect', () => process.exit(0));
tell({ kind: 'ready', url: `http://127.0.0.1:${port}`, ...keys });
