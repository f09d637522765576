import { sql } from 'kysely';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { accountOf } from '../../../src/core/domain/origin.ts';
import { recordStandpoint } from '../../../src/core/ledger/origins.ts';
import { absenceCases, type RunListing } from '../../../src/watching/evidence/absence-facts.sql.ts';
import {
  addBatch,
  at,
  claimAt,
  makeLedger,
  recordOutcome,
  replies,
  type TestLedger,
} from '../../support/ledger.ts';

let ledger: TestLedger;
beforeEach(async () => {
  ledger = await makeLedger();
});
afterEach(() => ledger.remove());

const listing: RunListing = {
  full: true,
  complete: true,
  begunAt: at(0),
  cut: at(0),
  oldestCreatedAt: null,
  otherDomainSeen: false,
};

it('P16: forty payouts do not each look through every webhook (a run that held up everybody for a minute)', async () => {
  const references = Array.from({ length: 40 }, (_, n) => `LOST-${n}`);
  const ids = await addBatch(ledger, references);
  const [heard = 0n] = await addBatch(ledger, ['HEARD'], { id: 'b-2' });
  const columns = sql`received_at, last_received_at, deliveries, kind, reference, headers, body, stale,
    applied_at, payout_id, verdict`;
  const times = { received_at: at(1), last_received_at: at(1), applied_at: at(2) };
  const told = {
    kind: 'payout',
    reference: 'HEARD',
    headers: '{}',
    body: Buffer.from('{}'),
  } as const;
  const counted = { deliveries: 1n, stale: 0n, payout_id: heard };
  await ledger.db
    .insertInto('webhooks')
    .values({ digest: '1', verdict: 'no_status', ...told, ...times, ...counted })
    .execute();
  await sql`with recursive n(i) as (select 2 union all select i + 1 from n where i < 50000)
    insert into webhooks (digest, ${columns}) select cast(n.i as text), ${columns} from webhooks cross join n`.execute(
    ledger.db,
  );
  const timed = async (some: readonly bigint[]): Promise<number> => {
    const begun = performance.now();
    const about = { run: 'none', listing, quietPeriodMs: 0, account: null };
    const cases = await ledger.write((trx) => absenceCases(trx, some, about));
    expect(cases.map(({ facts }) => facts.webhooks)).toEqual(some.map((id) => (id === heard ? 50_000 : 0)));
    return performance.now() - begun;
  };
  const one = await timed([heard]);
  expect(await timed(ids)).toBeLessThan(one * 15);
});

it('P16, P31: what another account did not find is no look-up of the ladder', async () => {
  const [id = 0n] = await addBatch(ledger, ['R-1']);
  const [claim] = await claimAt(ledger, at(0));
  if (claim) await recordOutcome(ledger, at(1), claim, replies.unknown());
  const [own, other] = ['sk_test_a', 'sk_test_b'].map((key) =>
    accountOf('http://a.example', { secretKeys: [key], encryptionKeys: [] }, 'secret'),
  );
  if (!own || !other) throw new Error('no account');
  const { originId } = await recordStandpoint(ledger, own);
  const { originId: otherId } = await recordStandpoint(ledger, other);
  await ledger.db.updateTable('attempts').set({ origin_id: originId }).execute();
  await ledger.db.deleteFrom('inquiries').execute();
  for (const [ms, origin_id] of [
    [2, originId],
    [3, otherId],
  ] as const) {
    const asked = { asked_at: at(ms), answered_at: at(ms), due_at: at(ms), rung_due_at: at(ms), rung: 0n };
    const told = { outcome: 'not_found' as const, attempt_id: claim?.attemptId ?? 0n, clock_off_ms: 0n };
    await ledger.db
      .insertInto('inquiries')
      .values({ payout_id: id, kind: 'details', reason: 'unknown', ...asked, ...told, origin_id })
      .execute();
  }
  const about = { run: 'none', listing, quietPeriodMs: 0, account: own };
  const [found] = await ledger.write((trx) => absenceCases(trx, [id], about));
  expect(found?.facts.notFound.map(({ askedAt }) => askedAt)).toEqual([at(2)]);
});
