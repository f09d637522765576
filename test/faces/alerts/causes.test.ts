import { describe, expect, it } from 'vitest';
import { addHoldReason, type HoldReason, setHoldReasons } from '../../../src/core/ledger/hold-reasons.ts';
import { record } from '../../../src/core/ledger/record.ts';
import { recordRefusal } from '../../../src/core/ledger/rejected-files.ts';
import { machineOf } from '../../../src/core/storage/machine.ts';
import { causesMark } from '../../../src/faces/alerts/alerts.sql.ts';
import type { Viewer } from '../../../src/faces/alerts/alerts.ts';
import { readContent } from '../../../src/faces/alerts/message.ts';
import { messageWords } from '../../../src/faces/alerts/message-words.ts';
import { halt } from '../../../src/sending/halts.sql.ts';
import { recordRejections, storeDeliveries } from '../../../src/watching/webhooks/webhook-inbox.sql.ts';
import { addBatch, at } from '../../support/ledger.ts';
import { makeSetting, type Setting } from './setting.ts';

const approval: HoldReason = { kind: 'approval', why: { kind: 'always' }, dropper: 'ada' };

/** The alerts that stand after one look. */
async function look({ alerts, ledger }: Setting, viewer: Partial<Viewer> = {}): Promise<string[]> {
  await alerts.look({ daemon: true, ...viewer });
  const rows = await ledger.db.selectFrom('alerts').selectAll().orderBy('kind').execute();
  return rows.map(({ kind, subject, n }) => `${kind} ${subject} ${n}`);
}

const lastContent = async ({ ledger }: Setting): Promise<string> =>
  (await ledger.db.selectFrom('alert_messages').select('content').orderBy('id').execute()).at(-1)?.content ??
  '';

function refuse({ ledger }: Setting, references: string[], ms: number): Promise<void> {
  const about = { path: '/webhooks/test', kind: 'signature_wrong' as const, address: '10.0.0.1' };
  const rows = references.map((reference) => ({ ...about, at: at(ms), detail: reference.toLowerCase() }));
  return ledger.write((trx) => recordRejections(trx, rows));
}

describe('a held batch', () => {
  it('is told while its payouts wait for a person, with their amount', async () => {
    const setting = await makeSetting();
    const { ledger } = setting;
    await addBatch(ledger, ['R-1', 'R-2'], { id: 'november', state: 'held' });
    await ledger.write((trx) => addHoldReason(trx, 'november', approval));
    expect(await look(setting)).toEqual(['batch_held november 2']);
    expect(await lastContent(setting)).toContain('"NGN":"3000.00"');
    const style = { timezone: 'UTC', dashboardUrl: '' };
    const { text } = messageWords([readContent(await lastContent(setting))], 'test', style);
    expect(text, 'one batch is held, and no other is hinted at').not.toContain('…');
    await ledger.write((trx) => setHoldReasons(trx, 'november', []));
    expect(await look(setting)).toEqual([]);
  });

  it('counts what waits, and not the rest of the batch that goes on beside a held successor', async () => {
    const setting = await makeSetting();
    const { ledger } = setting;
    const [first = 0n] = await addBatch(ledger, ['R-1', 'R-2', 'R-3'], { id: 'november' });
    const event = { kind: 'hold' as const, why: 'a successor' };
    await ledger.write((trx) => record(trx, at(1), [{ payoutId: first, source: 'person', event }]));
    await ledger.write((trx) => addHoldReason(trx, 'november', { ...approval, scope: 'successors' }));
    expect(await look(setting)).toEqual(['batch_held november 1']);
  });

  it('is not told to the person who held it, nor once nothing of it waits', async () => {
    const setting = await makeSetting();
    const { ledger } = setting;
    await addBatch(ledger, ['R-1'], { id: 'by-hand', state: 'held' });
    await ledger.write((trx) => addHoldReason(trx, 'by-hand', { kind: 'person' }));
    await addBatch(ledger, ['R-2'], { id: 'paid', state: 'success' });
    await ledger.write((trx) => addHoldReason(trx, 'paid', approval));
    expect(await look(setting)).toEqual([]);
  });
});

