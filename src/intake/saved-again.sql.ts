import { createHash } from 'node:crypto';
import { sql } from 'kysely';
import { z } from 'zod';
import { bareAccount } from '../core/domain/bare-account.ts';
import { knownColumn } from '../core/domain/batch-rules.ts';
import { dayOf } from '../core/domain/pay-day.ts';
import { movedNothing } from '../core/ledger/came-back.ts';
import type { HoldReason } from '../core/ledger/hold-reasons.ts';
import { otherZeros, paysTheSame } from '../core/ledger/same-payment.ts';
import { keyset } from '../core/storage/keyset.ts';
import type { Db } from '../core/storage/ledger.ts';
import type { Payout } from '../core/storage/tables/tables.ts';
import { tidy } from './file-rows.ts';

import type { GoodRow } from './rows.ts';

type SavedRow = Pick<
  Payout,
  | 'account_number'
  | 'account_name'
  | 'bank_code'
  | 'amount'
  | 'currency'
  | 'narration'
  | 'sender_name'
  | 'type'
  | 'pay_on'
>;
const texts = z.array(z.string());
const cellsIn = (text: string): string[] => texts.parse(JSON.parse(text));

type Form = (row: SavedRow, cells: readonly string[]) => string;

/** What a row says, whatever the spelling of its amount and of its account, and without the employer's key of its payee. */
function formOf(columns: readonly string[]): Form {
  const others = columns
    .map((text, i) => ({ known: knownColumn(text.trim()), text: text.trim(), i }))
    .filter(({ known }) => known === null || known === 'reference')
    .map(({ known, text, i }) => ({ name: known ?? `other ${text}`, i }))
    .toSorted((a, b) => (a.name < b.name ? -1 : 1));
  return ({ amount, ...row }, cells) => {
    const { account_number, account_name, bank_code, currency, narration, sender_name, type, pay_on } = row;
    const paid = [bareAccount(account_number), account_name, bank_code, amount.toString(), currency];
    const rest = others.flatMap(({ name, i }) => {
      const value = tidy(cells[i] ?? '');
      return name === 'reference' && value === '' ? [] : [[name, value]];
    });
    return `${JSON.stringify([...paid, narration, sender_name, type, pay_on, rest])}\n`;
  };
}

/** The rows of a file by what they say, added in their order. */
export function savedRows(columns: readonly string[]) {
  const form = formOf(columns);
  const hash = createHash('sha256');
  let first: { row: number; text: string; key: SavedRow } | null = null;
  let count = 0;
  let isNamed = false;
  return {
    add(rows: readonly GoodRow[]): void {
      let text = '';
      for (const { row, cells, parsed } of rows) {
        isNamed ||= parsed.reference !== null;
        if (isNamed) return;
        const key = {
          account_number: parsed.accountNumber,
          account_name: parsed.accountName,
          bank_code: parsed.bankCode,
          amount: parsed.amount,
          currency: parsed.currency,
          narration: parsed.narration,
          sender_name: parsed.senderName,
          type: parsed.type,
          pay_on: parsed.payOn,
        };
        const own = form(key, cells);
        first ??= { row, text: own, key };
        text += own;
        count += 1;
      }
      hash.update(text);
    },
    /** Null for a file whose rows have references: those tell two payments apart. */
    end: () => (first === null || isNamed ? null : { first, count, digest: hash.digest('hex') }),
  };
}

/** A file with this first row is compared with so many batches at most, the newest first. */
const mostBatches = 50;
const pageSize = 1000;

/**
 * Finds the newest batch that says row by row what this file says, where rows have no references: the same file saved again
 * by a spreadsheet, with amounts such as 6611.00 for 6611, or with a column `payee_id`. The content hash of P23 takes it
 * for another file, and its references would be new. A salary of the next month is none: it says another narration, day or
 * other column, since the content hash refuses it otherwise. So it is held however old that batch is, and never refused.
 * Archived batches lack their rows and are not compared.
 */
export async function findSavedAgain(
  db: Db,
  file: ReturnType<ReturnType<typeof savedRows>['end']>,
  { zone, own = '' }: { zone: string; own?: string },
): Promise<HoldReason[]> {
  if (file === null) return [];
  const { first, count, digest } = file;
  const { account_number, currency, amount } = first.key;
  const money = { account: sql`${account_number}`, currency: sql`${currency}`, amount: sql`${amount}` };
  const { rows: batches } = await sql<{ id: string; columns: string; created_at: string }>`
    select b.id, b.columns, b.created_at from batches b
    where b.row_count = ${count} and b.phase = 'loaded' and b.id <> ${own} and b.archive_id is null
      and exists (select 1 from ${otherZeros} z cross join payouts p where p.batch_id = b.id and ${paysTheSame('p', money)})
      and exists (select 1 from payouts p where p.batch_id = b.id and not ${movedNothing})
    order by b.created_at desc, b.id limit ${mostBatches}`.execute(db);
  for (const { id: batch, columns, created_at } of batches) {
    const reference = await sameRows(db, {
      batch,
      form: formOf(cellsIn(columns)),
      first: first.text,
      digest,
    });
    if (reference === null) continue;
    const day = dayOf(created_at, zone);
    return [{ kind: 'alike', row: first.row, reference, batch, day, others: count - 1 }];
  }
  return [];
}

/** The reference of the first row of a batch that says the same; null where it does not. Reads on only while it may. */
async function sameRows(
  db: Db,
  { batch, form, first, digest }: { batch: string; form: Form; first: string; digest: string },
): Promise<string | null> {
  const hash = createHash('sha256');
  let reference: string | null = null;
  const pages = keyset<SavedRow & Pick<Payout, 'id' | 'reference' | 'cells'>>(pageSize, (last) =>
    db
      .selectFrom('payouts')
      .select(['id', 'reference', 'account_number', 'account_name', 'bank_code', 'amount', 'currency'])
      .select(['narration', 'sender_name', 'type', 'pay_on', 'cells'])
      .where('batch_id', '=', batch)
      .where('successor_of', 'is', null)
      .where('id', '>', last?.id ?? 0n)
      .orderBy('id')
      .limit(pageSize)
      .execute(),
  );
  for await (const page of pages) {
    const texts = page.map((row) => form(row, cellsIn(row.cells)));
    if (reference === null && texts[0] !== first) return null;
    reference ??= page[0]?.reference ?? null;
    hash.update(texts.join(''));
  }
  return hash.digest('hex') === digest ? reference : null;
}
