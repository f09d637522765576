// Pays the open orders of an order system: one CSV file, one post, then waits for each payout to end.
// Use: COUNTERFOIL_URL=http://127.0.0.1:8788 COUNTERFOIL_TOKEN=… node pay-from-orders.mjs orders.json
// The token needs the roles `drop` and `read`.
import { readFileSync } from 'node:fs';
import { ApiError, createClient } from 'counterfoil/client';

const { COUNTERFOIL_URL: url = '', COUNTERFOIL_TOKEN: token = '' } = process.env;
const client = createClient({ url, token });

/** @type {{ id: string, account: string, name: string, bank: string, amount: string }[]} */
const orders = JSON.parse(readFileSync(process.argv[2] ?? 'orders.json', 'utf8'));

// The number of the order is the reference: an order that comes in a second file is refused, not paid again.
const header = 'reference,account_number,account_name,bank_code,amount,currency,narration,sender_name';
const cell = (/** @type {string} */ text) => `"${text.replaceAll('"', '""')}"`;
const lines = orders.map(({ id, account, name, bank, amount }) =>
  [id, account, cell(name), bank, amount, 'NGN', 'Order', 'Shop'].join(','),
);

const { next: before } = await client.listEvents({ after: 'latest' });
const batch = await client
  .postBatch(`${[header, ...lines].join('\n')}\n`, { name: 'orders.csv', rows: orders.length })
  .catch((error) => {
    // An earlier run of this program posted the same orders, and ended before it knew.
    if (!(error instanceof ApiError) || error.details.batch === undefined) throw error;
    return client.getBatch({ batch: error.details.batch });
  });
console.log(`${batch.batch}: ${batch.rows} orders, ${batch.state}`);
// A held batch waits for a person: so does this program.
for (const reason of batch.hold_reasons) console.log(`held: ${reason}`);

const ends = ['success', 'failed', 'cancelled', 'returned'];
const open = new Set();
for (let after; after !== null; ) {
  const page = await client.listPayouts({ batch: batch.batch, limit: 1000, after });
  for (const { reference, state } of page.payouts)
    if (ends.includes(state)) console.log(`${reference} ${state}`);
    else open.add(reference);
  after = page.next;
}
if (open.size > 0)
  for await (const event of client.events(before === null ? {} : { after: before })) {
    if (event.type !== 'payout.changed' || !ends.includes(event.data.to)) continue;
    if (!open.delete(event.reference ?? '')) continue;
    console.log(`${event.reference} ${event.data.to}`);
    if (open.size === 0) break;
  }
