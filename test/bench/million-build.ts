import { createWriteStream } from 'node:fs';
import { rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import * as lookUpJob from '../../jobs/look-up.ts';
import * as reconcileJob from '../../jobs/reconcile.ts';
import * as submitJob from '../../jobs/submit.ts';
import { type App, openApp } from '../../src/app/app.ts';
import { createLogger } from '../../src/core/runtime/logger.ts';
import { loadConfig } from '../../src/core/settings/settings.ts';
import { describeDelivery } from '../../src/watching/webhooks/delivery.ts';
import { storeDeliveries } from '../../src/watching/webhooks/webhook-inbox.sql.ts';
import { keys, startMillionService, writeHome } from './million-home.ts';
import { expectCount } from './ours.ts';

/**
 * Builds a ledger of so many payouts, each paid as usual: some batches, sent to a service; a webhook for nearly each payout;
 * one half settled by look-ups and pages of the list, one by a reconciliation; a few payouts of each discrepancy.
 */
const [dir = '', rows = '10000', batches = '2'] = process.argv.slice(2);
const perBatch = Number(rows) / Number(batches);
writeHome(dir);
const service = await startMillionService(dir);
const app = await open(dir);
const began = performance.now();
for (let batch = 0; batch < Number(batches); batch++) await payBatch(app, batch);
await reconcile(app);
await service.tell({ do: 'keep' });
await app.close();
await service.stop();

async function open(home: string): Promise<App> {
  const loaded = loadConfig({ cwd: home, env: keys });
  if (loaded.kind === 'problem') throw new Error(loaded.problems.join('\n'));
  const log = createLogger({ quiet: true });
  return openApp('whole', { config: loaded.config, log, breathes: true, kind: 'bench' });
}

async function payBatch(app: App, batch: number): Promise<void> {
  const file = join(dir, `salaries-${String(batch + 1).padStart(2, '0')}.csv`);
  await pipeline(lines(batch), createWriteStream(file));
  const [taken] = (await app.intake.takeFiles([file], { origin: 'named' })).taken;
  if (taken?.kind !== 'taken') throw new Error(`not taken in: ${JSON.stringify(taken).slice(0, 500)}`);
  await rm(file, { force: true });
  note(`batch ${batch + 1} taken in`);
  const { counts } = await submitJob.run(app);
  expectCount('payouts accepted', counts.accepted, perBatch);
  note(`batch ${batch + 1} sent`);
  await service.tell({ do: 'settle' });
  await deliverWebhooks(app, taken.batch);
  await app.applyWebhooks();
  note(`batch ${batch + 1}: webhooks applied`);
  if (batch % 2 === 1) return;
  while ((await lookUpJob.run(app)).nextMs === 0);
  note(`batch ${batch + 1} looked up`);
}

/** Every account differs, as do amounts; cells that are carried come after the known ones. */
function* lines(batch: number): Generator<string> {
  yield 'reference,account_number,account_name,bank_code,amount,currency,narration,sender_name,employee_id,department\n';
  for (let n = batch * perBatch; n < (batch + 1) * perBatch; n++)
    yield `ACME-2026-${n},${1_000_000_000 + n},Beneficiary Number ${n},058,${1000 + (n % 90_000)}.50,NGN,Salary November 2026,Savanna Textiles Ltd,E-${n},Department ${n % 40}\n`;
}

/** The deliveries of the batch's payouts as the receiver stores them; one in a thousand never comes. */
async function deliverWebhooks(app: App, batch: string): Promise<void> {
  const signedWith = app.account?.own.secretKey ?? '';
  for (let last = -1n; ; ) {
    const payouts = await app.ledger.db
      .selectFrom('payouts')
      .selectAll()
      .where('batch_id', '=', batch)
      .where('row_number', '>', last)
      .orderBy('row_number')
      .limit(500)
      .execute();
    if (payouts.length === 0) return;
    last = payouts.at(-1)?.row_number ?? last;
    const deliveries = payouts
      .filter(({ id }) => id % 1000n !== 3n)
      .map((payout) => {
        const isFailed = Number(payout.transfer_id) % 67 === 0;
        const body = JSON.stringify({
          status: isFailed ? '25' : '00',
          event: 'payout',
          currency: payout.currency,
          amount: `${payout.amount / 100n}.50`,
          fee: '10.00',
          account_number: payout.account_number,
          bank_code: payout.bank_code,
          account_name: payout.account_name,
          bank_name: 'A BANK',
          narration: payout.narration,
          sessionid: '',
          note: null,
          trx: `TRX${payout.transfer_id}`,
          reference: payout.reference,
          domain: 'test',
          statusMessage: isFailed ? 'failed' : 'success',
          timestamp: app.clock.iso(),
        });
        const signature = { merchantsignature: 'f'.repeat(128), payloadsignature: 'e'.repeat(128) };
        const net = {
          host: 'pay.savanna.example',
          'content-type': 'application/json',
          'content-length': `${body.length}`,
        };
        const sent = { timestamp: `${app.clock.now()}`, 'x-webhook-reference': payout.reference };
        return describeDelivery({
          body: Buffer.from(body),
          headers: { ...net, ...sent, ...signature, 'user-agent': 'axios/1.7.2', accept: '*/*' },
          authorization: 'absent',
          signedWith,
          source: { address: '10.1.2.3', protocol: 'https' },
          receivedAt: app.clock.iso(),
          nowMs: app.clock.now(),
          replayWindowMs: 300_000,
        });
      });
    await app.ledger.write((trx) => storeDeliveries(trx, deliveries));
  }
}

async function reconcile(app: App): Promise<void> {
  const { matched, complete, discrepancies } = await reconcileJob.run(app, { full: true, followUp: true });
  note(`reconciled: ${matched} matched, complete ${complete}, open ${JSON.stringify(discrepancies.open)}`);
}

function note(what: string): void {
  console.error(`${((performance.now() - began) / 1000).toFixed(0).padStart(5)} s  ${what}`);
}
