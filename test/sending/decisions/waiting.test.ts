import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { notReleasedLines } from '../../../src/faces/terminal/kit/describe.ts';
import { remedyText } from '../../../src/faces/terminal/kit/remedy-text.ts';
import { findAttention } from '../../../src/sending/attention.sql.ts';
import { cancelUnsent } from '../../../src/sending/decisions/cancel-unsent.sql.ts';
import { holdBatch, releaseBatch } from '../../../src/sending/holds.sql.ts';
import { reasonText } from '../../../src/words/advice-text.ts';
import { listedTransfer, nightOf } from '../../books/discrepancies/setting.ts';
import { addBatch, at, makeLedger, payoutById, replies, type TestLedger } from '../../support/ledger.ts';
import { createTold, hour, shown } from './told.ts';

let ledger: TestLedger;
beforeEach(async () => {
  ledger = await makeLedger();
});
afterEach(() => ledger.remove());

const told = createTold(() => ledger);
const batch = (ms: number) => ({ batch: 'b-1', at: at(ms) });
const listed = (id: string, status: string, other: object = {}) =>
  listedTransfer('F', { id, status, created_at: at(50), updated_at: at(2 * hour), ...other });

/** Why what was to go is held, as `status` tells it. */
async function heldBecause(): Promise<string> {
  const { withheld } = await findAttention(ledger.db);
  expect(withheld.count, 'held, and said so').toBe(1);
  return withheld.first.map(reasonText).join();
}

async function sentOnRelease(ms: number): Promise<string[]> {
  await releaseBatch(ledger, batch(ms));
  return told.claimed(ms + 1);
}

describe('what was never sent', () => {
  it('P15: is not sent once a webhook says that the service has it, until a look-up finds nothing', async () => {
    const [id = 0n] = await addBatch(ledger, ['F']);
    await told.heard(1000, 'success');
    expect(await told.claimed(2000)).toEqual([]);
    expect(await heldBecause()).toMatch(/^a webhook that no look-up has settled .* under F already.*retry F/);
    const said = { ...batch(2500), source: 'person:ada', why: 'cancelled by ada' };
    expect(await cancelUnsent(ledger, said), 'never sent could be false').toMatchObject({
      cancelled: 0,
      listed: 1,
    });
    await told.unanswered(id, 3000);
    expect(await sentOnRelease(4000), 'an answer that stayed away settles nothing').toEqual([]);
    await told.lookedInVain(id, 5000);
    expect(await sentOnRelease(6000)).toEqual(['F']);
  });

  it('P15: is not sent while the details show it, whatever they do not find later', async () => {
    const [id = 0n] = await addBatch(ledger, ['F']);
    await told.looked(id, 1000, shown('success'));
    expect(await told.claimed(2000)).toEqual([]);
    expect(await heldBecause()).toMatch(/details say .* under F already.*counterfoil restore --adopt/);
    await told.lookedInVain(id, 3000);
    expect(await sentOnRelease(4000)).toEqual([]);
  });

  it.each(['FF', 'ff', 'Ff'])(
    'P15: is not sent when a webhook named %s before its file was dropped, until the service was asked',
    async (reference) => {
      await told.heard(1000, 'success', { reference });
      const [id = 0n] = await addBatch(ledger, ['fF', 'G']);
      expect(await told.claimed(2000)).toEqual(['G']);
      expect(await heldBecause()).toMatch(/^a webhook that no look-up has settled/);
      const due = ledger.db.selectFrom('inquiries').select('reason').where('payout_id', '=', id);
      expect(await due.execute(), 'the service is asked').toEqual([{ reason: 'webhook_unsent' }]);
      await told.lookedInVain(id, 3000);
      expect(await sentOnRelease(4000)).toEqual(['fF']);
    },
  );
});

