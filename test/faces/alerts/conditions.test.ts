import { describe, expect, it } from 'vitest';
import {
  acknowledgeRejected,
  openRejectedFiles,
  recordRefusal,
} from '../../../src/core/ledger/rejected-files.ts';
import { createJobsStore } from '../../../src/core/runtime/jobs.sql.ts';
import type { JobEnd } from '../../../src/core/storage/tables/job-table.ts';
import type { Discrepancy } from '../../../src/core/storage/tables/tables.ts';
import { halt, liftHalt } from '../../../src/sending/halts.sql.ts';
import { addBatch, at, claimAt, recordOutcome, replies } from '../../support/ledger.ts';
import { itWaits, makeSetting, type Setting } from './setting.ts';

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;

/** The alerts that stand after one look. */
async function look(setting: Setting): Promise<string[]> {
  await setting.turn();
  const rows = await setting.ledger.db.selectFrom('alerts').selectAll().orderBy('kind').execute();
  return rows.map(({ kind, subject, n }) => `${kind} ${subject} ${n}`);
}

const lastText = ({ web }: Setting): string => web.posts.at(-1)?.text ?? '';

async function sendUnknown(
  { ledger }: Setting,
  reference: string,
  ms: number,
  id = `b-${reference}`,
): Promise<void> {
  await addBatch(ledger, [reference], { id });
  const [claimed] = await claimAt(ledger, at(ms), 1);
  if (claimed) await recordOutcome(ledger, at(ms), claimed, replies.unknown());
}

async function addDiscrepancy(
  { ledger }: Setting,
  id: string,
  given: Partial<Discrepancy> = {},
): Promise<void> {
  const row: Discrepancy = {
    id,
    kind: 'amount_conflict',
    subject: id,
    payout_id: null,
    batch_id: null,
    reference: 'R-1',
    trx: null,
    transfer_id: null,
    currency: 'NGN',
    expected: '100.00',
    actual: '90.00',
    difference: '-10.00',
    severity: 'high',
    later_severity: null,
    graver_at: null,
    evidence: '',
    advice: '{}',
    state: 'open',
    resolved_by: null,
    note: '',
    reopened: 0n,
    closed_with_payout: 0n,
    shown_at: null,
    first_seen_at: at(0),
    last_seen_at: at(0),
    last_run_id: 'run',
    resolved_at: null,
    ...given,
  };
  await ledger.db.insertInto('discrepancies').values(row).execute();
  const event = { discrepancy_id: id, at: at(0), event: 'opened' as const, source: 'run r', note: '' };
  await ledger.db.insertInto('discrepancy_events').values(event).execute();
}

async function hear({ ledger }: Setting, payoutId: bigint | null, ms: number): Promise<void> {
  const row = { kind: 'payout', reference: null, trx: null, headers: '{}', stale: 0n, body: Buffer.from('') };
  const received = { received_at: at(ms), last_received_at: at(ms), deliveries: 1n, applied_at: at(ms) };
  const about = { payout_id: payoutId, collection_id: null, said: null, verdict: 'no_status' as const };
  await ledger.db
    .insertInto('webhooks')
    .values({ ...row, ...received, ...about, digest: `${payoutId} ${ms}` })
    .execute();
}

/** Payouts that a look-up showed as paid. */
async function settle({ ledger }: Setting, references: string[], ms: number): Promise<bigint[]> {
  const ids = await addBatch(ledger, references, {
    id: `b-${references[0]}`,
    state: 'success',
    final_at: at(ms),
  });
  const rows = ids.map((id) => ({
    payout_id: id,
    seq: 2n,
    at: at(ms),
    event: 'details says success' as const,
    source: 'details',
    from_state: 'pending' as const,
    to_state: 'success' as const,
    detail: '{}',
    prev_hash: '',
    hash: '',
  }));
  await ledger.db.insertInto('history').values(rows).execute();
  return ids;
}

describe('a halt', () => {
  it('is told by its cause, and the canary of a batch by the batch', async () => {
    const setting = await makeSetting();
    await addBatch(setting.ledger, ['R-1'], { id: 'b-1' });
    const failure = { kind: 'went_wrong' as const, reference: 'R-1', state: 'failed' as const };
    await setting.ledger.write(async (trx) => {
      await halt(trx, { kind: 'account', code: '27', message: 'no balance', reference: 'R-1' }, at(0));
      await halt(trx, { kind: 'canary_failed', batch: 'b-1', failure }, at(0));
    });
    expect(await look(setting)).toEqual(['canary_failed b-1 1', 'sending_halted account 1']);
    expect(lastText(setting)).toContain('The canary of b-1 failed');
    expect(lastText(setting)).not.toContain('no balance');
    await setting.ledger.write((trx) => liftHalt(trx, { at: at(1) }));
    expect(await look(setting)).toEqual([]);
  });
});