describe('webhooks with wrong signatures', () => {
  it('are told when they are about our payouts, until one with a right signature comes', async () => {
    const setting = await makeSetting();
    await addBatch(setting.ledger, ['R-1', 'R-2'], { state: 'pending' });
    await refuse(setting, ['R-1'], 1000);
    expect(await look(setting)).toEqual(['signatures_wrong  1']);
    const delivery = { reference: 'R-2', trx: null, kind: 'payout' as const, headers: '{}', stale: false };
    await setting.ledger.write((trx) =>
      storeDeliveries(trx, [{ ...delivery, digest: 'd', receivedAt: at(2000), body: Buffer.from('{}') }]),
    );
    expect(await look(setting)).toEqual([]);
    await refuse(setting, ['R-1', 'R-2'], 3000);
    expect(await look(setting)).toEqual([]);
    await refuse(setting, ['R-2'], 4000);
    expect(await look(setting)).toEqual(['signatures_wrong  3']);
  });

  it('P33: are counted since the last right one, whatever the clock said then', async () => {
    const setting = await makeSetting();
    const { ledger } = setting;
    await addBatch(ledger, ['R-1'], { state: 'pending' });
    const good = (digest: string, ms: number) => {
      const delivery = { reference: 'R-1', trx: null, kind: 'payout' as const, headers: '{}', stale: false };
      const came = { ...delivery, digest, receivedAt: at(ms), body: Buffer.from('{}') };
      return ledger.write((trx) => storeDeliveries(trx, [came]));
    };
    const hour = 3_600_000;
    await good('from a clock ahead', 10 * hour);
    await refuse(setting, ['R-1', 'R-1', 'R-1'], 1000);
    expect(await look(setting)).toEqual(['signatures_wrong  3']);
    await refuse(setting, ['R-1', 'R-1', 'R-1'], 20 * hour);
    await good('after the clock was set back', hour);
    expect(await look(setting)).toEqual([]);
    await refuse(setting, ['R-1', 'R-1', 'R-1'], 2 * hour);
    expect(await look(setting)).toEqual(['signatures_wrong  3']);
    await good('from a clock ahead', 3 * hour);
    expect(await look(setting), 'a right one that is repeated counts too').toEqual([]);
  });

  it('are no alert when a stranger made them up', async () => {
    const setting = await makeSetting();
    await addBatch(setting.ledger, ['R-1'], { state: 'pending' });
    await refuse(
      setting,
      Array.from({ length: 100 }, (_, n) => `FORGED-${n}`),
      1000,
    );
    await refuse(setting, [''], 2000);
    expect(await look(setting)).toEqual([]);
  });
});

describe('a service that does not answer', () => {
  it('is told once, and over only by a process whose requests are answered', async () => {
    const setting = await makeSetting();
    const { path, place } = setting.ledger;
    const silent = [`service_silent ${place.kind === 'postgres' ? machineOf(path) : ''} 1`];
    expect(await look(setting, { service: 'silent' })).toEqual(silent);
    expect(await lastContent(setting)).toContain('service_silent');
    expect(await look(setting)).toEqual(silent);
    expect(await look(setting, { service: 'answers' })).toEqual([]);
  });
});

it('sees each cause of an alert by one read, and nothing in what strangers send', async () => {
  const setting = await makeSetting();
  const { ledger } = setting;
  await addBatch(ledger, ['R-1'], { id: 'november', state: 'held' });
  let before = await causesMark(ledger.db);
  const isNew = async (): Promise<boolean> => {
    const now = await causesMark(ledger.db);
    const changed = now !== before;
    before = now;
    return changed;
  };
  await ledger.write((trx) => halt(trx, { kind: 'person', by: 'ada' }, at(0)));
  expect(await isNew()).toBe(true);
  await ledger.write((trx) => addHoldReason(trx, 'november', approval));
  expect(await isNew()).toBe(true);
  const file = { name: 'a.csv', place: 'rejected/a.csv', errorsFile: null, problems: 1, contentHash: 'h' };
  await ledger.write((trx) => recordRefusal(trx, { ...file, at: at(0) }, null));
  expect(await isNew()).toBe(true);
  await refuse(setting, ['R-1'], 1000);
  expect(await isNew()).toBe(true);
  await addBatch(ledger, ['R-2'], { id: 'december', state: 'failed' });
  expect(await isNew(), 'it is no canary').toBe(false);
  const { id } = await ledger.db
    .selectFrom('payouts')
    .select('id')
    .where('reference', '=', 'R-2')
    .executeTakeFirstOrThrow();
  const canary = { batch_id: 'december', from_id: id, through_id: id, day: '', marked: 1n };
  await ledger.write((trx) =>
    trx
      .insertInto('canaries')
      .values({ ...canary, state: 'open', started_at: at(0), ended_at: null })
      .execute(),
  );
  expect(await isNew(), 'a canary that went wrong').toBe(true);
  await refuse(setting, [''], 1000);
  expect(await isNew()).toBe(false);
});
