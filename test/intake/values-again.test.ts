import { expect, it } from 'vitest';
import { holdReasonsOf } from '../../src/core/ledger/hold-reasons.ts';
import type { Trx } from '../../src/core/storage/ledger.ts';
import { alikeSince } from '../../src/intake/alike-meanwhile.ts';
import { confirmFiles } from '../../src/intake/confirm.ts';
import { createDecisions } from '../../src/sending/decisions/decisions.ts';
import { holdVerb } from '../../src/verbs/hold.ts';
import { releaseVerb } from '../../src/verbs/release.ts';
import { rowFaultText } from '../../src/words/row-fault-words.ts';
import { claimAt, recordOutcome, replies } from '../support/ledger.ts';
import { payNow, refuseAll, showAs } from './refused.ts';
import { anyDay, csv, head, type Setting, setting } from './setting.ts';

const yaml = 'intake: { unique_columns: [Invoice Number] }';

/** Payments to three suppliers, each with an invoice. */
function invoices(prefix: string, numbers: readonly string[]): string {
  const rows = numbers.map(
    (number, i) =>
      `${prefix}-${i + 1},012345678${i},Supplier Number${i},058,${1000 + i + prefix.length}.00,NGN,Invoice,Acme,${number}`,
  );
  return `${[`${head},invoice_number`, ...rows].join('\n')}\n`;
}

async function take(s: Setting, name: string, content: string) {
  const taken = await s.intake.takeIn(s.drop(name, content), { origin: 'inbox' });
  if (taken.kind !== 'taken') throw new Error(JSON.stringify(taken));
  return taken;
}

const settle = (s: Setting, batch: string, state: 'success' | 'cancelled' | 'refused') =>
  s.ledger.write((trx) => trx.updateTable('payouts').set({ state }).where('batch_id', '=', batch).execute());

it('an invoice number that was paid before, however long ago and under another account, holds the batch', async () => {
  const s = await setting(yaml);
  const { batch } = await take(s, 'june.csv', invoices('J', ['INV-1', 'INV-2', '']));
  await settle(s, batch, 'success');
  s.clock.advance(200 * 86_400_000);
  const file = s.drop('december.csv', invoices('DEC', ['INV-9', ' inv-1', '']));
  const found = {
    ...{ kind: 'value_again', row: 3, column: 'invoice_number', value: 'inv-1', others: 0 },
    before: { reference: 'J-1', batch, day: '2026-11-21' },
  };
  const checked = await s.intake.check(file);
  expect(checked.holdReasons).toEqual([found]);
  expect(checked.duplicates).toEqual([
    { row: 3, reference: 'DEC-2', earlier: `J-1 in batch ${batch} (invoice_number "inv-1")` },
  ]);
  const taken = await s.intake.takeIn(file, { origin: 'inbox' });
  expect(taken).toMatchObject({ kind: 'taken', holdReasons: [found] });
});

it('an invoice number twice in one file holds the batch; one that was cancelled or refused is free again', async () => {
  const s = await setting(yaml);
  const { batch, holdReasons } = await take(s, 'a.csv', invoices('A', ['INV-1', 'INV-2', 'inv-1']));
  expect(holdReasons).toMatchObject([{ kind: 'value_again', row: 4, before: { row: 2 } }]);
  for (const state of ['cancelled', 'refused'] as const) {
    await settle(s, batch, state);
    const free = await s.intake.check(s.drop('b.csv', invoices(`B${state}`, ['INV-1', 'INV-2'])));
    expect(free.holdReasons, state).toEqual([]);
  }
});

it('without the setting, or the column, nothing is compared', async () => {
  const s = await setting();
  await take(s, 'a.csv', invoices('A', ['INV-1', 'INV-2']));
  expect((await s.intake.check(s.drop('b.csv', invoices('BB', ['INV-1', 'INV-2'])))).holdReasons).toEqual([]);
  const other = await setting(yaml);
  const plain = csv('P-1,0123456785,Ada Eze,058,5.00,NGN,Salary,Acme');
  expect((await take(other, 'p.csv', plain)).holdReasons).toEqual([]);
  expect(await other.ledger.db.selectFrom('payout_values').selectAll().execute()).toEqual([]);
});

const femi = { name: 'femi', noted: 'femi', accounts: [{ name: 'femi', uid: null }] };
const line = (reference: string, account = '0123456785', number = 'INV-7'): string =>
  `${reference},${account},Supplier One,058,1000,NGN,Invoice,Acme,${number}`;
const one = (reference: string, account?: string): string =>
  `${head},invoice_number\n${line(reference, account)}\n`;
const partsOf = (s: Setting) => ({ ledger: s.ledger, clock: s.clock, config: s.config });
const day = 86_400_000;

/** Takes in INV-7 as A, which the service refuses. */
async function refused(text = yaml): Promise<Setting> {
  const s = await setting(text);
  await take(s, 'a.csv', one('A'));
  await refuseAll(s);
  s.clock.advance(60_000);
  return s;
}

const decisionsOf = (s: Setting) =>
  createDecisions({
    ledger: s.ledger,
    clock: s.clock,
    rules: { referencePrefix: '', payoutLimit: {} },
    say: rowFaultText,
    alike: (trx: Trx, ids: readonly bigint[], at: string) => alikeSince(trx, ids, { config: s.config, at }),
  });

async function retryOf(s: Setting, reference: string) {
  const decisions = decisionsOf(s);
  const ids = (await decisions.find([reference])).payouts.map(({ id }) => id);
  const since = s.clock.iso();
  const { digest } = await decisions.weigh(ids, since);
  const done = await decisions.retry({ ids, since, digest, person: 'femi' });
  if (done.kind !== 'decided') throw new Error(done.kind);
  return done.decided;
}

