import { chownSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openLedger } from '../../src/custody/open-ledger.ts';
import { batchOf, csv, type Home, row, until } from '../support/cli.ts';
import { droppedByAlice, makeHome } from '../support/decided.ts';
import { born } from '../support/ledger.ts';

const setting = (name: string): string => `COUNTERFOIL_SUBMISSION_${name}`;

/** As if it had been dropped under sudo as another account than the tests run as. */
async function droppedAs(home: Home, uid: bigint): Promise<void> {
  const ledger = await openLedger(join(home.dir, 'data', 'ledger.db'), { now: () => born });
  await ledger.write((trx) => trx.updateTable('batches').set({ dropped_as_uid: uid }).execute());
  await ledger.close();
}

it('P2: an approval holds a batch until somebody else than who dropped it gives it', async () => {
  const home = await makeHome({}, { [setting('APPROVAL')]: 'always' });
  const taken = await home.json(['submit', home.put('pay.csv', batchOf(2))], 4);
  const { batch } = taken.batches[0];
  expect(taken.batches[0]).toMatchObject({ state: 'held', payouts: { held: 2 } });
  const own = await home.run(['approve', batch, '--yes']);
  expect([own.code, own.err]).toEqual([2, expect.stringMatching(/dropped it, and nobody approves/)]);
  const released = await home.json(['release', batch], 4);
  expect(released).toMatchObject({
    released: 0,
    hold_reasons: [expect.stringContaining('counterfoil approve')],
  });
  await home.json(['submit'], 4);
  expect(home.sandbox.requests.posts).toBe(0);
});

it('P2: approve shows what it is about; status and show name who approved', async () => {
  const home = await makeHome({}, { [setting('APPROVAL')]: 'always' });
  const { batch } = (await home.json(['submit', home.put('pay.csv', batchOf(2)), '--no-wait'], 4)).batches[0];
  await droppedByAlice(home);
  const approved = await home.run(['approve', batch]);
  expect(approved).toMatchObject({
    code: 0,
    out: expect.stringMatching(
      /2 payouts {3}NGN 2,004\.00[\s\S]*dropped by alice[\s\S]*2 payouts may go now/,
    ),
  });
  const again = await home.json(['approve', batch], 0);
  expect(again.digest).toMatch(/^[0-9a-f]{64}$/);
  await home.json(['submit'], 0);
  expect(home.sandbox.requests.posts).toBe(2);
  expect((await home.json(['status'], 0)).approvals).toMatchObject([{ batch, digest: again.digest }]);
  expect((await home.run(['show', 'PAY-0001'])).out).toMatch(/submitted by alice, approved by /);
});

it.skipIf(process.getuid?.() !== 0)(
  'takes the owner of a file in the inbox for the one who dropped it',
  async () => {
    const home = await makeHome({}, { [setting('APPROVAL')]: 'always' });
    chownSync(home.put('data/inbox/theirs.csv', batchOf(1)), 4242, 4242);
    home.put('data/inbox/ours.csv', batchOf(1, 2));
    const { batches } = await home.json(['submit'], 4);
    const named = (file: string): string => batches.find((one: { file: string }) => one.file === file).batch;
    expect((await home.run(['approve', named('ours.csv')])).code).toBe(2);
    const sudo = await home.run(['approve', named('theirs.csv')], { SUDO_UID: '4242' });
    expect(sudo.code, 'sudo makes no second person').toBe(2);
    await home.json(['approve', named('theirs.csv')], 0);
  },
);

it.skipIf(process.getuid?.() !== 0)(
  'P2: who drops a batch under sudo does not approve it without, nor does the account that sudo made of them',
  async () => {
    const home = await makeHome({}, { [setting('APPROVAL')]: 'always' });
    const sudo = { SUDO_UID: '4242', SUDO_USER: 'alice' };
    const taken = await home.run(['submit', home.put('pay.csv', batchOf(1)), '--no-wait', '--json'], sudo);
    const { batch } = JSON.parse(taken.out).batches[0];
    const asRoot = await home.run(['approve', batch]);
    expect([asRoot.code, asRoot.err]).toEqual([
      2,
      expect.stringContaining('nobody approves a batch of their own'),
    ]);
    const behind = await home.run(['approve', batch], sudo);
    expect([behind.code, behind.err]).toEqual([2, expect.stringContaining('alice dropped it')]);
    await droppedAs(home, 4243n);
    const alone = await home.run(['approve', batch], sudo);
    expect(alone.code, 'another account does not make her another person').toBe(2);
    await home.json(['approve', batch], 0);
  },
);

