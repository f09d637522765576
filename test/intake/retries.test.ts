import { expect, it } from 'vitest';
import { record } from '../../src/core/ledger/record.ts';
import type { Ledger } from '../../src/core/storage/ledger.ts';
import { verifyLedger } from '../../src/custody/verify-ledger.ts';
import { confirmFiles } from '../../src/intake/confirm.ts';
import type { RetryRows } from '../../src/intake/retries.ts';
import { holdBatch, releaseBatch } from '../../src/sending/holds.sql.ts';
import { claimAt, recordOutcome, replies } from '../support/ledger.ts';
import { payNow, refuseAll, showAs } from './refused.ts';
import { again, decisionsOf, file, idOf, now, refused, successors, take } from './retry-setting.ts';
import { anyDay, batchOf, csv, refusal, row, setting } from './setting.ts';

it('P20: a row that pays another again is linked to it in one transaction, beside an ordinary row', async () => {
  const s = await refused('', 'A');
  const taken = await take(
    s,
    file(await again(s, 'a', { reference: 'A-R2', account: '0123456796' }), `${row('B', '7')},,`),
  );
  expect(taken).toMatchObject({
    kind: 'taken',
    rows: 2,
    holdReasons: [],
    warnings: [
      expect.stringMatching(/check digit/),
      expect.stringContaining('another account than before, the first: row 2 (A-R2)'),
    ],
  });
  const payouts = await s.ledger.db.selectFrom('payouts').selectAll().orderBy('id').execute();
  expect(payouts.map((p) => [p.reference, p.state, p.successor_of])).toEqual([
    ['A', 'refused', null],
    ['A-R2', 'ready', payouts[0]?.id],
    ['B', 'ready', null],
  ]);
  const checks = (await verifyLedger(s.ledger.path)).checks.filter(({ ok }) => !ok);
  expect(checks).toEqual([]);
});

it('P20: hostile rows are each refused: other evidence, none, a success, itself, twice, another amount, lost zeros', async () => {
  const s = await refused('', 'A', 'B', 'C');
  await s.intake.takeIn(s.drop('more.csv', csv(row('PAID', '500'), row('WAITS', '501'))), {
    origin: 'inbox',
  });
  const [claimed] = await claimAt(s.ledger, s.clock.iso());
  if (claimed) await recordOutcome(s.ledger, s.clock.iso(), claimed, replies.accepted());
  const witness = { source: 'details', status: 'success', transferId: '481' } as const;
  const rest = { trx: null, fee: null, message: null, settledAt: null };
  const event = { kind: 'witness' as const, witness: { ...witness, ...rest } };
  const payoutId = await idOf(s, 'PAID');
  await s.ledger.write((trx) => record(trx, s.clock.iso(), [{ payoutId, source: 'details', event }]));
  const other = (await again(s, 'B')).split(',').at(-1) ?? '';
  const rows = [
    await again(s, 'A', { evidence: other }),
    await again(s, 'A', { reference: 'A-R9' }),
    await again(s, 'B', { amount: '102', evidence: '', reference: 'B2' }),
    await again(s, 'NOBODY'),
    await again(s, 'X-R2', { reference: 'X-R2' }),
    await again(s, 'PAID', { amount: '500' }),
    await again(s, 'WAITS', { amount: '501' }),
    (await again(s, 'C', { amount: '102', account: '123456785' })).replace('NGN', 'ZAR'),
    await again(s, 'LIVE'),
  ];
  const said = refusal(await take(s, file(...rows))).split('\n');
  const expected = [
    /^row 2 retry_evidence \S+ is not the evidence about A as it is now; counterfoil report first-\S+ writes/,
    /^row 3 retry_of A is paid again by row 2 already; remove one/,
    /^row 4 retry_evidence {2}is empty/,
    /^row 4 reference B2 is not the reference under which B is paid again; write B-R2/,
    /^row 4 amount 102.00 is another amount than that of B; write 101.00, or remove retry_of and retry_evidence/,
    /^row 5 retry_of NOBODY is no payout of this ledger \(mode test\)/,
    /^row 6 retry_of X-R2 is no payout of this ledger/,
    /^row 7 retry_of PAID cannot be paid again now: it is paid: the service shows it; remove the row/,
    /^row 8 retry_of WAITS cannot be paid again now: it is ready/,
    /^row 9 currency ZAR is another currency than that of C; write NGN/,
    /^row 9 account_number 123456785 lacks the leading zeros that it had/,
    /^row 10 retry_of LIVE is no payout of this ledger \(mode test\)/,
  ];
  expect(said).toEqual(expected.map((pattern) => expect.stringMatching(pattern)));
  expect(await successors(s)).toEqual([]);
});

