import { describe, expect, it } from 'vitest';
import { endWorker } from '../../../src/core/runtime/workers.sql.ts';
import { claimMessages, finishMessages } from '../../../src/faces/alerts/outbox.sql.ts';
import { halt, liftHalt } from '../../../src/sending/halts.sql.ts';
import { at } from '../../support/ledger.ts';
import { itWaits, makeSetting, type Setting } from './setting.ts';

const minute = 60_000;
const hour = 60 * minute;
const day = 24 * hour;
const year = 365 * day;

const stop = ({ ledger }: Setting) => ledger.write((trx) => halt(trx, { kind: 'person' }, at(0)));
const texts = ({ web }: Setting): string[] => web.posts.map(({ text }) => text);

/** The state of every message, the oldest first. */
async function outbox({ ledger }: Setting) {
  const rows = await ledger.db.selectFrom('alert_messages').selectAll().orderBy('id').execute();
  return rows.map(({ state, tries, problem }) => ({ state, tries: Number(tries), problem }));
}

describe('alerts', () => {
  itWaits('tells a halt once, daily while it lasts, and its end', async () => {
    const setting = await makeSetting();
    await setting.turn();
    expect(setting.web.posts).toEqual([]);
    await stop(setting);
    await setting.turn();
    await setting.turn();
    expect(texts(setting)).toEqual([
      expect.stringContaining('ALERT  Sending is halted: a person stopped it'),
    ]);
    setting.pass(day - 1);
    await setting.turn();
    expect(setting.web.posts).toHaveLength(1);
    setting.pass(1);
    await setting.turn();
    await setting.turn();
    expect(texts(setting)[1]).toContain('STILL  Sending is halted');
    await setting.ledger.write((trx) => liftHalt(trx, { at: at(1) }));
    await setting.turn();
    await setting.turn();
    expect(texts(setting)).toHaveLength(3);
    expect(texts(setting)[2]).toContain('CLEARED  Sending is no longer halted');
  });

  itWaits('tells what stood before a restart only when its day is over', async () => {
    const setting = await makeSetting();
    await stop(setting);
    await setting.turn();
    const second = await setting.open('w-2');
    await setting.turn(second);
    expect(setting.web.posts).toHaveLength(1);
    setting.pass(day);
    await setting.turn(second);
    expect(setting.web.posts).toHaveLength(2);
  });

  it('tells several alerts of one look in one message', async () => {
    const setting = await makeSetting();
    await stop(setting);
    await setting.ledger.write((trx) => halt(trx, { kind: 'unknowns', count: 3, of: 3 }, at(0)));
    await setting.turn();
    expect(texts(setting)).toHaveLength(1);
    expect(texts(setting)[0]).toMatch(/^Counterfoil test: 2 alerts/);
  });

  itWaits('P33: repeats nothing when the wall clock steps by a year, and everything on its day', async () => {
    for (const ms of [year, -year]) {
      const setting = await makeSetting();
      await stop(setting);
      await setting.turn();
      setting.pass(hour);
      await setting.turn();
      setting.step(ms);
      await setting.turn();
      expect(setting.web.posts, `${ms}`).toHaveLength(1);
      setting.pass(22 * hour);
      await setting.turn();
      expect(setting.web.posts, `${ms}`).toHaveLength(1);
      setting.pass(hour);
      await setting.turn();
      expect(setting.web.posts, `${ms}`).toHaveLength(2);
    }
  });

  it('writes nothing while nothing changes', async () => {
    const setting = await makeSetting();
    await stop(setting);
    await setting.turn();
    let writes = 0;
    const { write } = setting.ledger;
    setting.ledger.write = (work) => {
      writes++;
      return write(work);
    };
    await setting.turn();
    expect(writes).toBe(0);
  });

  it('says that serve has stopped although the ledger takes no message any more', async () => {
    const setting = await makeSetting({ COUNTERFOIL_ALERTS_DASHBOARD_URL: 'https://pay.example' });
    await setting.ledger.close();
    await setting.alerts.sayStopped({ why: 'the disk is full', goesOn: false });
    expect(texts(setting)).toEqual([expect.stringContaining('ALERT  serve has stopped')]);
    expect(texts(setting)[0]).toContain('Why: the disk is full');
    expect(texts(setting)[0]).toMatch(/What to do: .*full disk.*\n {2}https:\/\/pay\.example\//);
  });

  it('notes and sends nothing without a channel', async () => {
    const setting = await makeSetting({ COUNTERFOIL_ALERTS_WEBHOOK_URL: '' });
    await stop(setting);
    expect(setting.alerts.isOn).toBe(false);
    await setting.turn();
    expect(await setting.ledger.db.selectFrom('alerts').selectAll().execute()).toEqual([]);
  });
});

describe('the outbox', () => {
  itWaits('sends again what was refused, with growing pauses, and says so', async () => {
    const setting = await makeSetting();
    setting.web.answers.push({ status: 500 }, { status: 404, body: 'no_service' });
    await stop(setting);
    await setting.turn();
    expect(await outbox(setting)).toEqual([{ state: 'due', tries: 1, problem: 'http_500' }]);
    setting.pass(minute - 1);
    await setting.turn();
    expect(setting.web.posts).toHaveLength(1);
    setting.pass(1);
    await setting.turn();
    expect(await outbox(setting)).toEqual([{ state: 'due', tries: 2, problem: 'http_404' }]);
    setting.pass(minute);
    await setting.turn();
    expect(setting.web.posts).toHaveLength(2);
    setting.pass(minute);
    await setting.turn();
    expect(await outbox(setting)).toEqual([{ state: 'sent', tries: 3, problem: null }]);
    expect(new Set(texts(setting)).size).toBe(1);
  });

  itWaits('waits as long as a 429 asks, and an hour at most', async () => {
    const setting = await makeSetting();
    setting.web.answers.push({ status: 429, headers: { 'retry-after': '600' } });
    setting.web.answers.push({ status: 429, headers: { 'retry-after': '999999999' } });
    await stop(setting);
    await setting.turn();
    setting.pass(10 * minute - 1);
    await setting.turn();
    expect(setting.web.posts).toHaveLength(1);
    setting.pass(1);
    await setting.turn();
    expect(setting.web.posts).toHaveLength(2);
    setting.pass(hour);
    await setting.turn();
    expect(setting.web.posts).toHaveLength(3);
  });

  itWaits('gives up after a day of tries, by count and not by the clock', async () => {
    const setting = await makeSetting();
    setting.web.answers.push(...Array.from({ length: 40 }, () => ({ status: 503 })));
    await stop(setting);
    await setting.turn();
    const began = setting.clock.now();
    let ended = 0;
    for (let minutes = 0; minutes < 30 * 60 && ended === 0; minutes++) {
      setting.pass(minute);
      await setting.alerts.deliver(new AbortController().signal);
      if ((await outbox(setting))[0]?.state === 'gave_up') ended = setting.clock.now();
    }
    expect(setting.web.posts).toHaveLength(30);
    expect((ended - began) / hour).toBeGreaterThan(23);
    expect((ended - began) / hour).toBeLessThan(25);
  });

  itWaits('P33: a message waits no longer when the clock is set back by a year', async () => {
    const setting = await makeSetting();
    setting.web.answers.push({ status: 500 });
    await stop(setting);
    await setting.turn();
    setting.step(-year);
    await setting.turn();
    setting.pass(minute);
    await setting.turn();
    expect(setting.web.posts).toHaveLength(2);
  });

  itWaits('sends what waits as one message once the other side answers again', async () => {
    const setting = await makeSetting();
    setting.web.answers.push({ status: 500 }, { status: 500 });
    await stop(setting);
    await setting.turn();
    await setting.ledger.write((trx) => liftHalt(trx, { at: at(1) }));
    await setting.turn();
    setting.pass(minute);
    await setting.turn();
    expect(setting.web.posts).toHaveLength(3);
    expect(texts(setting)[2]).toContain('ALERT');
    expect(texts(setting)[2]).toContain('CLEARED');
  });

  it('lets what waits leave as soon as something else was sent', async () => {
    const setting = await makeSetting();
    setting.web.answers.push({ status: 500 });
    await stop(setting);
    await setting.turn();
    await setting.ledger.write((trx) => liftHalt(trx, { at: at(1) }));
    await setting.turn();
    expect(texts(setting)[1]).toContain('CLEARED');
    expect(texts(setting)[2]).toContain('ALERT  Sending is halted');
    expect(await outbox(setting)).toMatchObject([{ state: 'sent' }, { state: 'sent' }]);
  });

  it('keeps what waits, however many messages come after it', async () => {
    const setting = await makeSetting();
    setting.web.answers.push({ status: 500 });
    await stop(setting);
    await setting.turn();
    const [first] = await setting.ledger.db.selectFrom('alert_messages').selectAll().execute();
    if (!first) throw new Error('no message waits');
    const later = { ...first, id: first.id + 2000n, state: 'sent' as const, ended_at: first.made_at };
    await setting.ledger.db.insertInto('alert_messages').values(later).execute();
    await setting.ledger.write((trx) => liftHalt(trx, { at: at(1) }));
    await setting.alerts.look({ daemon: true });
    expect((await outbox(setting))[0]).toMatchObject({ state: 'due' });
  });

  it('gives up what waits for a channel that is off now, and for no other', async () => {
    const setting = await makeSetting();
    await stop(setting);
    await setting.alerts.look({ daemon: true });
    const [mine] = await setting.ledger.db.selectFrom('alert_messages').selectAll().execute();
    if (!mine) throw new Error('no message waits');
    const other = { ...mine, id: mine.id + 1n, channel: 'mail' as const };
    await setting.ledger.db.insertInto('alert_messages').values(other).execute();
    await setting.alerts.forgetOthers();
    expect(await outbox(setting)).toEqual([
      { state: 'due', tries: 0, problem: null },
      { state: 'gave_up', tries: 0, problem: 'channel_off' },
    ]);
  });

  it('sends again what a dead process had claimed, and leaves a living one its claim', async () => {
    const setting = await makeSetting();
    await stop(setting);
    await setting.alerts.look({ daemon: true });
    await setting.ledger.db.updateTable('alert_messages').set({ claimed_by: 'w-1' }).execute();
    const second = await setting.open('w-2');
    await setting.turn(second);
    expect(setting.web.posts).toEqual([]);
    await setting.ledger.write((trx) => endWorker(trx, 'w-1', at(5)));
    await setting.turn(second);
    expect(setting.web.posts).toHaveLength(1);
  });

  it('sends again what its own process had claimed for a try that broke off', async () => {
    const setting = await makeSetting();
    await stop(setting);
    await setting.alerts.look({ daemon: true });
    await setting.ledger.db.updateTable('alert_messages').set({ claimed_by: 'w-1' }).execute();
    await setting.turn();
    expect(setting.web.posts).toHaveLength(1);
  });

  it('leaves a message alone that another process has claimed meanwhile', async () => {
    const setting = await makeSetting();
    const { ledger, clock } = setting;
    await stop(setting);
    await setting.alerts.look({ daemon: true });
    const due = { channel: 'webhook', by: 'w-1', nowMs: clock.now() } as const;
    const claimed = await ledger.write((trx) => claimMessages(trx, due));
    await ledger.db.updateTable('alert_messages').set({ claimed_by: 'w-2' }).execute();
    const end = { channel: 'webhook', by: 'w-1', at: clock.iso(), end: { kind: 'sent' } } as const;
    await ledger.write((trx) => finishMessages(trx, claimed, end));
    const row = await ledger.db.selectFrom('alert_messages').selectAll().executeTakeFirstOrThrow();
    expect(row).toMatchObject({ state: 'due', claimed_by: 'w-2' });
  });

  it('is filled once by two processes that look at the same time', async () => {
    const setting = await makeSetting();
    const second = await setting.open('w-2');
    await stop(setting);
    await Promise.all([setting.alerts, second].map((one) => one.look({ daemon: true })));
    expect(await outbox(setting)).toHaveLength(1);
  });

  it('does not count a try that was broken off', async () => {
    const setting = await makeSetting();
    setting.web.answers.push('silence');
    await stop(setting);
    await setting.alerts.look({ daemon: true });
    const stopping = new AbortController();
    const sending = setting.alerts.deliver(stopping.signal);
    while (setting.web.posts.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
    stopping.abort();
    await sending;
    expect(await outbox(setting)).toEqual([{ state: 'due', tries: 0, problem: null }]);
    await setting.turn();
    expect(await outbox(setting)).toEqual([{ state: 'sent', tries: 1, problem: null }]);
  });
});
