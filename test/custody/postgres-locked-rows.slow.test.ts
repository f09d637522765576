import { join } from 'node:path';
import { Client } from 'pg';
import { afterAll, describe, expect, it, onTestFinished } from 'vitest';
import { type Clock, systemClock } from '../../src/core/runtime/clock.ts';
import { createWorkers } from '../../src/core/runtime/worker-lock.ts';
import { PostgresFailure } from '../../src/core/storage/failure.ts';
import type { Ledger } from '../../src/core/storage/ledger.ts';
import { createMarker } from '../../src/custody/marking.ts';
import { openLedger } from '../../src/custody/open-ledger.ts';
import { createSandbox } from '../../src/sandbox/sandbox.ts';
import { takeOver } from '../../src/sending/take-over.ts';
import { stopText } from '../../src/words/stop-words.ts';
import { clientOf, senderOf } from '../sending/setting.ts';
import { batchOf, makeHome, parseJson, until } from '../support/cli.ts';
import { addBatch, at, claimAt, recordOutcome, replies, states } from '../support/ledger.ts';
import { noPostgres, type PostgresServer, startPostgres } from '../support/postgres-server.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

const server: PostgresServer | null = await startPostgres({ fsync: 'on' });
afterAll(() => server?.stop());

let made = 0;
async function open(schema = `locked_${++made}`): Promise<Ledger & { schema: string }> {
  const url = `${server?.url}?schema=${schema}`;
  const path = join(temporaryFolder(), 'ledger.postgres');
  const ledger = await openLedger({ kind: 'postgres', path, url }, { now: () => at(0) });
  onTestFinished(() => ledger.close().catch(() => undefined));
  return { ...ledger, schema };
}

/** A person in psql who looked at a payout to change it, and went to lunch. */
async function personLocks(schema: string, reference: string): Promise<{ goes(): Promise<void> }> {
  const person = new Client({ connectionString: server?.url ?? '', application_name: "ada's psql" });
  person.on('error', () => undefined);
  await person.connect();
  onTestFinished(() => person.end());
  await person.query(`begin; select id from ${schema}.payouts where reference = '${reference}' for update`);
  return { goes: async () => void (await person.query('rollback')) };
}

