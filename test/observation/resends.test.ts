import { expect, it } from 'vitest';
import { createResends } from '../../src/observation/resends.ts';
import { createSandbox } from '../../src/sandbox/sandbox.ts';
import { startMerchant } from '../sandbox/harness.ts';
import { clientOf } from '../submission/setting.ts';
import { addBatch, makeLedger } from '../support/ledger.ts';
import { handClock } from './setting.ts';

it('asks for a missing webhook at most three times over all runs, and each is delivered', async () => {
  const ledger = await makeLedger();
  const merchant = await startMerchant();
  const sandbox = await createSandbox({ webhookUrl: merchant.url });
  const service = clientOf(sandbox);
  const ids = await addBatch(ledger, ['R-1', 'R-2', 'R-3']);
  for (const reference of ['R-1', 'R-2']) sandbox.book.plant({ reference });
  const rules = { mode: 'test' as const, perRun: 2 };
  const throttle = { take: async () => undefined };
  const resends = createResends({ ledger, clock: handClock(), service, throttle, rules });
  expect(await resends.ask(ids), 'no more than perRun').toBe(2);
  for (let run = 0; run < 3; run += 1) await resends.ask(ids.slice(0, 1));
  await sandbox.idle();
  expect(merchant.heard.filter((h) => h.body.includes('"R-1"'))).toHaveLength(3);
  expect(await resends.askByReference('payout', 'NOBODY')).toMatchObject({ ok: false });
  await service.close();
  await sandbox.stop();
  await merchant.stop();
  await ledger.remove();
});