describe('an unknown payout', () => {
  itWaits('is told once its quiet period is over, with its amount, and a further one as more', async () => {
    const setting = await makeSetting();
    await sendUnknown(setting, 'R-1', 0);
    setting.pass(15 * minute - 1);
    expect(await look(setting)).toEqual([]);
    setting.pass(1);
    expect(await look(setting)).toEqual(['outcome_unknown  1']);
    expect(lastText(setting)).toContain('The outcome of 1 payout has been unknown for 15 minutes.');
    setting.pass(day - 15 * minute - 1);
    expect(await look(setting)).toEqual(['outcome_unknown  1']);
    setting.pass(1);
    expect(await look(setting)).toEqual(['outcome_unknown  1', 'payout_unknown  1']);
    expect(lastText(setting)).toContain('1 payout is unknown past the quiet period');
    expect(lastText(setting)).toContain('NGN 1,500.00');
    expect(lastText(setting)).toContain('R-1');
    await sendUnknown(setting, 'R-2', hour);
    setting.pass(hour);
    expect(await look(setting)).toEqual(['outcome_unknown  2', 'payout_unknown  2']);
    expect(lastText(setting)).toContain('MORE  2 payouts are unknown');
    expect(lastText(setting)).toContain('NGN 3,000.00');
  });

  it('P33: is told although a clock that was ahead stamped it', async () => {
    const setting = await makeSetting();
    await sendUnknown(setting, 'R-1', 400 * day);
    expect(await look(setting)).toEqual(['outcome_unknown  1', 'payout_unknown  1']);
  });
});

describe('a discrepancy', () => {
  it('is told when it is grave and open, by its kind, until a person acknowledges it', async () => {
    const setting = await makeSetting();
    await addDiscrepancy(setting, 'D-1', { kind: 'paid_twice' });
    await addDiscrepancy(setting, 'D-2', { severity: 'medium' });
    await addDiscrepancy(setting, 'D-3', { kind: 'unknown_outcome' });
    expect(await look(setting)).toEqual(['discrepancy_high paid_twice 1']);
    expect(lastText(setting)).toContain('This was probably paid twice.');
    expect(lastText(setting)).toContain('D-1');
    await setting.ledger.db.updateTable('discrepancies').set({ state: 'acknowledged' }).execute();
    expect(await look(setting)).toEqual([]);
  });

  it('is told when it becomes grave by age', async () => {
    const setting = await makeSetting();
    const graver = { severity: 'medium', later_severity: 'high', graver_at: at(day) } as const;
    await addDiscrepancy(setting, 'D-1', { kind: 'stale_pending', ...graver });
    expect(await look(setting)).toEqual([]);
    setting.pass(day);
    expect(await look(setting)).toEqual(['discrepancy_high stale_pending 1']);
  });
});

describe('a silent receiver', () => {
  it('is told when payouts ended without a webhook and none came since, until one comes', async () => {
    const setting = await makeSetting();
    await hear(setting, null, 0);
    expect(await look(setting)).toEqual([]);
    const [heard = 0n] = await settle(setting, ['HEARD', 'SILENT'], 1);
    setting.pass(hour);
    expect(await look(setting)).toEqual([]);
    setting.pass(1);
    expect(await look(setting)).toEqual(['receiver_silent  2']);
    expect(lastText(setting)).toContain('No webhook arrives: 2 payouts');
    await hear(setting, heard, hour + 1);
    expect(await look(setting)).toEqual([]);
  });

  it('is not told while each payout that ended had its webhook before, however many there are', async () => {
    const setting = await makeSetting();
    const ids = await settle(
      setting,
      Array.from({ length: 20 }, (_, i) => `R-${i}`),
      0,
    );
    for (const id of ids) await hear(setting, id, 1);
    await setting.turn();
    const again = { seq: 3n, at: at(2), event: 'details says success' as const, source: 'details' };
    const states = { from_state: 'success' as const, to_state: 'success' as const };
    const rows = ids.map((id) => ({
      payout_id: id,
      ...again,
      ...states,
      detail: '{}',
      prev_hash: '',
      hash: '',
    }));
    await setting.ledger.db.insertInto('history').values(rows).execute();
    setting.pass(2 * hour);
    expect(await look(setting)).toEqual([]);
    const mark = await setting.ledger.db.selectFrom('tallies').selectAll().executeTakeFirstOrThrow();
    const newest = await setting.ledger.db
      .selectFrom('history')
      .select((eb) => eb.fn.max<bigint>('id').as('id'))
      .executeTakeFirstOrThrow();
    expect(mark.seen).toBe(newest.id);
  });

  it('is not told where no webhook is expected', async () => {
    const setting = await makeSetting({ COUNTERFOIL_RECEIVER_ENABLED: 'false' });
    await setting.turn();
    await settle(setting, ['R-1'], 1);
    setting.pass(2 * hour);
    expect(await look(setting)).toEqual([]);
  });
});

