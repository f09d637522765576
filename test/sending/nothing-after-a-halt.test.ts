import { setImmediate } from 'node:timers/promises';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import type { AttemptOutcome } from '../../src/core/domain/outcome.ts';
import type { ServiceClient } from '../../src/core/service/types.ts';
import type { Ledger } from '../../src/core/storage/ledger.ts';
import { createSandbox, type Sandbox } from '../../src/sandbox/sandbox.ts';
import { addBatch, makeLedger, type TestLedger } from '../support/ledger.ts';
import { clientOf, named, senderOf } from './setting.ts';

const concurrency = 4;
let ledger: TestLedger;
let sandbox: Sandbox;
let client: ServiceClient;
beforeEach(async () => {
  ledger = await makeLedger();
  sandbox = await createSandbox({ settleMs: 60_000, strictSignature: true });
  client = clientOf(sandbox);
});
afterEach(async () => {
  await client.close();
  await sandbox.stop();
  await ledger.remove();
});

const halting: AttemptOutcome = {
  kind: 'unknown',
  code: '10',
  httpStatus: 200,
  message: '',
  raw: '',
  halts: true,
};
const inState = (state: 'ready' | 'sending') =>
  ledger.db.selectFrom('payouts').select('reference').where('state', '=', state).execute();

it('P1: no more intents are open than there are request slots', async () => {
  await addBatch(ledger, named(100));
  let mostOpen = 0;
  const watched: ServiceClient = {
    ...client,
    async bankTransfer(...order) {
      const open = ledger.db.selectFrom('attempts').select('id').where('outcome', 'is', null);
      mostOpen = Math.max(mostOpen, (await open.execute()).length);
      return client.bankTransfer(...order);
    },
  };
  const result = await senderOf(ledger, watched, { concurrency }).run();
  expect(result).toMatchObject({ ended: 'drained', counts: { accepted: 100 } });
  expect(mostOpen).toBe(concurrency);
});

it('P11: an answer about the account that comes in while the next intents commit lets none of them go', async () => {
  await addBatch(ledger, named(20));
  let answerHalt: (() => void) | undefined;
  const watched: ServiceClient = {
    ...client,
    bankTransfer(body, reference, mayBegin) {
      if (reference !== 'R-4') return client.bankTransfer(body, reference, mayBegin);
      return new Promise((resolve) => {
        answerHalt = () => resolve(halting);
      });
    },
  };
  const write: Ledger['write'] = async (work) => {
    const done = await ledger.write(work);
    answerHalt?.();
    await setImmediate();
    return done;
  };
  const result = await senderOf({ ...ledger, write }, watched, { concurrency }).run();
  expect(result.ended).toBe('halted');
  expect(named(20).filter((reference) => sandbox.requests.bodies(reference) > 0)).toEqual([
    'R-1',
    'R-2',
    'R-3',
    'R-5',
  ]);
  expect(await inState('sending')).toEqual([]);
  expect(await inState('ready')).toHaveLength(15);
});

it('P11: a request whose connection is still being opened when such an answer comes in is not sent', async () => {
  await addBatch(ledger, named(5));
  const { promise: halted, resolve } = Promise.withResolvers<void>();
  const watched: ServiceClient = {
    ...client,
    async bankTransfer(body, reference, mayBegin) {
      if (reference === 'R-4') {
        await vi.waitUntil(() => sandbox.requests.posts === 3, { interval: 1, timeout: 10_000 });
        void setImmediate().then(resolve);
        return halting;
      }
      if (reference === 'R-5') await halted;
      return client.bankTransfer(body, reference, mayBegin);
    },
  };
  const result = await senderOf(ledger, watched, { concurrency }).run();
  expect(result).toMatchObject({ ended: 'halted', counts: { accepted: 3, unknown: 1, not_sent: 1 } });
  expect(sandbox.requests.bodies('R-5')).toBe(0);
  expect(await inState('ready')).toEqual([{ reference: 'R-5' }]);
});