it('asks for an approval only above the totals named, and refuses to approve what needs none', async () => {
  const above = { [setting('APPROVAL')]: 'above', [setting('APPROVAL_ABOVE')]: '{"NGN":"2004.00"}' };
  const home = await makeHome({}, above);
  const { batches } = await home.json(['submit', home.put('small.csv', batchOf(2))], 0);
  const needless = await home.run(['approve', batches[0].batch, '--yes']);
  expect([needless.code, needless.err]).toEqual([2, expect.stringContaining('needs no approval')]);
  await home.json(['submit', home.put('large.csv', batchOf(2, 3))], 4);
  expect(home.sandbox.requests.posts).toBe(2);
});

it('P20: a successor in a batch that needs approvals waits for one of its own', async () => {
  const faults = { faults: { 'PAY-0001': 'refuse_24' as const } };
  const home = await makeHome(faults, { [setting('APPROVAL')]: 'always' });
  const { batch } = (await home.json(['submit', home.put('pay.csv', batchOf(2))], 4)).batches[0];
  await droppedByAlice(home);
  await home.json(['approve', batch, '--yes'], 0);
  await home.json(['submit'], 0);
  const shown = await home.json(['retry', 'PAY-0001', '--yes'], 2);
  const order = ['retry', 'PAY-0001', '--yes', '--evidence', shown.evidence_digest];
  const retried = await home.json(order, 4);
  expect(retried.decided).toMatchObject([{ pays_again: 'PAY-0001', state: 'held' }]);
  await home.json(['release', batch], 4);
  await home.json(['submit'], 4);
  expect(home.sandbox.requests.posts).toBe(2);
  expect(await home.json(['approve', batch, '--yes'], 0)).toMatchObject({ rows: 1, released: 1 });
  await home.json(['submit'], 0);
  expect(home.sandbox.requests.posts).toBe(3);
});

it('P21: two processes share one daily limit, and submit says until when the rest waits, with exit 0', async () => {
  const amount = '100.00';
  const rows = Array.from({ length: 40 }, (_, i) => row(i + 1, { amount }));
  const home = await makeHome(
    {},
    { [setting('DAILY_LIMIT')]: '{"NGN":"1050.00"}', [setting('TIMEZONE')]: 'UTC' },
  );
  const file = home.put('pay.csv', csv(...rows));
  const checked = await home.json(['check', file], 0);
  expect(checked.files[0].waits).toEqual([
    expect.stringContaining('submission.daily_limit: of NGN 4,000.00'),
  ]);
  await home.json(['submit', file, '--no-wait'], 0);
  const [one, two] = await Promise.all([home.json(['submit'], 0), home.json(['submit'], 0)]);
  expect(home.sandbox.requests.posts).toBe(10);
  expect([...one.waits, ...two.waits]).toContainEqual(
    expect.objectContaining({ kind: 'daily_limit', currency: 'NGN', payouts: 30, amount: '3000.00' }),
  );
  const told = await home.run(['submit']);
  expect([told.code, told.out]).toEqual([0, expect.stringMatching(/30 payouts, NGN 3,000\.00, wait until /)]);
  const { daily_limit } = await home.json(['status'], 0);
  expect(daily_limit).toMatchObject([{ currency: 'NGN', limit: '1050.00', used: '1000.00', left: '50.00' }]);
});

it('P21: a killed process spends its daily limit once and opens nothing', async () => {
  const rows = Array.from({ length: 30 }, (_, i) => row(i + 1, { amount: '100.00' }));
  const limits = { [setting('DAILY_LIMIT')]: '{"NGN":"1000.00"}', [setting('TIMEZONE')]: 'UTC' };
  const home = await makeHome({}, { ...limits, COUNTERFOIL_SERVICE_REQUESTS_PER_SECOND: '10' });
  const running = home.start(['submit', home.put('pay.csv', csv(...rows))]);
  await until(
    10_000,
    () => home.sandbox.requests.posts,
    (posts) => posts >= 3,
  );
  running.signal('SIGKILL');
  await running.done;
  await until(
    15_000,
    () => home.run(['submit']),
    ({ out }) => /wait until/.test(out),
  );
  expect(home.sandbox.requests.posts).toBeLessThanOrEqual(10);
  expect(home.sandbox.requests.posts).toBeGreaterThanOrEqual(9);
});

it('P21: a canary goes first, submit waits for nobody, and a later submit sends the rest', async () => {
  const home = await makeHome({}, { [setting('CANARY')]: '2' });
  const file = home.put('pay.csv', batchOf(5));
  const checked = await home.run(['check', file, '--verbose']);
  expect(checked.out).toMatch(/058 +5 +NGN [\s\S]*would wait: submission\.canary: the first 2 payouts/);
  const first = await home.run(['submit', file]);
  expect([first.code, first.out]).toEqual([
    0,
    expect.stringMatching(/3 payouts wait until its canary has settled/),
  ]);
  expect(home.sandbox.requests.posts).toBe(2);
  await until(
    5000,
    () => home.run(['submit']),
    () => home.sandbox.requests.posts === 5,
  );
  expect((await home.json(['status'], 0)).waits).toEqual([]);
});

