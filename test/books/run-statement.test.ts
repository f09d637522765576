import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { addListed, addPayout, addRun, makeWorld, reportRun, reportTable, type World } from './support.ts';

let world: World;
beforeEach(async () => {
  world = await makeWorld();
  await addRun(world.ledger);
});
afterEach(() => world.close());

/** The lines of one currency as `line: [count, amount]`, zero lines left out. */
function statement(currency = 'NGN'): Record<string, [string, string]> {
  const rows = reportTable(world, 'statement.csv').filter(
    ([code, , count, amount]) => code === currency && (count !== '0' || amount !== '0.00'),
  );
  return Object.fromEntries(rows.map(([, line = '', count = '', amount = '']) => [line, [count, amount]]));
}

describe('P30: the statement', () => {
  it('ties for every ordinary fate of a payout, and shows each line', async () => {
    const { ledger } = world;
    await addPayout(ledger, 'ok', ['ready', 'sending', 'pending', 'success'], { fee: '10.755' });
    await addListed(ledger, 'OK');
    await addPayout(ledger, 'ok2', ['ready', 'sending', 'pending', 'success'], { fee: '0.001' });
    await addListed(ledger, 'ok2');
    await addPayout(ledger, 'back', ['ready', 'sending', 'pending', 'success', 'returned']);
    await addListed(ledger, 'back', { status: 'reversed' });
    await addPayout(ledger, 'fail', ['ready', 'sending', 'pending', 'failed']);
    await addListed(ledger, 'fail', { status: 'failed' });
    await addPayout(ledger, 'no', ['ready', 'sending', 'refused']);
    await addPayout(ledger, 'lost', ['ready', 'sending', 'unknown']);
    await addPayout(ledger, 'wait', ['ready', 'sending', 'pending']);
    await addListed(ledger, 'wait', { status: 'pending' });
    await addPayout(ledger, 'turned', ['ready', 'sending', 'ready', 'sending', 'pending']);
    await addListed(ledger, 'turned', { status: 'pending' });
    await addPayout(ledger, 'unsent', ['ready', 'sending', 'ready']);
    await addPayout(ledger, 'held', ['held']);
    await addListed(ledger, 'foreign', { amount: 500n });
    await reportRun(world);
    expect(statement()).toEqual({
      submitted: ['8', '800.00'],
      settled: ['3', '300.00'],
      failed: ['1', '100.00'],
      refused: ['1', '100.00'],
      closing: ['3', '300.00'],
      in_flight: ['2', '200.00'],
      unknown: ['1', '100.00'],
      returned: ['1', '100.00'],
      net_paid: ['2', '200.00'],
      fees: ['2', '10.76'],
      listed_by_service: ['6', '505.00'],
      unseen: ['1', '100.00'],
      foreign: ['1', '5.00'],
    });
  });

  it('counts a reopened payout once at the service and closes right', async () => {
    await addPayout(world.ledger, 'R1', ['ready', 'sending', 'refused', 'pending', 'success']);
    await addListed(world.ledger, 'R1');
    await reportRun(world);
    const lines = statement();
    expect(lines).toMatchObject({
      submitted: ['1', '100.00'],
      refused: ['1', '100.00'],
      reopened: ['1', '100.00'],
      settled: ['1', '100.00'],
    });
    expect([lines.closing, lines.unexplained]).toEqual([undefined, undefined]);
  });

  it('P30: a retry that waits is still an unknown, and a payout sent again is submitted once', async () => {
    const first = ['intake', 'intent', 'unknown', 'retry'] as const;
    await addPayout(world.ledger, 'waits', ['ready', 'sending', 'unknown', 'ready'], {
      events: [...first],
    });
    await addPayout(world.ledger, 'held', ['ready', 'sending', 'unknown', 'ready', 'held'], {
      events: [...first, 'hold'],
    });
    await addPayout(world.ledger, 'again', ['ready', 'sending', 'unknown', 'ready', 'sending', 'pending'], {
      events: [...first, 'intent', 'accepted'],
    });
    await reportRun(world);
    expect(statement()).toMatchObject({
      submitted: ['3', '300.00'],
      closing: ['3', '300.00'],
      unknown: ['2', '200.00'],
      in_flight: ['1', '100.00'],
    });
    expect(statement().unexplained).toBeUndefined();
  });

  it('names what differs: a success that the service lists as failed, and a second transfer', async () => {
    await addPayout(world.ledger, 'R1', ['ready', 'sending', 'pending', 'success']);
    await addListed(world.ledger, 'R1', { status: 'failed' });
    await reportRun(world);
    expect(statement().status_conflicts).toEqual(['1', '-100.00']);
    await addPayout(world.ledger, 'R2', ['ready', 'sending', 'pending', 'success'], { transfer_id: 'T-R2' });
    await addListed(world.ledger, 'R2');
    await addListed(world.ledger, 'R2', { transfer_id: 'again', amount: 70_000n });
    await reportRun(world);
    expect(statement()).toMatchObject({ status_conflicts: ['1', '-100.00'], duplicates: ['1', '700.00'] });
    expect(statement().unexplained, 'each has a name').toBeUndefined();
  });

  it('puts wrong amounts and currencies into amount_differences and still ties', async () => {
    await addPayout(world.ledger, 'R1', ['ready', 'sending', 'pending', 'success']);
    await addListed(world.ledger, 'R1', { amount: 9_000n });
    await addPayout(world.ledger, 'R2', ['ready', 'sending', 'pending']);
    await addListed(world.ledger, 'R2', { currency: 'ZAR', amount: 2_500n, status: 'pending' });
    await reportRun(world);
    expect(statement().amount_differences).toEqual(['2', '-110.00']);
    expect(statement('ZAR')).toEqual({
      listed_by_service: ['1', '25.00'],
      amount_differences: ['1', '25.00'],
    });
    expect(statement().unexplained).toBeUndefined();
  });

  it('counts as timing what was sent after the listing began and what a later look-up knew better', async () => {
    await addPayout(world.ledger, 'late', ['ready', 'sending', 'pending'], {
      times: ['2026-11-21T12:00:00.000Z', '2026-11-21T13:01:00.000Z', '2026-11-21T13:01:01.000Z'],
    });
    await addPayout(world.ledger, 'known', ['ready', 'sending', 'pending', 'failed']);
    await addListed(world.ledger, 'known', { status: 'pending', amount: 10_000n });
    await addPayout(world.ledger, 'tail', ['ready', 'sending'], {
      times: ['2026-11-21T13:01:00.000Z', '2026-11-21T13:02:00.000Z'],
      amount: 1n,
    });
    await reportRun(world);
    expect(statement().timing).toEqual(['3', '-0.01']);
    expect(statement().unexplained).toBeUndefined();
    expect(reportTable(world, 'payouts.csv').map((row) => row[9])).toEqual([
      'match_state',
      'in_flight',
      'matched',
      'in_flight',
    ]);
  });

  it('P30: counts what is recorded when it is frozen, whatever its clock says, and leaves out what the list shows of another mode', async () => {
    await addPayout(world.ledger, 'R1', ['ready', 'sending', 'pending'], {
      times: ['2026-11-21T12:00:00.000Z', '2027-01-01T00:00:00.000Z', '2026-11-20T13:00:00.000Z'],
    });
    await addListed(world.ledger, 'R1', { status: 'pending' });
    await addListed(world.ledger, 'R4', { domain: 'live' });
    await reportRun(world);
    expect(statement()).toEqual({
      submitted: ['1', '100.00'],
      closing: ['1', '100.00'],
      in_flight: ['1', '100.00'],
      listed_by_service: ['1', '100.00'],
    });
    const states = reportTable(world, 'payouts.csv').slice(1);
    expect(states.map((row) => [row[0], row[8]])).toEqual([['R1', 'pending']]);
  });

  it('adds amounts exactly beyond 64 bits', async () => {
    for (const name of ['a', 'b', 'c']) {
      await addPayout(world.ledger, name, ['ready', 'sending', 'pending'], { amount: 2n ** 63n - 1n });
      await addListed(world.ledger, name, { amount: 2n ** 63n - 1n });
    }
    await reportRun(world);
    expect(statement().submitted).toEqual(['3', '276701161105643274.21']);
    expect(statement().unexplained).toBeUndefined();
  });
});