const named =
  /session \d+ \(postgres, ada's psql\) has a transaction open since \S+Z: .*pg_terminate_backend\(\d+\)/;
const untilSeen = () => new Promise((resolve) => setTimeout(resolve, 2100));

describe.skipIf(!server)(`a person's open transaction on the ledger${server ? '' : noPostgres}`, () => {
  it('P1: a payout that it has locked is passed over, and goes when the person does', async () => {
    const ledger = await open();
    await addBatch(ledger, ['R-1', 'R-2', 'R-3']);
    const person = await personLocks(ledger.schema, 'R-1');
    const claimed = async (limit: number) => (await claimAt(ledger, at(1), limit)).map((c) => c.reference);
    expect(await claimed(2)).toEqual(['R-2', 'R-3']);
    await person.goes();
    expect(await claimed(2)).toEqual(['R-1']);
  });

  it('is named to who waits for nothing else', async () => {
    const ledger = await open();
    await addBatch(ledger, ['R-1']);
    await personLocks(ledger.schema, 'R-1');
    await untilSeen();
    const real = systemClock();
    const began = real.monotonic();
    const hurried: Clock = {
      ...real,
      monotonic: () => began + (real.monotonic() - began) * 100,
      sleep: (ms, signal) => real.sleep(ms / 100, signal),
    };
    const sandbox = await createSandbox();
    onTestFinished(() => sandbox.stop());
    const client = clientOf(sandbox);
    onTestFinished(() => client.close());
    const ended = await senderOf(ledger, client, { clock: hurried }).run();
    const detail = stopText(ended);
    expect({ ...ended, detail }).toMatchObject({
      ended: 'stuck',
      detail: expect.stringMatching(/^no progress for 60 seconds: /),
    });
    expect(detail).toMatch(named);
  });

  it('keeps what must change the locked payout for seconds, and everybody else no longer', async () => {
    const one = await open();
    const two = await open(one.schema);
    await addBatch(one, ['R-1', 'R-2']);
    const [claim] = await claimAt(one, at(1));
    const person = await personLocks(one.schema, 'R-1');
    if (!claim) throw new Error('nothing claimed');
    const write = recordOutcome(one, at(2), claim, replies.accepted());
    const other = claimAt(two, at(2));
    await expect(write).rejects.toMatchObject({
      code: 'POSTGRES_HELD',
      message: expect.stringMatching(named),
    });
    expect((await other).map(({ reference }) => reference)).toEqual(['R-2']);
    await person.goes();
    await recordOutcome(one, at(3), claim, replies.accepted());
    expect(await states(one)).toEqual({ 'R-1': 'pending', 'R-2': 'sending' });
  });

  it('P12: that outlasts an answer of the service stops its sender, so that others ask what became of it', async () => {
    const ledger = await open();
    await addBatch(ledger, ['R-1']);
    const sandbox = await createSandbox({ settleMs: 60_000 });
    onTestFinished(() => sandbox.stop());
    const client = clientOf(sandbox);
    onTestFinished(() => client.close());
    const service = {
      ...client,
      async bankTransfer(...order: Parameters<typeof client.bankTransfer>) {
        await personLocks(ledger.schema, 'R-1');
        return client.bankTransfer(...order);
      },
    };
    await expect(senderOf(ledger, service).run()).rejects.toMatchObject({
      code: 'POSTGRES_ANSWERS_LOST',
      message: expect.stringMatching(named),
    });
  });

  it('P3: on what one dead process left keeps nobody from taking over what others left', async () => {
    const ledger = await open();
    await addBatch(ledger, ['R-1', 'R-2']);
    for (const id of ['dead-1', 'dead-2']) {
      const dead = createWorkers({ ledger, clock: systemClock(), id });
      await dead.start('submit');
      await claimAt(ledger, at(1), 1, id);
      await dead.end();
    }
    const person = await personLocks(ledger.schema, 'R-1');
    const workers = createWorkers({ ledger, clock: systemClock(), id: 'living' });
    const held: unknown[] = [];
    const look = () =>
      takeOver({ ledger, clock: systemClock(), workers, onHeld: (error) => void held.push(error) });
    expect(await look()).toBe(1);
    expect(held).toMatchObject([{ code: 'POSTGRES_HELD', message: expect.stringMatching(named) }]);
    expect(await states(ledger)).toEqual({ 'R-1': 'sending', 'R-2': 'unknown' });
    await person.goes();
    expect(await look()).toBe(1);
    expect(await states(ledger)).toEqual({ 'R-1': 'unknown', 'R-2': 'unknown' });
  });

  it('P12: that keeps a committed change from being marked is not told as one after which nothing happened', async () => {
    let writes = 0;
    const ledger = await open();
    const write: Ledger['write'] = async (work) => {
      if (++writes > 1) throw new PostgresFailure('HELD', 'locked');
      return ledger.write(work);
    };
    const { path, id } = ledger;
    const marker = createMarker({ file: null, write, path, id, now: () => at(0) });
    await expect(marker.write(async () => undefined)).rejects.toMatchObject({ code: 'POSTGRES_UNMARKED' });
  });

  it('ends no daemon: it says whose it is, and goes on when the person goes', {
    timeout: 60_000,
  }, async () => {
    const url = `${server?.url}?schema=daemon`;
    const settings = { COUNTERFOIL_LEDGER_URL: url, COUNTERFOIL_SCHEDULES_FOLLOW_UP: '* * * * * *' };
    const home = await makeHome({ settleMs: 600_000 }, settings);
    const daemon = home.start(['serve', '--json']);
    const { receiver } = JSON.parse(await daemon.line(/"ready":true/));
    home.sandbox.setWebhookUrl(`${receiver}/webhooks/test`);
    expect((await home.run(['submit', home.put('pay.csv', batchOf(3))])).code).toBe(0);
    const person = await personLocks('daemon', 'PAY-0002');
    await home.sandbox.settleAll();
    expect(await daemon.line(/"level":"error"/)).toMatch(named);
    await person.goes();
    // A run that met the locked rows has failed, and status says so until the next one succeeds.
    const payouts = async () => parseJson(await home.run(['status', '--json'])).payouts;
    await until(30_000, payouts, ({ success }) => success === 3);
    daemon.signal('SIGTERM');
    expect((await daemon.done).code).toBe(0);
  });
});