/** A file that pays A again, with further rows. */
async function retryFile(s: Setting, ...more: string[]): Promise<string> {
  const { rows, find } = decisionsOf(s);
  const ids = (await find(['A'])).payouts.map(({ id }) => id);
  const [offer] = await rows.offer(s.ledger.db, ids);
  if (!offer) throw new Error('no offer');
  const again = `${line(offer.reference)},A,${offer.claim.evidence}`;
  return `${[`${head},invoice_number,retry_of,retry_evidence`, again, ...more].join('\n')}\n`;
}

it('an invoice that a second payment paid holds a later file', async () => {
  const s = await refused();
  expect(await retryOf(s, 'A')).toMatchObject([{ reference: 'A-R2', state: 'ready' }]);
  await payNow(s, 'A-R2');
  s.clock.advance(30 * day);
  const before = { reference: 'A-R2' };
  expect((await take(s, 'b.csv', one('B'))).holdReasons).toMatchObject([{ kind: 'value_again', before }]);
});

it('an invoice that another file paid is paid again only after a person saw that', async () => {
  const s = await refused();
  const b = await take(s, 'b.csv', one('B', '0123456999'));
  expect(b.holdReasons, 'A was refused').toEqual([]);
  await payNow(s, 'B');
  expect(await retryOf(s, 'A')).toMatchObject([{ reference: 'A-R2', state: 'held' }]);
  const own = await s.ledger.db
    .selectFrom('payouts')
    .select('batch_id')
    .where('reference', '=', 'A-R2')
    .execute();
  const batch = own[0]?.batch_id ?? '';
  const before = { reference: 'B', batch: b.batch, day: '2026-11-21' };
  const said = { kind: 'value_again', row: 2, column: 'invoice_number', value: 'INV-7', before, others: 0 };
  const { reasons } = await holdReasonsOf(s.ledger.db, batch);
  expect(reasons).toMatchObject([{ ...said, scope: 'successors' }]);
  expect(await releaseVerb.run(partsOf(s), { batch }, femi)).toMatchObject({ released: { moved: 1 } });
});

it('a row that pays again repeats the invoice of its original only', async () => {
  const s = await refused();
  expect((await s.intake.check(s.drop('alone.csv', await retryFile(s)))).holdReasons).toEqual([]);
  const both = await retryFile(s, `${line('C', '0123456999')},,`);
  const { holdReasons } = await s.intake.check(s.drop('both.csv', both));
  expect(holdReasons).toMatchObject([{ kind: 'value_again', row: 3, before: { row: 2 } }]);
  await take(s, 'b.csv', one('B', '0123456999'));
  await payNow(s, 'B');
  const late = await take(s, 'late.csv', await retryFile(s));
  expect(late.holdReasons).toMatchObject([{ kind: 'value_again', row: 2, before: { reference: 'B' } }]);
});

it('a row that pays again repeats the invoice of what has failed, and no more', async () => {
  const s = await setting(yaml);
  await take(s, 'a.csv', one('A'));
  await confirmFiles(s, anyDay);
  const [claimed] = await claimAt(s.ledger, s.clock.iso());
  if (claimed) await recordOutcome(s.ledger, s.clock.iso(), claimed, replies.accepted('7'));
  await showAs(s, 'A', 'failed');
  const text = await retryFile(s);
  expect((await s.intake.check(s.drop('b.csv', one('B', '0123456999')))).holdReasons).toHaveLength(1);
  expect((await s.intake.check(s.drop('again.csv', text))).holdReasons).toEqual([]);
});

it('a row that pays again without the invoice in its cells has it all the same', async () => {
  const s = await refused();
  await take(s, 'again.csv', (await retryFile(s)).replace('INV-7', ''));
  await payNow(s, 'A-R2');
  const { holdReasons } = await s.intake.check(s.drop('b.csv', one('B', '0123456999')));
  expect(holdReasons).toMatchObject([{ kind: 'value_again', before: { reference: 'A-R2' } }]);
});

it('a held invoice that another file paid meanwhile is released only once more', async () => {
  const s = await setting(yaml);
  const a = await take(s, 'a.csv', one('A'));
  await holdVerb.run(partsOf(s), { batch: a.batch }, femi);
  const b = await take(s, 'b.csv', one('B', '0123456999'));
  const seen = await releaseVerb.run(partsOf(s), { batch: b.batch }, femi);
  expect(seen, 'the reason of B names A').toMatchObject({ released: { moved: 1 } });
  await payNow(s, 'B');
  s.clock.advance(10 * day);
  const stays = [{ kind: 'value_again', value: 'INV-7', before: { reference: 'B' } }];
  const first = await releaseVerb.run(partsOf(s), { batch: a.batch }, femi);
  expect(first).toMatchObject({ released: { moved: 0, stays } });
  const again = await releaseVerb.run(partsOf(s), { batch: a.batch }, femi);
  expect(again).toMatchObject({ released: { moved: 1, stays: [] } });
});

it('a release shows the invoice and the likeness at once', async () => {
  const s = await setting(yaml);
  const a = await take(s, 'a.csv', one('A'));
  await holdVerb.run(partsOf(s), { batch: a.batch }, femi);
  await take(s, 'b.csv', one('B'));
  const first = await releaseVerb.run(partsOf(s), { batch: a.batch }, femi);
  expect(first).toMatchObject({ released: { stays: [{ kind: 'alike' }, { kind: 'value_again' }] } });
  const again = await releaseVerb.run(partsOf(s), { batch: a.batch }, femi);
  expect(again).toMatchObject({ released: { moved: 1, stays: [] } });
});