describe('a schedule', () => {
  const ran = async (
    { ledger }: Setting,
    job: string,
    ms: number,
    kind: JobEnd,
    result = {},
  ): Promise<void> => {
    const store = createJobsStore(ledger);
    await store.note(job, { at: at(ms), by: 'w-1', expression: '0 2 * * *' });
    await store.finished(job, { startedAt: at(ms), endedAt: at(ms), kind, result });
  };

  it('is told when a nightly run failed, and when it worked again', async () => {
    const setting = await makeSetting();
    await ran(setting, 'reconcile', 0, 'succeeded');
    expect(await look(setting)).toEqual([]);
    setting.pass(16 * hour);
    await ran(setting, 'reconcile', 16 * hour, 'failed', { error: 'account 0123456789 of ADA OBI' });
    expect(await look(setting)).toEqual(['schedule_failed reconcile 1']);
    expect(lastText(setting)).not.toContain('ADA OBI');
    await ran(setting, 'reconcile', 16 * hour + 1, 'succeeded');
    expect(await look(setting)).toEqual([]);
  });

  it('is told when its time passed a quarter of an hour ago without it', async () => {
    const setting = await makeSetting({ COUNTERFOIL_SCHEDULES_REPORT: '' });
    await ran(setting, 'reconcile', 0, 'succeeded');
    await ran(setting, 'report', 0, 'succeeded');
    // 02:00 in Lagos is 01:00 UTC, 15 hours after the ledger's birth.
    setting.pass(15 * hour + 14 * minute);
    expect(await look(setting)).toEqual([]);
    setting.pass(2 * minute);
    expect(await look(setting)).toEqual(['schedule_missed reconcile 1']);
    setting.pass(3 * hour);
    expect(await look(setting)).toEqual(['schedule_missed reconcile 1']);
    await ran(setting, 'reconcile', 18 * hour, 'succeeded');
    expect(await look(setting)).toEqual([]);
  });

  it('is told when its run hangs, and when it worked again', async () => {
    const setting = await makeSetting();
    await ran(setting, 'reconcile', 0, 'succeeded');
    setting.pass(15 * hour);
    const run = { at: at(15 * hour), by: 'w-1', expression: '0 2 * * *' };
    await createJobsStore(setting.ledger).note('reconcile', run);
    setting.pass(2 * hour);
    expect(await look(setting)).toEqual([]);
    setting.pass(minute);
    expect(await look(setting)).toEqual(['schedule_missed reconcile 1']);
    await ran(setting, 'reconcile', 17 * hour + minute, 'succeeded');
    expect(await look(setting)).toEqual([]);
  });

  it('is no alert when one run of a frequent job failed and the one before did not', async () => {
    const setting = await makeSetting();
    await ran(setting, 'follow_up', 0, 'succeeded');
    setting.pass(5 * minute);
    await ran(setting, 'follow_up', 5 * minute, 'failed');
    expect(await look(setting)).toEqual([]);
  });
});

describe('a queue that is stuck', () => {
  it('is told by the daemon that sees it, and only a daemon sees its end', async () => {
    const setting = await makeSetting();
    const standing = async (viewer: Parameters<typeof setting.alerts.look>[0]): Promise<string[]> => {
      await setting.alerts.look(viewer);
      const rows = await setting.ledger.db.selectFrom('alerts').select('kind').execute();
      return rows.map(({ kind }) => kind);
    };
    expect(await standing({ daemon: true, isQueueStuck: true })).toEqual(['queue_stuck']);
    expect(await standing({ daemon: false })).toEqual(['queue_stuck']);
    await setting.alerts.deliver(new AbortController().signal);
    expect(lastText(setting)).toContain('ALERT  The queue takes and gives no jobs.');
    expect(lastText(setting)).toContain('Check the server of queue.url');
    expect(await standing({ daemon: true, isQueueStuck: false })).toEqual([]);
  });
});

describe('refused files', () => {
  const at0 = at(0);
  const refusal = { errorsFile: null, problems: 2, contentHash: '', at: at0 };

  itWaits('tells of a refused file, of a further one, and when the last was dropped again', async () => {
    const setting = await makeSetting();
    const { ledger } = setting;
    const refuse = (name: string) =>
      ledger.write((trx) => recordRefusal(trx, { name, place: `/rejected/${name}`, ...refusal }, null));
    await refuse('November 2026.csv');
    expect(await look(setting)).toEqual(['file_rejected refused 1']);
    expect(lastText(setting)).toContain('1 file was refused: nothing of it is paid');
    expect(lastText(setting)).toContain('  november-2026\n');
    await refuse('december.csv');
    setting.pass(20 * minute);
    expect(await look(setting)).toEqual(['file_rejected refused 2']);
    expect(lastText(setting)).toContain('MORE  2 files were refused');
    const open = await openRejectedFiles(ledger.db);
    await ledger.write((trx) =>
      acknowledgeRejected(
        trx,
        open.map(({ id }) => id),
        { at: at0, by: 'ada', note: '' },
      ),
    );
    expect(await look(setting)).toEqual([]);
    expect(lastText(setting)).toContain('CLEARED  Each refused file was dropped again, or acknowledged');
  });
});
