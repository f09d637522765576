import { createHmac } from 'node:crypto';
import { createReadStream, createWriteStream } from 'node:fs';
import { pipeline } from 'node:stream/promises';
import Database from 'better-sqlite3';
import { parse } from 'csv-parse';
import { stringify } from 'csv-stringify';
import { Pool } from 'undici';
import { orderOf } from './batch-file.ts';

/** The least that any program must do for a step: no ledger, no checks, no evidence. Nothing here is ours. */
export type Bare = { url: string; secretKey: string; encryptionKey: string; concurrency: number };

export function bodyOf(i: number): string {
  const sorted = Object.entries(orderOf(i)).sort(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify(Object.fromEntries(sorted));
}

/** Signs and POSTs `rows` bodies. */
export async function barePosts(service: Bare, rows: number): Promise<void> {
  const bodies = Array.from({ length: rows }, (_, i) => bodyOf(i));
  await withPool(service, async (pool) => {
    await spread(
      service.concurrency,
      rows,
      async (i) => void (await signedPost(pool, service, bodies[i] ?? '')),
    );
  });
}

/** Returns the service's answer. */
export async function signedPost(pool: Pool, service: Bare, body: string): Promise<string> {
  const reply = await pool.request({
    path: '/api/v1/bank_transfer',
    method: 'POST',
    headers: {
      authorization: `Bearer ${service.secretKey}`,
      signature: createHmac('sha512', service.encryptionKey).update(body).digest('hex'),
      'content-type': 'application/json',
    },
    body,
  });
  const text = await reply.body.text();
  if (reply.statusCode !== 200) throw new Error(`bare POST: ${reply.statusCode} ${text}`);
  return text;
}

/** The same with Node's `fetch` and two commits a payout, as a plain script that keeps a record would do it. */
export async function plainPosts(service: Bare, rows: number, path: string): Promise<void> {
  const ledger = new Database(path);
  ledger.pragma('journal_mode = WAL');
  ledger.pragma('synchronous = FULL');
  ledger.exec('create table payouts (id integer primary key, state text not null, answer text) strict');
  const begin = ledger.prepare("insert into payouts (id, state) values (?, 'sending')");
  const end = ledger.prepare("update payouts set state = 'pending', answer = ? where id = ?");
  await spread(service.concurrency, rows, async (i) => {
    const body = bodyOf(i);
    begin.run(i);
    const reply = await fetch(`${service.url}/api/v1/bank_transfer`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${service.secretKey}`,
        signature: createHmac('sha512', service.encryptionKey).update(body).digest('hex'),
        'content-type': 'application/json',
      },
      body,
    });
    const text = await reply.text();
    if (reply.status !== 200) throw new Error(`plain POST: ${reply.status} ${text}`);
    end.run(text, i);
  });
  ledger.close();
}

/** Asks for the details of the first `rows` payouts and parses the answers. */
export async function bareLookUps(service: Bare, rows: number): Promise<void> {
  await withPool(service, (pool) =>
    spread(service.concurrency, rows, async (i) => {
      await getJson(pool, service, `fetch_transfer_details/OURS-${i}`);
    }),
  );
}

/** Fetches and parses every page of the list once; returns the rows seen. */
export async function bareListing(service: Bare): Promise<number> {
  let seen = 0;
  await withPool(service, async (pool) => {
    const page = async (number: number): Promise<number> => {
      const { data } = await getJson(pool, service, `fetch_all_transfers?page=${number}`);
      seen += data.data.length;
      return data.last_page;
    };
    const last = await page(1);
    await spread(service.concurrency, last - 1, async (i) => void (await page(i + 2)));
  });
  return seen;
}

/** Reads a CSV file row by row and looks at nothing. */
export async function bareParse(path: string): Promise<number> {
  let rows = 0;
  for await (const _ of createReadStream(path).pipe(parse({ columns: true }))) rows += 1;
  return rows;
}

/** Writes a CSV file of as many rows and columns as results.csv has. */
export async function bareWrite(path: string, rows: number): Promise<void> {
  const lines = function* (): Generator<string[]> {
    for (let i = 0; i < rows; i++) yield [...Object.values(orderOf(i)), ...Array(8).fill('2026-11-21')];
  };
  await pipeline(lines, stringify(), createWriteStream(path));
}

type Page = { data: { data: unknown[]; last_page: number } };

async function getJson(pool: Pool, { secretKey }: Bare, path: string): Promise<Page> {
  const headers = { authorization: `Bearer ${secretKey}` };
  const reply = await pool.request({ path: `/api/v1/${path}`, method: 'GET', headers });
  const text = await reply.body.text();
  if (reply.statusCode !== 200) throw new Error(`bare GET ${path}: ${reply.statusCode} ${text}`);
  return JSON.parse(text);
}

export async function withPool<T>(service: Bare, work: (pool: Pool) => Promise<T>): Promise<T> {
  const pool = new Pool(service.url, { connections: service.concurrency, pipelining: 1, allowH2: false });
  try {
    return await work(pool);
  } finally {
    await pool.close();
  }
}

/** Runs `work(0 … count - 1)`, `concurrency` at a time. */
async function spread(concurrency: number, count: number, work: (i: number) => Promise<void>): Promise<void> {
  let next = 0;
  const worker = async (): Promise<void> => {
    while (next < count) await work(next++);
  };
  await Promise.all(Array.from({ length: concurrency }, worker));
}