it('P20: what the command ordered while the file was read is not ordered again, and the refusal names it', async () => {
  const s = await refused('', 'A');
  const content = file(await again(s, 'A', { account: '0123456796' }));
  const ids = [await idOf(s, 'A')];
  const hurried = decisionsOf(s).rows;
  let asked = 0;
  const retries: RetryRows = {
    ...hurried,
    async examine(db, rows, recorded) {
      const examined = await hurried.examine(db, rows, recorded);
      if (asked++ > 0) return examined;
      const { digest } = await decisionsOf(s).weigh(ids, s.clock.iso());
      await decisionsOf(s).retry({ ids, since: s.clock.iso(), digest, person: 'ada' });
      return examined;
    },
  };
  const told = refusal(await s.built({ retries }).takeIn(s.drop('failed.csv', content), { origin: 'inbox' }));
  expect(told).toMatch(/^row 2 reference A-R2 is already the reference of a payout/);
  expect(await successors(s)).toEqual(['A-R2']);
});

it('P20: what changes between the reading of a file and its recording decides: the row is weighed in that transaction', async () => {
  const s = await refused('', 'A');
  const content = file(await again(s, 'A'));
  const judged = decisionsOf(s).rows;
  let asked = 0;
  const retries: RetryRows = {
    ...judged,
    async examine(db, rows, recorded) {
      const examined = await judged.examine(db, rows, recorded);
      if (asked++ > 0) return examined;
      const settled = { state: 'success' as const, evidence: 'listing' };
      await s.ledger.db.updateTable('payouts').set(settled).where('reference', '=', 'A').execute();
      return examined;
    },
  };
  const told = refusal(await s.built({ retries }).takeIn(s.drop('failed.csv', content), { origin: 'inbox' }));
  expect(told).toMatch(/^row 2 retry_of A cannot be paid again now: it is paid/);
  const left = await s.ledger.db.selectFrom('payouts').select('reference').execute();
  expect(left, 'nothing of the file stays').toEqual([{ reference: 'A' }]);
});

it('P23: killed at any write, a file that pays others again is recorded and moved once', async () => {
  for (let fatal = 1; fatal <= 5; fatal++) {
    const s = await refused(now, 'A', 'B');
    const content = file(await again(s, 'A'), await again(s, 'B', { amount: '101' }), `${row('C', '7')},,`);
    let writes = 0;
    const ledger: Ledger = {
      ...s.ledger,
      write: (work) => (++writes === fatal ? Promise.reject(new Error('killed')) : s.ledger.write(work)),
    };
    await expect(
      s.built({ ledger }).takeIn(s.drop('failed.csv', content), { origin: 'inbox' }),
    ).rejects.toThrow('killed');
    const { taken } = await s.again(now).takeInbox();
    expect(
      taken.map(({ kind }) => kind),
      `write ${fatal}`,
    ).toEqual(fatal <= 3 ? ['taken'] : []);
    expect([s.names('inbox'), s.names('archive').length, await successors(s)]).toEqual([
      [],
      2,
      ['A-R2', 'B-R2'],
    ]);
    expect(refusal(await take(s, content))).toContain('already taken as batch failed-');
    expect((await verifyLedger(s.ledger.path)).checks.filter(({ ok }) => !ok)).toEqual([]);
  }
});

it('P20: the failed payout that a row pays again is no duplicate of it, and another payment alike still is', async () => {
  const s = await refused('', 'A');
  await s.ledger.db.updateTable('payouts').set({ state: 'returned' }).execute();
  const line = await again(s, 'A');
  const checked = await s.intake.check(s.drop('failed.csv', file(line)));
  expect(checked).toMatchObject({ ok: true, duplicates: [], holdReasons: [] });
  expect(await take(s, file(line))).toMatchObject({ kind: 'taken', holdReasons: [] });
  const other = await refused('', 'A');
  await other.intake.takeIn(other.drop('other.csv', csv(row('OTHER'))), { origin: 'inbox' });
  await other.ledger.db
    .updateTable('payouts')
    .set({ state: 'returned' })
    .where('reference', '=', 'A')
    .execute();
  expect(await take(other, file(await again(other, 'A')))).toMatchObject({
    holdReasons: [{ kind: 'alike', reference: 'OTHER', batch: expect.stringMatching(/^other-/) }],
  });
});

