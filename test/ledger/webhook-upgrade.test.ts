import { hash } from 'node:crypto';
import { expect, it, onTestFinished } from 'vitest';
import { type Delivery, storeDeliveries } from '../../src/ledger/witnesses/webhook-inbox.ts';
import { at } from '../support/ledger.ts';
import { olderLedger, openUpgraded } from '../support/older-ledger.ts';

/** A webhook as an earlier version kept it. */
const heard = (digest: string, reference: string | null): string =>
  `insert into webhooks (mode, digest, received_at, last_received_at, deliveries, kind, reference, headers, body, stale)
  values ('test', '${digest}', '${at(0)}', '${at(0)}', 1, 'payout', ${reference === null ? 'null' : `'${reference}'`}, '{}', x'', 0)`;

const delivery = (digest: string, reference: string | null): Delivery => ({
  mode: 'test',
  digest,
  receivedAt: at(1),
  kind: 'payout',
  reference,
  trx: null,
  headers: '{}',
  body: new Uint8Array(),
  stale: false,
});

it('P18: a ledger of an earlier version knows the repeats of what it heard then', async () => {
  const [named, nameless] = [hash('sha256', 'named'), hash('sha256', 'nameless')];
  const path = await olderLedger([heard(named, 'R-1'), heard(nameless, null)]);
  const ledger = await openUpgraded(path, () => at(9));
  onTestFinished(() => ledger.close());
  await ledger.write((trx) => storeDeliveries(trx, [delivery(named, 'R-1'), delivery(nameless, null)]));
  const kept = await ledger.db
    .selectFrom('webhooks')
    .select(['digest', 'deliveries'])
    .orderBy('id')
    .execute();
  expect(kept).toEqual([
    { digest: named, deliveries: 2n },
    { digest: nameless, deliveries: 2n },
  ]);
});
