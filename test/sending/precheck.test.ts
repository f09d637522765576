import { afterEach, beforeEach, expect, it } from 'vitest';
import { readReasons } from '../../src/core/ledger/hold-reasons.ts';
import { systemClock } from '../../src/core/runtime/clock.ts';
import type { ServiceClient } from '../../src/core/service/types.ts';
import { createSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts';
import { type Brakes, noBrakes } from '../../src/sending/brakes.ts';
import { finishRelease, holdBatch, releaseBatch } from '../../src/sending/holds.sql.ts';
import { createBrakes } from '../../src/sending/open-brakes.sql.ts';
import { batchVersion, setPrecheck } from '../../src/sending/precheck.sql.ts';
import { createPrechecks } from '../../src/sending/precheck.ts';
import { addBatch, at, born, states, type TestLedger } from '../support/ledger.ts';
import { braked, named } from './brakes-setting.ts';
import { clientOf } from './setting.ts';

const ahead: Brakes = { ...noBrakes, looksAhead: true };

let sandbox: Sandbox;
let service: ServiceClient;
beforeEach(async () => {
  sandbox = await createSandbox();
  service = clientOf(sandbox);
});
afterEach(async () => {
  await service.close();
  await sandbox.stop();
});

/** Checks that ask for the balance, so many milliseconds after the ledger's birth. */
function checksAt(ledger: TestLedger, ms: number, asked: Pick<ServiceClient, 'walletBalance'> = service) {
  const now = Date.parse(born) + ms;
  return createPrechecks({
    day: () => '2026-11-22',
    ledger,
    clock: { ...systemClock(), now: () => now, iso: () => at(ms) },
    service: { accountName: service.accountName, walletBalance: asked.walletBalance },
    limiter: { take: async () => undefined },
    concurrency: 2,
    extras: { balance: 'wallet_balance', account_name: '' },
    configured: [],
  });
}
const stateOf = async (ledger: TestLedger): Promise<string | undefined> =>
  (await ledger.db.selectFrom('batches').select('precheck').executeTakeFirst())?.precheck;
const reasonsOf = async (ledger: TestLedger): Promise<string[]> => {
  const row = await ledger.db.selectFrom('batches').select('hold_reasons').executeTakeFirstOrThrow();
  return readReasons(row.hold_reasons).map(({ kind }) => kind);
};

it('claims nothing of a batch that nobody has looked at, in whichever process', async () => {
  const { ledger, claimUnder, left } = await braked();
  await addBatch(ledger, named('A', 2));
  expect(await claimUnder(ahead, 0)).toEqual([]);
  expect(await left(ahead, 0)).toBe(0);
  await checksAt(ledger, 1).run();
  expect(await left(ahead, 2)).toBe(2);
  expect(await claimUnder(ahead, 2)).toHaveLength(2);
  expect(await stateOf(ledger)).toBe('begun');
});

it('claims from a batch without a look where the extras are off', async () => {
  const { ledger, claimUnder } = await braked();
  await addBatch(ledger, named('A', 2));
  expect(await claimUnder(noBrakes, 0)).toHaveLength(2);
  expect(await stateOf(ledger)).toBe('due');
});

it('looks again at a batch that was clear and has not begun for a minute, and at none that has', async () => {
  const { ledger, claimUnder } = await braked();
  await addBatch(ledger, named('A', 1));
  await checksAt(ledger, 0).run();
  await checksAt(ledger, 59_000).run();
  expect(sandbox.extras.asked).toHaveLength(1);
  sandbox.extras.wallet.set('NGN', '0.01');
  await checksAt(ledger, 61_000).run();
  expect(await states(ledger)).toEqual({ 'A-1': 'held' });
  expect(await claimUnder(ahead, 61_000)).toEqual([]);
  await releaseBatch(ledger, { batch: 'b-1', at: at(62_000) });
  expect(await stateOf(ledger)).toBe('accepted');
  await checksAt(ledger, 200_000).run();
  expect(sandbox.extras.asked).toHaveLength(2);
  expect(await claimUnder(ahead, 200_000)).toHaveLength(1);
});

it.each([
  ['three days later', 3 * 86_400_000],
  ['after the clock was set back an hour', -3_600_000],
])('P33: a clear look lets nothing go %s', async (_, ms) => {
  const { ledger, claimUnder } = await braked();
  await addBatch(ledger, named('A', 1));
  await checksAt(ledger, 0).run();
  await createBrakes({ ledger, clock: { iso: () => at(ms) }, brakes: ahead }).settle();
  expect(await claimUnder(ahead, ms)).toEqual([]);
  await checksAt(ledger, ms).run();
  expect(await claimUnder(ahead, ms)).toHaveLength(1);
});

it.each([
  ['the balance is three days old', 3 * 86_400_000, 0],
  ['the balance is half a minute old', 30_000, 1],
])(
  'P33: where a process stood still until %s, a look counts from its question',
  async (_, stoodMs, claims) => {
    const { ledger, claimUnder } = await braked();
    await addBatch(ledger, named('A', 1));
    let ms = 0;
    const clock = { ...systemClock(), now: () => Date.parse(born) + ms, iso: () => at(ms) };
    const walletBalance: ServiceClient['walletBalance'] = async (path) => {
      const answer = await service.walletBalance(path);
      ms += stoodMs;
      return answer;
    };
    const checks = createPrechecks({
      day: () => '2026-11-22',
      ledger,
      clock,
      service: { accountName: service.accountName, walletBalance },
      limiter: { take: async () => undefined },
      concurrency: 2,
      extras: { balance: 'wallet_balance', account_name: '' },
      configured: [],
    });
    await checks.run();
    expect(await claimUnder(ahead, ms)).toHaveLength(claims);
  },
);

it('does not hold a batch again that a person released while the service was asked', async () => {
  const { ledger } = await braked();
  await addBatch(ledger, named('A', 1));
  sandbox.extras.wallet.set('NGN', '0.01');
  const walletBalance: ServiceClient['walletBalance'] = async (path) => {
    const answer = await service.walletBalance(path);
    const version = await batchVersion(ledger.db, 'b-1');
    await ledger.write((trx) => setPrecheck(trx, 'b-1', { state: 'held', at: at(1), version }));
    await releaseBatch(ledger, { batch: 'b-1', at: at(1) });
    return answer;
  };
  await checksAt(ledger, 2, { walletBalance }).run();
  expect([await stateOf(ledger), await reasonsOf(ledger)]).toEqual(['accepted', []]);
});

/** A look whose question the service answers after so many milliseconds. */
function slowChecks(ledger: TestLedger, tookMs: number) {
  let ms = 0;
  const walletBalance: ServiceClient['walletBalance'] = async (path) => {
    ms += tookMs;
    return service.walletBalance(path);
  };
  return createPrechecks({
    day: () => '2026-11-22',
    ledger,
    clock: { ...systemClock(), now: () => Date.parse(born) + ms, monotonic: () => ms, iso: () => at(ms) },
    service: { accountName: service.accountName, walletBalance },
    limiter: { take: async () => undefined },
    concurrency: 2,
    extras: { balance: 'wallet_balance', account_name: '' },
    configured: [],
  });
}

it('P32: a balance that always takes over a minute says why the batch waits, and a person ends the wait', async () => {
  const { ledger, claimUnder } = await braked();
  await addBatch(ledger, named('A', 1));
  const checks = slowChecks(ledger, 61_000);
  expect((await checks.run()).kind).toBe('trouble');
  const brakes = createBrakes({ ledger, clock: { iso: () => at(61_000) }, brakes: ahead });
  expect(await brakes.waits()).toMatchObject([{ kind: 'check', why: expect.stringContaining('too old') }]);
  expect(await claimUnder(ahead, 61_000)).toEqual([]);
  await releaseBatch(ledger, { batch: 'b-1', at: at(62_000) });
  expect(await stateOf(ledger)).toBe('accepted');
  expect(await claimUnder(ahead, 62_000)).toHaveLength(1);
});

it('P32: a hold made after the wait began ends with its release, and the look is due again', async () => {
  const { ledger, claimUnder } = await braked();
  await addBatch(ledger, named('A', 1));
  await slowChecks(ledger, 61_000).run();
  await holdBatch(ledger, { batch: 'b-1', reason: { kind: 'person' }, at: at(62_000) });
  await releaseBatch(ledger, { batch: 'b-1', at: at(63_000) });
  await releaseBatch(ledger, { batch: 'b-1', at: at(64_000) });
  expect(await claimUnder(ahead, 64_000)).toEqual([]);
});

it('compares the names again of a batch that a person held and released while the service was asked', async () => {
  const { ledger, claimUnder } = await braked();
  await addBatch(ledger, named('A', 1));
  const order = { batch: 'b-1', reason: { kind: 'person' as const }, at: at(1) };
  const checks = createPrechecks({
    day: () => '2026-11-22',
    ledger,
    clock: { ...systemClock(), iso: () => at(2) },
    service: {
      walletBalance: service.walletBalance,
      accountName: async () => {
        await holdBatch(ledger, order);
        return { kind: 'name', name: 'SOMEBODY ELSE', message: '' };
      },
    },
    limiter: { take: async () => undefined },
    concurrency: 2,
    extras: { balance: '', account_name: 'account_name' },
    configured: [],
  });
  await checks.run();
  await releaseBatch(ledger, order);
  expect(await claimUnder(ahead, 3)).toEqual([]);
  await checks.run();
  expect(await reasonsOf(ledger)).toEqual(['account_names']);
});

it('P2: an approval accepts no finding that a full disk kept from being told', async () => {
  const { ledger, claimUnder } = await braked();
  await addBatch(ledger, named('A', 1));
  sandbox.extras.wallet.set('NGN', '0.01');
  let writes = 0;
  const write: TestLedger['write'] = (work) =>
    ++writes === 2 ? Promise.reject(new Error('SQLITE_FULL')) : ledger.write(work);
  await checksAt({ ...ledger, write }, 0)
    .run()
    .catch(() => undefined);
  await finishRelease(ledger, { batch: 'b-1', at: at(1) });
  expect([await stateOf(ledger), await reasonsOf(ledger)]).toEqual(['held', ['balance']]);
  expect(await claimUnder(ahead, 1)).toEqual([]);
});

it('holds the rest of a batch whose hold a crash cut short', async () => {
  const { ledger, claimUnder } = await braked();
  await addBatch(ledger, named('A', 2));
  sandbox.extras.wallet.set('NGN', '0.01');
  const version = await batchVersion(ledger.db, 'b-1');
  await ledger.write((trx) => setPrecheck(trx, 'b-1', { state: 'held', at: at(0), version }));
  expect(await claimUnder(ahead, 1)).toEqual([]);
  await checksAt(ledger, 2).run();
  expect(await states(ledger)).toEqual({ 'A-1': 'held', 'A-2': 'held' });
  expect(await reasonsOf(ledger)).toEqual(['balance']);
});

it('asks once for all batches of a turn, and measures each with what the ones before it take', async () => {
  const { ledger } = await braked();
  await addBatch(ledger, named('A', 2), { id: 'b-1' });
  await addBatch(ledger, named('B', 2), { id: 'b-2' });
  sandbox.extras.wallet.set('NGN', '5999.99');
  await checksAt(ledger, 0).run();
  expect(sandbox.extras.asked).toHaveLength(1);
  expect(await states(ledger)).toEqual({ 'A-1': 'ready', 'A-2': 'ready', 'B-1': 'held', 'B-2': 'held' });
});

it('P2: a look at what an unfinished release has made ready clears nothing of the rest', async () => {
  const { ledger, claimUnder } = await braked();
  await addBatch(ledger, named('A', 1100));
  await holdBatch(ledger, { batch: 'b-1', at: at(0), reason: { kind: 'person' } });
  let turns = 0;
  const write: TestLedger['write'] = async (work, ...rest) => {
    if (turns++ === 2) throw new Error('the process died');
    return ledger.write(work, ...rest);
  };
  const dying = { ...ledger, db: ledger.db, place: ledger.place, write };
  await expect(releaseBatch(dying, { batch: 'b-1', at: at(1) })).rejects.toThrow('died');
  // Enough for the thousand that are ready, and not for all.
  sandbox.extras.wallet.set('NGN', '1500000.00');
  await checksAt(ledger, 2).run();
  await finishRelease(ledger, { batch: 'b-1', at: at(3) });
  expect(await claimUnder(ahead, 4)).toEqual([]);
});
