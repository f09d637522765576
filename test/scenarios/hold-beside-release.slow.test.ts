import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it, onTestFinished } from 'vitest';
import { openLedger } from '../../src/custody/open-ledger.ts';
import { holdReasonsOf } from '../../src/ledger/hold-reasons.ts';
import { countRows } from '../../src/storage/counting.ts';
import { batchOf, parseJson, until } from '../support/cli.ts';
import { makeHome } from '../support/decided.ts';
import { born } from '../support/ledger.ts';

const count = 12_000;

it('P21: of 12,000 payouts nothing is sent after a hold that came 60 to 480 ms into a release', async () => {
  const home = await makeHome();
  const { batch } = (await home.json(['submit', home.put('pay.csv', batchOf(count)), '--no-wait'], 0))
    .batches[0];
  const ledger = await openLedger(join(home.dir, 'data/ledger.db'), { now: () => born });
  onTestFinished(() => ledger.close());
  const ready = () => countRows(ledger.db.selectFrom('payouts').where('state', '=', 'ready'));
  for (const ms of [0, 60, 120, 240, 480]) {
    expect((await home.run(['hold', batch])).code).toBe(0);
    expect(await ready()).toBe(0);
    const release = home.start(['release', batch, '--json']);
    await until(20_000, ready, (n) => n > 0);
    await sleep(ms);
    const hold = await home.start(['hold', batch, '--json']).done;
    expect(hold.code, hold.err).toBe(0);
    const released = await release.done;
    const { reasons } = await holdReasonsOf(ledger.db, batch);
    expect([await ready(), reasons], `${ms} ms: ${released.out}`).toMatchObject([0, [{ kind: 'person' }]]);
    // Code 0: the release had ended before the hold began.
    if (released.code === 4)
      expect(parseJson(released).hold_reasons).toEqual([expect.stringContaining('held by a person')]);
  }
  const sent = await home.run(['submit']);
  expect(sent, sent.err).toMatchObject({ code: 4 });
  expect(home.sandbox.requests.posts).toBe(0);
}, 240_000);

it('P21: a killed release of 12,000 sends nothing, says so in status, and the next submit finishes it', async () => {
  const home = await makeHome();
  const { batch } = (await home.json(['submit', home.put('pay.csv', batchOf(count)), '--no-wait'], 0))
    .batches[0];
  await home.run(['hold', batch]);
  const ledger = await openLedger(join(home.dir, 'data/ledger.db'), { now: () => born });
  onTestFinished(() => ledger.close());
  const ready = () => countRows(ledger.db.selectFrom('payouts').where('state', '=', 'ready'));
  const release = home.start(['release', batch]);
  await until(20_000, ready, (n) => n > 0);
  release.signal('SIGKILL');
  await release.done;
  expect(await ready()).toBeLessThan(count);
  const status = await home.run(['status']);
  expect(status).toMatchObject({ code: 4, out: expect.stringContaining('its release is in progress') });
  const submit = home.start(['submit']);
  await until(
    20_000,
    () => holdReasonsOf(ledger.db, batch),
    ({ reasons }) => reasons.length === 0,
  );
  await until(
    20_000,
    () => home.sandbox.requests.posts,
    (posts) => posts > 0,
  );
  submit.signal('SIGINT');
  await submit.done;
  const held = ledger.db.selectFrom('payouts').where('state', '=', 'held');
  expect(await countRows(held)).toBe(0);
}, 240_000);