it('P20: what pays a payout of a held batch again is held with it, and the third time counts up', async () => {
  const s = await refused('', 'A');
  const hold = { reason: { kind: 'person' as const }, at: s.clock.iso() };
  const [first] = await s.ledger.db.selectFrom('batches').select('id').execute();
  await holdBatch(s.ledger, { ...hold, batch: first?.id ?? '' });
  const taken = await take(s, file(await again(s, 'A')));
  expect(taken).toMatchObject({
    holdReasons: [{ kind: 'original_held', row: 2, reference: 'A', batch: first?.id }],
  });
  await releaseBatch(s.ledger, { batch: batchOf(taken), at: s.clock.iso() });
  await confirmFiles(s, anyDay);
  for (const claimed of await claimAt(s.ledger, s.clock.iso()))
    await recordOutcome(s.ledger, s.clock.iso(), claimed, replies.refused());
  await releaseBatch(s.ledger, { batch: first?.id ?? '', at: s.clock.iso() });
  const third = await again(s, 'A-R2', { reference: 'A-R3' });
  expect(await take(s, file(third))).toMatchObject({ kind: 'taken', holdReasons: [] });
  expect(await successors(s)).toEqual(['A-R2', 'A-R3']);
  expect((await verifyLedger(s.ledger.path)).ok).toBe(true);
});

it('P20: a row that fails its check is left out with skip_row while the others are paid again', async () => {
  const s = await refused('intake: { on_invalid_row: skip_row }', 'A', 'B');
  const bad = await again(s, 'B', { amount: '101', evidence: '000000000000' });
  const taken = await take(s, file(await again(s, 'A'), bad));
  expect(taken).toMatchObject({ kind: 'taken', rows: 1, skipped: { problemCount: 1 } });
  expect(s.read('rejected', 'failed.invalid.csv').trim().split('\r\n')[1]).toBe(bad);
  expect(await successors(s)).toEqual(['A-R2']);
});

it('refuses a file that would pay more payouts again than are decided at once', async () => {
  const s = await setting();
  const rows = Array.from({ length: 1001 }, (_, i) => `${row(`N-${i}-R2`, String(i + 1))},N-${i},x`);
  expect(refusal(await take(s, file(...rows)))).toContain('more than 1000 rows have retry_of');
});

it.each(['0123456785', '0999999999'])(
  'P20, P23: what a file pays again on %s is compared with what turned out paid since it was sent, as a retry is',
  async (account) => {
    const s = await refused('', 'A');
    await s.intake.takeIn(s.drop('b.csv', csv(row('B'))), { origin: 'inbox' });
    await refuseAll(s);
    s.clock.advance(8 * 86_400_000);
    await showAs(s, 'A', 'success');
    s.clock.advance(10 * 86_400_000);
    const content = file(await again(s, 'B', { account }));
    const reason = { kind: 'alike', row: 2, reference: 'A', others: 0 };
    expect(await s.intake.check(s.drop('failed.csv', content))).toMatchObject({
      holdReasons: [reason],
      duplicates: [{ row: 2, reference: 'B-R2', earlier: expect.stringContaining('A in batch first-') }],
    });
    expect(await take(s, content)).toMatchObject({ kind: 'taken', holdReasons: [reason] });
    expect(await successors(s)).toEqual(['B-R2']);
  },
);

it('P20: and with nothing else: not with itself, nor with what was paid long before it was sent', async () => {
  const s = await setting();
  await s.intake.takeIn(s.drop('a.csv', csv(row('A'))), { origin: 'inbox' });
  await payNow(s, 'A');
  s.clock.advance(30 * 86_400_000);
  await s.intake.takeIn(s.drop('b.csv', csv(row('B'))), { origin: 'inbox' });
  await refuseAll(s);
  expect(await take(s, file(await again(s, 'B')))).toMatchObject({ kind: 'taken', holdReasons: [] });
});
