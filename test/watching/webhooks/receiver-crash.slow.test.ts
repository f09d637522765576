import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openLedger } from '../../../src/custody/open-ledger.ts';
import { type Home, makeHome, until } from '../../support/cli.ts';
import { dial, exchange, requestBytes, sign, statusesOf } from '../../support/receiver.ts';
import { serving } from '../../support/serving.ts';

type Load = { acknowledged: Set<string>; stop(): Promise<void> };

/** Delivers without pause on some connections, each event once, and notes which were answered 200. */
function load(home: Home, port: number, lanes = 16): Load {
  const { secretKey } = home.sandbox.keys.test;
  const acknowledged = new Set<string>();
  let sent = 0;
  let stopped = false;
  const lane = async (): Promise<void> => {
    while (!stopped) {
      sent += 1;
      const body = `{"event":"payout","reference":"LOAD-${sent}"}`;
      const headers = {
        payloadsignature: sign(body, secretKey),
        merchantsignature: null,
        authorization: null,
      };
      const reply = await exchange(port, [requestBytes(body, { headers })]).catch(() => '');
      if (statusesOf(reply)[0] === 200) acknowledged.add(body);
      else if (reply === '') return;
    }
  };
  const running = Array.from({ length: lanes }, lane);
  return {
    acknowledged,
    async stop() {
      stopped = true;
      await Promise.all(running);
    },
  };
}

async function keptIn(home: Home): Promise<{ body: string; applied: boolean }[]> {
  const ledger = await openLedger(join(home.dir, 'data', 'ledger.db'), {
    now: () => new Date().toISOString(),
  });
  const rows = await ledger.db.selectFrom('webhooks').select(['body', 'applied_at']).execute();
  await ledger.close();
  return rows.map((row) => ({ body: Buffer.from(row.body).toString(), applied: row.applied_at !== null }));
}

it('kill -9 under load: every delivery that was acknowledged is in the ledger', async () => {
  const home = await makeHome();
  for (let round = 0; round < 3; round++) {
    const { daemon, url } = await serving(home);
    const port = Number(new URL(url).port);
    const under = load(home, port);
    await until(
      20_000,
      () => under.acknowledged.size,
      (size) => size > 100 + 70 * round,
    );
    daemon.signal('SIGKILL');
    await daemon.done;
    await under.stop();
    const kept = new Set((await keptIn(home)).map(({ body }) => body));
    expect([...under.acknowledged].filter((body) => !kept.has(body))).toEqual([]);
  }
}, 90_000);

it('SIGTERM under load: what was read is answered and applied, a sender that never ends holds nobody up', async () => {
  const home = await makeHome();
  const { daemon, url } = await serving(home);
  const port = Number(new URL(url).port);
  const endless = await dial(port);
  endless.on('error', () => undefined);
  endless.resume().write('POST /webhooks/test HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc');
  const under = load(home, port);
  await until(
    20_000,
    () => under.acknowledged.size,
    (size) => size > 100,
  );
  const began = performance.now();
  daemon.signal('SIGTERM');
  const { code, err } = await daemon.done;
  expect(performance.now() - began, err).toBeLessThan(9000);
  expect(code, err).toBe(0);
  await under.stop();
  endless.destroy();
  const kept = await keptIn(home);
  const bodies = new Set(kept.map(({ body }) => body));
  expect([...under.acknowledged].filter((body) => !bodies.has(body))).toEqual([]);
  expect(kept.filter(({ applied }) => !applied)).toEqual([]);
}, 90_000);
