import { expect, it } from 'vitest';
import { getBatch } from '../../src/core/ledger/batches.ts';
import { confirmFiles } from '../../src/intake/confirm.ts';
import { readApprovable, recordApproval } from '../../src/sending/approvals.sql.ts';
import { noBrakes } from '../../src/sending/brakes.ts';
import { createDecisions } from '../../src/sending/decisions/decisions.ts';
import { releaseBatch } from '../../src/sending/holds.sql.ts';
import { rowFaultText } from '../../src/words/row-fault-words.ts';
import { claimAt, recordOutcome, replies } from '../support/ledger.ts';
import { anyDay, batchOf, csv, head, row, setting } from './setting.ts';

it('P20: what an approved batch did not pay is not paid from small files that need no approval themselves', async () => {
  const s = await setting('submission: { approval: above, approval_above: { NGN: "150.00" } }');
  const brakes = { ...noBrakes, approval: 'above' as const, approvalAbove: { NGN: '150.00' } };
  const first = csv(row('A', '100'), row('B', '100'));
  const id = batchOf(await s.intake.takeIn(s.drop('first.csv', first), { origin: 'inbox' }));
  const batch = await getBatch(s.ledger.db, id);
  if (!batch) throw new Error('no batch');
  const shown = await readApprovable(s.ledger.db, batch);
  await s.ledger.write((trx) => recordApproval(trx, { batch, shown, by: 'second', at: s.clock.iso() }));
  await releaseBatch(s.ledger, { batch: id, at: s.clock.iso() });
  await confirmFiles(s, anyDay);
  for (const claimed of await claimAt(s.ledger, s.clock.iso(), 5, 'w-1', brakes))
    await recordOutcome(s.ledger, s.clock.iso(), claimed, replies.refused());
  const rules = { referencePrefix: '', payoutLimit: {} };
  const decisions = createDecisions({ ledger: s.ledger, clock: s.clock, rules, say: rowFaultText });
  for (const [of, account] of [
    ['A', '0000000017'],
    ['B', '0000000024'],
  ] as const) {
    const { payouts } = await decisions.find([of]);
    const ids = payouts.map((payout) => payout.id);
    const { digest } = await decisions.weigh(ids, s.clock.iso());
    const again = `${head},retry_of,retry_evidence\n${row(`${of}-R2`, '100', account)},${of},${digest}\n`;
    const path = s.drop(`${of}.csv`, again);
    const why = { kind: 'original', row: 2, reference: of, batch: id };
    const told = { holdReasons: [{ kind: 'approval', why }] };
    expect(await s.intake.check(path), 'check says so before').toMatchObject(told);
    expect(await s.intake.takeIn(path, { origin: 'inbox' })).toMatchObject({ kind: 'taken', ...told });
    s.clock.advance(10 * 86_400_000);
  }
  expect(await claimAt(s.ledger, s.clock.iso(), 5, 'w-1', brakes)).toEqual([]);
  expect(await claimAt(s.ledger, s.clock.iso(), 5, 'w-1', noBrakes), 'whatever is configured later').toEqual(
    [],
  );
});
