import { expect, it, onTestFinished } from 'vitest';
import * as followUp from '../../jobs/follow-up.ts';
import { openApp } from '../../src/app/app.ts';
import { record } from '../../src/core/ledger/record.ts';
import { createLogger } from '../../src/core/runtime/logger.ts';
import { loadConfig } from '../../src/core/settings/settings.ts';
import { named } from '../sending/setting.ts';
import { makeHome } from '../support/cli.ts';
import { addBatch, at, claimAt, replies } from '../support/ledger.ts';

/** An app whose 205 payouts all became unknown long ago; taken: the service has every one of them. */
async function crowded(taken: boolean) {
  const home = await makeHome({}, { COUNTERFOIL_SERVICE_REQUESTS_PER_SECOND: '0' });
  const loaded = loadConfig({ cwd: home.dir, env: home.env });
  if (loaded.kind === 'problem') throw new Error(loaded.problems.join('\n'));
  const app = await openApp('whole', {
    config: loaded.config,
    log: createLogger({ quiet: true }),
    kind: 'test',
  });
  onTestFinished(() => app.close());
  await addBatch(app.ledger, named(205));
  const claims = await claimAt(app.ledger, at(0), 205);
  const events = claims.map(({ payoutId, attemptId }) => ({
    payoutId,
    source: 'response',
    event: { kind: 'outcome' as const, attemptId, outcome: replies.unknown() },
  }));
  await app.ledger.write((trx) => record(trx, at(1), events));
  await app.ledger.db.updateTable('inquiries').set({ due_at: '2026-01-01T00:00:00.000Z' }).execute();
  const order = { account_number: '0123456789', bank_code: '000013', amount: '1500.00' };
  // The ledger's test payouts are dated ahead of the machine's clock.
  const created_at = '2026-11-21T10:00:00.500000Z';
  if (taken) for (const reference of named(205)) home.sandbox.book.plant({ ...order, reference, created_at });
  const inState = (state: 'unknown' | 'success') =>
    app.ledger.db.selectFrom('payouts').select('id').where('state', '=', state).execute();
  return { app, inState };
}

it('P19: when many are unknown the listing comes first, and answers them without a look-up each', async () => {
  const { app, inState } = await crowded(true);
  expect((await followUp.run(app)).lookups).toBe(0);
  expect(await inState('success')).toHaveLength(205);
});

it('P19: what the listing left open is asked within a budget, the list itself at most once an hour', async () => {
  const { app, inState } = await crowded(false);
  expect((await followUp.run(app)).lookups).toBe(200);
  expect((await followUp.run(app)).lookups).toBe(5);
  expect(await inState('unknown')).toHaveLength(205);
  expect(await app.ledger.db.selectFrom('runs').select('id').execute()).toHaveLength(1);
});