describe('a retry under the same reference that waits', () => {
  async function retried(): Promise<bigint> {
    const id = await told.sent(replies.unknown());
    expect(await told.orderAgain(id, hour)).toMatchObject({ decided: [{ reference: 'F', state: 'ready' }] });
    return id;
  }

  /** It is unknown again, and says why; nothing but a new decision sends it. */
  async function takenBack(id: bigint, why: RegExp): Promise<void> {
    expect(await payoutById(ledger, id)).toMatchObject({
      state: 'unknown',
      message: expect.stringMatching(why),
    });
    const { cases } = await told.decisionsAt(9 * hour).weigh([id], at(9 * hour));
    expect(cases.map(remedyText).join(), 'as `show` and `retry` tell it').toContain('counterfoil settle F');
    expect((await findAttention(ledger.db)).unknown).toMatchObject({ count: 1 });
  }
  const different = { amount: '1490.00' };

  it('P20: is taken back when the details show a transfer under it with another amount', async () => {
    const id = await retried();
    await told.looked(id, 2 * hour, shown('success', different));
    expect(await told.claimed(3 * hour)).toEqual([]);
    await takenBack(id, /^the service's details say /);
    expect(await told.judged(id, 4 * hour)).toMatchObject({ kind: 'no' });
    const settled = {
      ids: [id],
      since: at(3 * hour),
      person: 'ada',
      as: 'success' as const,
      note: 'fee off',
    };
    const decisions = told.decisionsAt(4 * hour);
    const { digest } = await decisions.weigh([id], at(3 * hour));
    expect(await decisions.settle({ ...settled, digest })).toMatchObject({ decided: [{ state: 'success' }] });
  });

  it('P20: is taken back when the list shows one that has not failed, and may be ordered anew once it does not', async () => {
    const id = await retried();
    const rows = [listed('T-1', 'success', different)];
    await nightOf(ledger, { at: 2 * hour, rows, full: true, details: 'no_answer' });
    expect(await told.claimed(3 * hour)).toEqual([]);
    await takenBack(id, /list shows a transfer under F that has not failed/);
    expect(await told.judged(id, 4 * hour)).toMatchObject({ kind: 'no' });
    await nightOf(ledger, { at: 5 * hour, rows: [], full: true, details: 'no_answer' });
    expect(await told.judged(id, 6 * hour)).toEqual({ kind: 'again' });
    await told.orderAgain(id, 7 * hour);
    expect(await told.claimed(8 * hour)).toEqual(['F']);
  });

  it('P18: is taken back when a webhook contradicts it, and may be ordered anew once a look-up finds nothing', async () => {
    const id = await retried();
    await told.heard(2 * hour, 'success', different);
    expect(await told.claimed(3 * hour)).toEqual([]);
    await takenBack(id, /^a webhook that no look-up has settled/);
    expect(await told.judged(id, 4 * hour)).toMatchObject({ kind: 'no' });
    await told.lookedInVain(id, 5 * hour);
    expect(await told.orderAgain(id, 6 * hour)).toMatchObject({ decided: [{ reference: 'F' }] });
    expect(await told.claimed(7 * hour)).toEqual(['F']);
  });

  it('P20: is taken back when its batch was on hold and is released, too', async () => {
    const id = await retried();
    await holdBatch(ledger, { ...batch(hour), reason: { kind: 'person' } });
    await told.looked(id, 2 * hour, shown('success', different));
    const released = await releaseBatch(ledger, batch(3 * hour));
    expect(released, 'it does not stay held').toMatchObject({ moved: 0, kept: 0, first: [], doubted: 1 });
    await takenBack(id, /^the service's details say/);
    expect(notReleasedLines(released)).toEqual([
      '1 is unknown again, and not sent:',
      expect.stringMatching(/^ {2}unknown: F: the service's details say/),
    ]);
  });
});

it('P20: what was not sent the first time is held, not unknown, while the details show a transfer under it', async () => {
  const id = await told.sent(replies.notSent());
  await told.looked(id, hour, shown('success', { amount: '1490.00' }));
  expect(await told.claimed(2 * hour)).toEqual([]);
  expect(await heldBecause()).toMatch(/^the service's details say that there is a transfer under F already/);
  expect(await sentOnRelease(3 * hour)).toEqual([]);
});

describe('a successor that waits', () => {
  async function waiting(): Promise<bigint> {
    const id = await told.sent(replies.accepted('T-1'));
    await told.looked(id, 1000, shown('failed'));
    await told.looked(id, hour, shown('failed'));
    expect(await told.orderAgain(id, hour)).toMatchObject({ decided: [{ reference: 'F-R2' }] });
    return id;
  }

  it('P14: is not sent once the details show its predecessor on its way again, until they say failed', async () => {
    const id = await waiting();
    await told.looked(id, 2 * hour, shown('pending'));
    expect((await payoutById(ledger, id)).state).toBe('failed');
    expect(await told.claimed(3 * hour)).toEqual([]);
    expect(await heldBecause()).toMatch(
      /^F, which it pays again, is failed in the ledger, but the service's details say otherwise/,
    );
    await told.looked(id, 4 * hour, shown('failed'));
    expect(await sentOnRelease(5 * hour)).toEqual(['F-R2']);
  });

  it('P14: is not sent when a webhook said success and the details then say pending', async () => {
    const id = await waiting();
    await told.heard(2 * hour, 'success');
    await told.looked(id, 2 * hour + 1000, shown('pending'));
    expect(await told.claimed(3 * hour)).toEqual([]);
  });

  it('P14: is not sent once a list begun since shows its predecessor on its way again, until one says failed', async () => {
    await waiting();
    await nightOf(ledger, { at: 2 * hour, rows: [listed('T-1', 'pending')], full: true, details: 'pending' });
    expect(await told.claimed(3 * hour)).toEqual([]);
    expect(await heldBecause()).toMatch(
      /^F, which .* but the service's list, read since, says otherwise.*reconcile --full/,
    );
    await nightOf(ledger, { at: 4 * hour, rows: [listed('T-1', 'failed')], full: true });
    expect(await sentOnRelease(5 * hour)).toEqual(['F-R2']);
  });

  it('P17: is not sent when a list shows beside what came back another transfer of it', async () => {
    const id = await told.sent(replies.accepted('T-1'));
    await told.looked(id, 1000, shown('success'));
    await told.looked(id, 2000, shown('returned'));
    expect(await told.orderAgain(id, hour)).toMatchObject({ decided: [{ reference: 'F-R2' }] });
    const rows = [listed('T-1', 'returned'), listed('T-2', 'success')];
    await nightOf(ledger, { at: 2 * hour, rows, full: true, details: 'returned' });
    expect(await told.claimed(3 * hour)).toEqual([]);
  });

  it('P18: is not sent for a webhook that came after the clock was set back behind its last look-up', async () => {
    const id = await waiting();
    await told.heard(hour / 6, 'success');
    expect(await told.claimed(hour / 5)).toEqual([]);
    await told.looked(id, hour / 4, shown('failed'));
    expect(await sentOnRelease(hour / 3)).toEqual(['F-R2']);
  });

  it('P18: is sent though a webhook with a stale timestamp says once more that its predecessor failed', async () => {
    const id = await waiting();
    await told.heard(2 * hour, 'failed', {}, true);
    await told.unanswered(id, 2 * hour + 1000);
    expect(await told.claimed(3 * hour)).toEqual(['F-R2']);
  });

  it('P18: is not sent while a webhook with a stale timestamp says that its predecessor was paid, and no look-up was answered', async () => {
    const id = await waiting();
    await told.heard(2 * hour, 'success', {}, true);
    await told.unanswered(id, 2 * hour + 1000);
    expect(await told.claimed(3 * hour)).toEqual([]);
    await told.looked(id, 4 * hour, shown('failed'));
    expect(await sentOnRelease(5 * hour)).toEqual(['F-R2']);
  });
});
