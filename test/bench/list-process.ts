import { createServer } from 'node:http';

/** Serves the list of so many transfers, the newest first, 50 a page, each page's text made once. */
const rows = Number(process.argv[2]);
const perPage = 50;
const lastPage = Math.max(1, Math.ceil(rows / perPage));
const first = Date.UTC(2026, 9, 1);

function transfer(n: number): object {
  const at = new Date(first + n * 100).toISOString().replace('Z', '000Z');
  return {
    id: n,
    trx: `TRX${n}`,
    reference: `OURS-${n}`,
    transactionRef: null,
    sessionid: null,
    currency: 'NGN',
    amount: '100.00',
    fee: '10.00',
    account_name: 'ADA OBI',
    account_number: '0123456789',
    bank_name: 'A BANK',
    bank_code: '000013',
    narration: 'November salary',
    domain: 'test',
    status: 'success',
    created_at: at,
    updated_at: at,
  };
}

function pageText(page: number): string {
  const newest = rows - (page - 1) * perPage;
  const data = Array.from({ length: Math.max(0, Math.min(perPage, newest)) }, (_, i) => transfer(newest - i));
  const shown = { current_page: page, data, last_page: lastPage, per_page: perPage, total: rows };
  return JSON.stringify({ success: true, status: '00', data: shown });
}

const server = createServer((request, response) => {
  const page = Number(/page=(\d+)/.exec(request.url ?? '')?.[1] ?? 1);
  response.setHeader('content-type', 'application/json');
  response.end(pageText(page));
});
server.listen(0, '127.0.0.1', () => {
  const address = server.address();
  if (typeof address === 'object' && address) process.send?.(`http://127.0.0.1:${address.port}`);
});
