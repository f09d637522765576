import { createHash, hash } from 'node:crypto';
import { createReadStream, createWriteStream, renameSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { Readable } from 'node:stream';
import { pipeline } from 'node:stream/promises';
import Database from 'better-sqlite3';
import { payeeKeysOf } from '../../src/core/domain/payee-name.ts';
import { historyHash } from '../../src/core/ledger/history.ts';

/**
 * Copies everything in a ledger of `perCopy` payouts, and the service's book, until there are `copies` times as many. Each
 * copy has its own references, accounts, ids, bodies, digests and hash chains, so that `verify` proves them and a
 * reconciliation finds them at the service.
 */
const [dir = '', perCopyText = '10000', copiesText = '100'] = process.argv.slice(2);
const perCopy = Number(perCopyText);
const copies = Number(copiesText);
/** The base has fewer history entries and inquiries than this many times its payouts. */
const entriesPerPayout = 10;

type Row = Record<string, unknown>;

const ledger = new Database(join(dir, 'data', 'ledger.db'));
ledger.pragma('synchronous = OFF');
ledger.pragma('foreign_keys = OFF');
ledger.pragma('cache_size = -500000');
ledger.pragma('wal_autocheckpoint = 50000');
const base = {
  batches: rowsOf('batches', 'created_at'),
  batch_totals: rowsOf('batch_totals', 'batch_id'),
  payout_totals: rowsOf('payout_totals', 'batch_id'),
  payouts: rowsOf('payouts', 'id'),
  attempts: rowsOf('attempts', 'id'),
  history: rowsOf('history', 'id'),
  webhooks: rowsOf('webhooks', 'id'),
  inquiries: rowsOf('inquiries', 'id'),
};
for (let copy = 1; copy < copies; copy++) ledger.transaction(copyAll)(copy);
ledger.prepare('update attempt_totals set n = n * ?').run(copies);
ledger.prepare("update tallies set n = n * ? where name like 'webhooks:%'").run(copies);
ledger.prepare('update limit_uses set used = used * ?').run(copies);
ledger.pragma('wal_checkpoint(TRUNCATE)');
ledger.close();
await copyBook(join(dir, 'book.jsonl'));

function rowsOf(table: string, order: string): Row[] {
  return ledger.prepare<[], Row>(`select * from ${table} order by ${order}`).all();
}

function inserter(table: string, rows: readonly Row[]): (row: Row) => void {
  const names = Object.keys(rows[0] ?? {});
  const insert = ledger.prepare(
    `insert into ${table} (${names.join(', ')}) values (${names.map((name) => `@${name}`).join(', ')})`,
  );
  return (row) => void insert.run(row);
}

function copyAll(copy: number): void {
  const by = copy * perCopy;
  const batchOf = (id: unknown): string => `${String(id)}-${copy}`;
  const id = (value: unknown, factor = 1): number | null =>
    value === null ? null : Number(value) + by * factor;
  const text = (value: unknown): string | null => (typeof value === 'string' ? shifted(value, by) : null);
  const insert = Object.fromEntries(
    Object.entries(base).map(([table, rows]) => [table, inserter(table, rows)]),
  );
  const bodies = new Map<unknown, ReturnType<typeof createHash>>();
  const payouts = base.payouts.map((row): Row => {
    const transfer_id = row.transfer_id === null ? null : String(Number(row.transfer_id) + by);
    const own = { id: id(row.id), batch_id: batchOf(row.batch_id), transfer_id };
    const account_name = String(text(row.account_name));
    return {
      ...row,
      ...own,
      ...payeeKeysOf({ account_name, payee_id: String(row.payee_id) }),
      last_attempt_id: id(row.last_attempt_id),
      reference: text(row.reference),
      reference_key: String(text(row.reference)).toLowerCase(),
      account_number: String(Number(row.account_number) + by),
      account_name,
      body: text(row.body),
      cells: text(row.cells),
      trx: text(row.trx),
    };
  });
  for (const { batch_id, body } of payouts.toSorted((a, b) => Number(a.row_number) - Number(b.row_number))) {
    const digest = bodies.get(batch_id) ?? createHash('sha256');
    bodies.set(batch_id, digest.update(`${String(body)}\n`));
  }
  const digests = new Map([...bodies].map(([batch, digest]) => [batch, digest.digest('hex')]));
  for (const row of base.batches) {
    const own = batchOf(row.id);
    insert.batches?.({
      ...row,
      id: own,
      content_hash: hash('sha256', `${String(row.content_hash)} ${copy}`),
      body_digest: digests.get(own),
    });
  }
  for (const row of base.batch_totals) insert.batch_totals?.({ ...row, batch_id: batchOf(row.batch_id) });
  for (const row of base.payout_totals) insert.payout_totals?.({ ...row, batch_id: batchOf(row.batch_id) });
  const heads = copyHistory(insert.history ?? (() => undefined), { by, batchOf, digests });
  for (const row of payouts) insert.payouts?.({ ...row, history_head: heads.get(row.id) });
  for (const row of base.attempts) {
    const transfer_id = row.transfer_id === null ? null : String(Number(row.transfer_id) + by);
    insert.attempts?.({
      ...row,
      id: id(row.id),
      payout_id: id(row.payout_id),
      transfer_id,
      raw: text(row.raw),
    });
  }
  for (const row of base.webhooks) {
    const body = Buffer.from(shifted(Buffer.from(row.body as Uint8Array).toString(), by));
    const own = { id: id(row.id), payout_id: id(row.payout_id), digest: hash('sha256', body) };
    const said = { reference: text(row.reference), trx: text(row.trx), headers: text(row.headers), body };
    insert.webhooks?.({ ...row, ...own, ...said });
  }
  for (const row of base.inquiries)
    insert.inquiries?.({
      ...row,
      id: id(row.id, entriesPerPayout),
      payout_id: id(row.payout_id),
      raw: text(row.raw),
      attempt_id: id(row.attempt_id),
    });
}

/** Writes the chains of a copy; returns their heads by payout. */
function copyHistory(
  insert: (row: Row) => void,
  { by, batchOf, digests }: { by: number; batchOf(id: unknown): string; digests: Map<unknown, string> },
): Map<unknown, string> {
  const heads = new Map<unknown, string>();
  const parsed = (detail: string): Record<string, unknown> => JSON.parse(detail);
  for (const row of base.history) {
    const payoutId = Number(row.payout_id) + by;
    let detail = shifted(String(row.detail), by);
    if (row.event === 'intake') {
      const { batch, ...rest } = parsed(detail);
      detail = JSON.stringify({ batch: batchOf(batch), ...rest, bodies: digests.get(batchOf(batch)) });
    }
    const source = String(row.source).replace(/^webhook (\d+)$/, (_, n) => `webhook ${Number(n) + by}`);
    const fields = { seq: BigInt(String(row.seq)), at: String(row.at), event: row.event, source, detail };
    const states = { from: row.from_state, to: row.to_state };
    const previous = heads.get(payoutId) ?? '';
    const head = historyHash(previous, { ...fields, ...states, payoutId: BigInt(payoutId) } as Parameters<
      typeof historyHash
    >[1]);
    heads.set(payoutId, head);
    const own = { id: Number(row.id) + by * entriesPerPayout, payout_id: payoutId, source, detail };
    insert({ ...row, ...own, hash: head });
  }
  return heads;
}

/** A text with each reference, account, name and id in it moved by so many. */
function shifted(text: string, by: number): string {
  return text.replace(
    /(ACME-2026-|Beneficiary Number |"E-|TRX|"transfer_id":"|"last_attempt_id":|"id":|"(?=1\d{9}"))(\d+)/g,
    (_, before: string, n: string) => `${before}${Number(n) + by}`,
  );
}

async function copyBook(file: string): Promise<void> {
  const lines: string[] = [];
  for await (const line of createInterface(createReadStream(file))) lines.push(line);
  const all = function* (): Generator<string> {
    for (let copy = 0; copy < copies; copy++)
      for (const line of lines) yield `${shifted(line, copy * perCopy)}\n`;
  };
  await pipeline(Readable.from(all()), createWriteStream(`${file}.new`));
  renameSync(`${file}.new`, file);
}
