import { z } from 'zod';
import { textsOf } from '../storage/bulk.ts';
import type { Db, Trx } from '../storage/ledger.ts';

/** How a row may differ from what its payee was paid before. `new_payee`: an account that was never paid. */
const payeeChangeKinds = ['account_changed', 'name_changed', 'amount_changed', 'new_payee'] as const;

const text = z.string();
const count = z.int().nonnegative();
const change = z.strictObject({
  row: count,
  reference: text,
  kind: z.enum(payeeChangeKinds),
  old: text,
  new: text,
  /**
   * The payout that paid the account or the name of before. Absent where none did, and where an older version compared.
   */
  was: text.exactOptional(),
});

const person = z.strictObject({ row: count, reference: text, name: text, account: text, amount: text });

/** A comparison, as it is kept. */
export const comparisonShape = z.strictObject({
  /** The batch that it is compared with, and the day on which that was taken; null: there is none before it. */
  with: text.nullable(),
  day: text,
  joined: count,
  left: count,
  /** The first of them, with whole account numbers. Absent without a batch before, and where an older version compared. */
  people: z.strictObject({ joined: z.array(person), left: z.array(person) }).exactOptional(),
  accountChanged: count,
  nameChanged: count,
  /** By more than half. */
  amountChanged: count,
  /**
   * Rows whose amount differs from that of the batch before, and by how much in all, by currency. Absent without a batch
   * before, and where an older version compared.
   */
  amounts: z.strictObject({ count, sums: z.record(text, text) }).exactOptional(),
  /** Accounts that were never paid with success. Counted where the configuration asks for it. */
  newPayees: count,
  /** Absent where they were not counted. */
  countsNew: z.literal(true).exactOptional(),
  /** The rule by which single rows of it wait for an approval; absent: none is marked. */
  marked: z.enum(['approve_changed', 'approve_new']).exactOptional(),
  /** A person approved the batch under this rule and knew that it was not compared, or that new payees were not counted. */
  waived: z.enum(['approve_changed', 'approve_new']).exactOptional(),
  /** Rows of a hundred times the amount of before, and the first of them. */
  hundredfold: z.strictObject({ count, rows: z.array(count) }),
  /** Currencies of which all amounts end in two zeros, and the total is a hundred times that of before. */
  inflated: z.array(text),
  totalsBefore: z.record(text, text),
  totalsNow: z.record(text, text),
  /** The first of each kind. Account numbers are whole. */
  changes: z.array(change),
  /** SHA-256 over every change of an account or a name, every new payee and every hundredfold row; empty for none. */
  digest: text,
});

export type PayeeComparison = z.infer<typeof comparisonShape>;
/** Somebody whom only one of the two batches pays. `row`: in that batch. */
export type ComparedPerson = z.infer<typeof person>;
export type PayeeChange = z.infer<typeof change>;

/** Keeps what was found at intake, in the transaction that decides the batch: an approval covers it (P37). */
export async function recordComparison(trx: Trx, batch: string, found: PayeeComparison): Promise<void> {
  const row = { batch_id: batch, digest: found.digest, found: JSON.stringify(found) };
  await trx.insertInto('payee_comparisons').values(row).execute();
}

/** What is kept of a batch that was compared, with nothing before it to compare with. */
export const nothingBefore: PayeeComparison = {
  ...{
    with: null,
    day: '',
    joined: 0,
    left: 0,
    accountChanged: 0,
    nameChanged: 0,
    amountChanged: 0,
    newPayees: 0,
  },
  ...{
    hundredfold: { count: 0, rows: [] },
    inflated: [],
    totalsBefore: {},
    totalsNow: {},
    changes: [],
    digest: '',
  },
};

/** Keeps by which rule a person approved a batch that was not compared as the rule asks (P37). `totalsNow`: of the batch. */
export async function waiveComparison(
  trx: Trx,
  batch: string,
  { rule: waived, totalsNow }: { rule: 'approve_changed' | 'approve_new'; totalsNow: Record<string, string> },
): Promise<void> {
  const before = await trx
    .selectFrom('payee_comparisons')
    .select('found')
    .where('batch_id', '=', batch)
    .executeTakeFirst();
  if (!before) return recordComparison(trx, batch, { ...nothingBefore, totalsNow, waived });
  const found = JSON.stringify({ ...comparisonShape.parse(JSON.parse(before.found)), waived });
  await trx.updateTable('payee_comparisons').set({ found }).where('batch_id', '=', batch).execute();
}

/** How a batch differs from the last of its series, as of its intake; null where there was nothing to compare with. */
export async function comparisonOf(db: Db | Trx, batch: string): Promise<PayeeComparison | null> {
  const row = await db
    .selectFrom('payee_comparisons')
    .select('found')
    .where('batch_id', '=', batch)
    .executeTakeFirst();
  const found = row ? comparisonShape.parse(JSON.parse(row.found)) : null;
  return found?.with === null && found.digest === '' ? null : found;
}

/** The digests of the changes of these batches, by batch; none for a batch without changes. */
export async function comparisonDigests(
  db: Db | Trx,
  batches: readonly string[],
): Promise<Map<string, string>> {
  const rows = await db
    .selectFrom('payee_comparisons')
    .select(['batch_id', 'digest'])
    .where('batch_id', 'in', textsOf(batches))
    .where('digest', '<>', '')
    .execute();
  return new Map(rows.map(({ batch_id, digest }) => [batch_id, digest]));
}
