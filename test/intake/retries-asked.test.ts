import { expect, it } from 'vitest';
import type { RetryRows } from '../../src/intake/retries.ts';
import { stage } from '../../src/watching/listing/staging.sql.ts';
import { again, decisionsOf, file, idOf, now, refused, take } from './retry-setting.ts';
import { refusal } from './setting.ts';

it('P20: where nobody can be asked, a failure that nothing confirmed in the last hour is not paid again by a file', async () => {
  const s = await refused('', 'A');
  await s.ledger.db.updateTable('payouts').set({ state: 'failed', final_at: s.clock.iso() }).execute();
  const ask = {
    payout_id: await idOf(s, 'A'),
    kind: 'details' as const,
    reason: 'asked' as const,
    rung: 0n,
    outcome: 'found' as const,
    said: 'failed' as const,
  };
  s.clock.advance(1000);
  const at = s.clock.iso();
  await s.ledger.db
    .insertInto('inquiries')
    .values({ ...ask, due_at: at, asked_at: at, answered_at: at })
    .execute();
  const content = file(await again(s, 'A'));
  s.clock.advance(2 * 3_600_000);
  const late = refusal(await take(s, content));
  expect(late).toMatch(
    /^row 2 retry_of A cannot be paid again now: nothing confirms now that it failed: .*; run counterfoil reconcile/,
  );
  s.clock.advance(-1.5 * 3_600_000);
  expect(await take(s, content)).toMatchObject({ kind: 'taken' });
});

it('P20: a complete listing is as good as a look-up for a file, and like one only for an hour', async () => {
  const s = await refused('', 'A');
  await s.ledger.db.updateTable('payouts').set({ state: 'failed', final_at: s.clock.iso() }).execute();
  s.clock.advance(1000);
  const at = s.clock.iso();
  const run = { id: '20261121T100001Z', started_at: at, finished_at: at };
  await s.ledger.db
    .insertInto('runs')
    .values({ ...run, history_mark: 0n, summary: '{"complete":true}', list_standing: 'complete' })
    .execute();
  const transfer = {
    id: '481',
    trx: null,
    reference: 'A',
    currency: 'NGN',
    amount: '100.00',
    fee: null,
    account_name: 'x',
    account_number: '0123456785',
    bank_code: '058',
    domain: 'test',
    status: 'failed',
    created_at: at,
    updated_at: at,
  };
  await s.ledger.write((trx) => stage(trx, run.id, 1, [transfer]));
  await s.ledger.db
    .updateTable('listed')
    .set({ payout_id: await idOf(s, 'A') })
    .execute();
  const content = file(await again(s, 'A'));
  s.clock.advance(2 * 3_600_000);
  const foreseen = await s.intake.check(s.drop('foreseen.csv', content));
  expect(foreseen, 'what is only looked at is asked about later').toMatchObject({ ok: true });
  expect(refusal(await take(s, content))).toMatch(
    /^row 2 retry_of A failed, but nothing has confirmed that since \S+; run counterfoil reconcile --full, then drop/,
  );
  s.clock.advance(-1.5 * 3_600_000);
  expect(await take(s, content)).toMatchObject({ kind: 'taken' });
});

it('P20: told to stop while the service is asked, it refuses no file for what nobody waited to hear', async () => {
  const s = await refused(now, 'A');
  const path = s.drop('failed.csv', file(await again(s, 'A')));
  const stop = new AbortController();
  const heard: (AbortSignal | undefined)[] = [];
  const judged = decisionsOf(s).rows;
  const prepare: RetryRows['prepare'] = async (_rows, signal) => {
    heard.push(signal);
    stop.abort();
  };
  const intake = s.built({ retries: { ...judged, prepare } });
  const { signal } = stop;
  const inbox = await intake.takeInbox({ signal });
  expect(inbox.taken).toEqual([]);
  await expect(intake.takeIn(path, { origin: 'named', signal })).rejects.toThrow(
    /^interrupted before the file/,
  );
  expect(heard).toEqual([signal, signal]);
  expect([s.names('inbox'), s.names('rejected')]).toEqual([['failed.csv'], []]);
  expect((await s.intake.takeInbox()).taken, 'the next who looks takes it').toMatchObject([
    { kind: 'taken' },
  ]);
});
