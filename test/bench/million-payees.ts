import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import Database from 'better-sqlite3';
import { payeeNameLetters } from '../../src/core/domain/payee-name.ts';
import { listPayees } from '../../src/core/ledger/payee-list.ts';
import { orderOf, writeBatch } from './batch-file.ts';
import { expectCount, openBenchApp, takeIn } from './ours.ts';
import { timed } from './table.ts';

/** A ledger that has paid a million payees, 10,000 in each of 100 batches, and the next month of the first of them. */
const [perBatch, batches, changes] = [10_000, 100, 12];
const dir = mkdtempSync('/tmp/counterfoil-payees-');
const keys = { secretKey: 'sk_test_bench', publicKey: 'pk_test_bench', encryptionKey: 'enc_test_bench' };
const service = { url: 'http://127.0.0.1:9', keys, settle: async () => 0, stop: async () => undefined };
const app = await openBenchApp(dir, service, 1);
const [november, december] = [join(dir, 'november.csv'), join(dir, 'december.csv')];
await writeBatch(november, perBatch);
const month = Array.from({ length: perBatch }, (_, i) => {
  const changed = i < 10 ? { account_number: `777777777${i}` } : { account_name: `Somebody Else ${i}` };
  return { ...orderOf(i), reference: `DEC-${i}`, narration: 'December', ...(i < changes && changed) };
});
const lines = [Object.keys(orderOf(0)), ...month.map((cells) => Object.values(cells))];
writeFileSync(december, lines.map((cells) => `${cells.join(',')}\n`).join(''));
const check = async () => (await app.intake.check(december)).compared?.changes.length ?? 0;
await say('check, with no payee before', 0, check);
await takeIn(app, november, perBatch);
const db = new Database(join(dir, 'data', 'ledger.db'));
const paid = `update payouts set state = 'success', attempt_count = 1 where state <> 'success';
  update payout_totals set state = 'success'`;
db.exec(paid);
db.function('letters', (name) => payeeNameLetters(String(name)));
for (const table of ['batches', 'payout_totals', 'payouts']) copyRows(table);
await say('check, compared', changes, check);
await app.intake.takeFiles([december], { origin: 'named' });
db.exec(paid);
const page = async (changed: boolean) => (await listPayees(app.ledger.db, { changed, limit: 101 })).length;
await say('a page of payees', 101, () => page(false));
await say('payees --changed', changes, () => page(true));
await app.close();
rmSync(dir, { recursive: true });

async function say(what: string, expected: number, work: () => Promise<number>): Promise<void> {
  const { seconds, result } = await timed(work);
  expectCount(what, result, expected);
  console.log(`${seconds.toFixed(2)} s  ${what}`);
}

/** Copies the first batch under other accounts, names and references. */
function copyRows(table: string): void {
  const columns = db.prepare<[], string>(`select name from pragma_table_info('${table}')`).pluck().all();
  const suffixed = (name: string) => [name, `${name} || '-' || copy`] as const;
  const others = new Map<string, string>([
    ...['batch_id', 'content_hash', 'reference', 'reference_key', 'account_name'].map(suffixed),
    ['account_number', `account_number + copy * ${perBatch}`],
    ['name_letters', 'letters(account_name || copy)'],
    table === 'batches' ? suffixed('id') : ['id', `id + copy * ${perBatch}`],
  ]);
  db.exec(`with recursive copies (copy) as (select 1 union all select copy + 1 from copies where copy < ${batches - 1})
    insert into ${table} (${columns.join()}) select ${columns.map((name) => others.get(name) ?? name).join()}
    from copies cross join ${table}`);
}