it('P21: a canary that is refused halts, release of its batch lets the rest go', async () => {
  const home = await makeHome({ faults: { 'PAY-0001': 'refuse_24' } }, { [setting('CANARY')]: '2' });
  const { batch } = (await home.json(['submit', home.put('pay.csv', batchOf(4))], 4)).batches[0];
  expect((await home.json(['status'], 4)).halted.cause).toBe(
    `the canary of ${batch} failed: PAY-0001 is refused`,
  );
  const status = (await home.run(['status'])).out;
  expect(status).toContain('Needs a person: the halt\n');
  expect(status).toContain('\n  1 payout refused: counterfoil payouts --state refused\n');
  await home.json(['submit'], 4);
  expect(home.sandbox.requests.posts).toBe(1);
  await home.json(['release', batch], 0);
  await home.json(['submit'], 0);
  expect(home.sandbox.requests.posts).toBe(4);
});

it('names every brake a batch would meet, and each is lifted by its own command', async () => {
  const brakes = {
    [setting('APPROVAL')]: 'always',
    [setting('PAYOUT_LIMIT')]: '{"NGN":"1001.00"}',
    [setting('DAILY_LIMIT')]: '{"NGN":"1002.00"}',
  };
  const home = await makeHome({}, brakes);
  const file = home.put('pay.csv', batchOf(2));
  const dry = await home.json(['submit', file, '--dry-run'], 0);
  expect(dry.batches[0].hold_reasons).toEqual([
    expect.stringContaining('submission.payout_limit'),
    expect.stringContaining('submission.daily_limit lets go in a whole day'),
    expect.stringContaining('needs an approval'),
  ]);
  const { batch } = (await home.json(['submit', file], 4)).batches[0];
  await droppedByAlice(home);
  const approved = await home.json(['approve', batch, '--yes'], 4);
  expect(approved.hold_reasons).toHaveLength(2);
  const kept = await home.json(['release', batch], 4);
  expect(kept).toMatchObject({ released: 1, kept: 1, kept_first: [{ reference: 'PAY-0002' }] });
  await home.json(['submit'], 4);
  expect(home.sandbox.requests.posts).toBe(1);
});

it('P21: the daemon sends the rest of a batch by itself once its canary is paid', async () => {
  const everySecond = {
    COUNTERFOIL_SCHEDULES_INTAKE: '* * * * * *',
    COUNTERFOIL_SCHEDULES_SUBMIT: '* * * * * *',
  };
  const home = await makeHome({ settleMs: 1500 }, { ...everySecond, [setting('CANARY')]: '2' });
  home.put('data/inbox/pay.csv', batchOf(5));
  const daemon = home.begin(['serve']);
  await until(
    10_000,
    () => home.sandbox.requests.posts,
    (posts) => posts === 2,
  );
  await until(
    15_000,
    () => home.sandbox.requests.posts,
    (posts) => posts === 5,
  );
  daemon.signal('SIGTERM');
  await daemon.done;
});

it('in mode live what an approval or a canary lets go is sent with --live (advice that ended with 2)', async () => {
  const keys = { secretKey: 'sk_live_1', publicKey: 'pk_live_1', encryptionKey: 'enc_live_1' };
  const live = { COUNTERFOIL_MODE: 'live', COUNTERFOIL_LIVE_SECRET_KEY: keys.secretKey };
  const env = { ...live, COUNTERFOIL_LIVE_ENCRYPTION_KEY: keys.encryptionKey, [setting('CANARY')]: '1' };
  const home = await makeHome({ keys: { live: keys } }, { ...env, [setting('APPROVAL')]: 'always' });
  const { batch } = (await home.json(['submit', home.put('pay.csv', batchOf(2)), '--no-wait'], 4)).batches[0];
  await droppedByAlice(home);
  const approved = await home.run(['approve', batch]);
  expect(approved.out).toMatch(/2 payouts may go now: counterfoil submit --live or serve sends them/);
  const first = await home.run(['submit', '--live', '--yes']);
  expect(first.out).toMatch(/1 payout waits .*or the next counterfoil submit --live, sends them/);
});

it('warns that totals which need an approval are named while none is asked for (paid without a second person)', async () => {
  const above = { [setting('APPROVAL_ABOVE')]: '{"NGN":"5.00"}' };
  const home = await makeHome({}, above);
  const file = home.put('pay.csv', batchOf(1));
  expect((await home.run(['check', file])).err).toMatch(
    /approval_above has no effect .*set submission\.approval to above/,
  );
  const asked = await home.run(['check', file], { [setting('APPROVAL')]: 'above' });
  expect([asked.err, asked.out]).toEqual(['', expect.stringContaining('needs an approval')]);
});
