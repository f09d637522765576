import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { expect, it, onTestFinished } from 'vitest';
import { payoutMessage, webhookHeaders } from '../../src/sandbox/webhook-message.ts';
import { batchOf, references, until } from '../support/cli.ts';
import { makeHome } from '../support/decided.ts';
import { findProgram } from '../support/server-process.ts';
import { serving } from '../support/serving.ts';

it('with every schedule off, serve hears a signed webhook and the payout is success within two seconds', async () => {
  const home = await makeHome({ settleMs: 600_000 });
  const { daemon } = await serving(home, {}, home.start);
  await home.json(['submit', home.put('pay.csv', batchOf(2))], 0);
  expect((await home.json(['status'], 0)).daemon).toMatchObject({ running: true });
  await home.sandbox.settleAll();
  const status = await until(
    2000,
    () => home.json(['status'], 0),
    (s) => s.payouts.success === 2,
  );
  expect(status.webhooks).toMatchObject({ received: 2, rejected: 0 });
  const story = await home.json(['show', 'PAY-0001'], 0);
  expect(story.payout.state).toBe('success');
  expect(story.webhooks).toHaveLength(1);
  expect(story.lookups.length).toBeGreaterThan(0);
  const began = performance.now();
  daemon.signal('SIGTERM');
  const done = await daemon.done;
  expect(done.code, done.err).toBe(0);
  expect(performance.now() - began).toBeLessThan(5000);
  expect((await home.json(['status'], 0)).daemon).toMatchObject({ running: false });
});

it('a forged webhook is 401, counted, and changes nothing; a mode without keys is 404', async () => {
  const home = await makeHome({ settleMs: 600_000 });
  const { url } = await serving(home);
  await home.json(['submit', home.put('pay.csv', batchOf(1))], 0);
  const body = JSON.stringify({ event: 'payout', data: { reference: 'PAY-0001', statusMessage: 'success' } });
  const headers = { 'content-type': 'application/json', payloadsignature: 'ab'.repeat(64) };
  expect((await fetch(`${url}/webhooks/test`, { method: 'POST', headers, body })).status).toBe(401);
  expect((await fetch(`${url}/webhooks/live`, { method: 'POST', headers, body })).status).toBe(404);
  const status = await until(
    2000,
    () => home.json(['status'], 0),
    (s) => s.webhooks.rejected >= 1,
  );
  expect(status).toMatchObject({ payouts: { pending: 1 }, webhooks: { received: 0 } });
});

it('a file that is dropped under a wrong name is logged once by serve and shown by status', async () => {
  const home = await makeHome();
  const why = 'its name does not end in .csv; rename it if it is a batch';
  await home.run(['submit']);
  home.put('data/inbox/pay.txt', batchOf(1));
  expect((await home.json(['status'], 0)).inbox).toEqual({
    files: 0,
    waiting: [],
    rejected: [],
    ignored: [{ name: 'pay.txt', why }],
  });
  expect((await home.run(['status'])).out).toContain(`  ignored: pay.txt: ${why}\n`);
  const { daemon } = await serving(home, { COUNTERFOIL_SCHEDULES_INTAKE: '* * * * * *' });
  expect(JSON.parse(await daemon.line(/pay\.txt/))).toMatchObject({
    file: 'pay.txt',
    msg: `left in the inbox: ${why}`,
  });
  home.put('data/inbox/good.csv', batchOf(1));
  await until(
    20_000,
    async () => home.names('data/archive'),
    (names) => names.length === 1,
  );
  daemon.signal('SIGTERM');
  expect((await daemon.done).err.split('pay.txt')).toHaveLength(2);
});

it('with schedules on, serve takes in a dropped file, sends it once, and results appear', async () => {
  const home = await makeHome({ settleMs: 50 });
  const every = '* * * * * *';
  const { daemon } = await serving(home, {
    COUNTERFOIL_SCHEDULES_INTAKE: every,
    COUNTERFOIL_SCHEDULES_SUBMIT: every,
    COUNTERFOIL_SCHEDULES_FOLLOW_UP: every,
    COUNTERFOIL_SCHEDULES_REPORT: every,
  });
  home.put('data/inbox/november.csv', batchOf(5));
  await until(
    8000,
    () => home.json(['status'], 0),
    (s) => s.payouts.success === 5,
  );
  const results = (): string => {
    const [folder = ''] = home.names('data/reports').filter((name) => name.startsWith('november-'));
    // The folder is there before its file.
    return home.names(`data/reports/${folder}`).includes('results.csv')
      ? home.read(`data/reports/${folder}/results.csv`)
      : '';
  };
  await until(3000, results, (text) => text.split(',success,').length === 6);
  expect(references(5).map((r) => home.sandbox.requests.bodies(r))).toEqual([1, 1, 1, 1, 1]);
  expect(home.names('data/inbox')).toEqual(['collections']);
  const { schedules } = await home.json(['status'], 0);
  expect(schedules.find((s: { job: string }) => s.job === 'intake').last_run_at).toMatch(/^\d{4}-/);
  daemon.signal('SIGTERM');
  expect((await daemon.done).code).toBe(0);
});

it('a taken receiver port ends serve with 1, and names the address, who has it and the setting', async () => {
  const home = await makeHome();
  const port = new URL(home.sandbox.url).port;
  const done = await home.run(['serve'], { COUNTERFOIL_RECEIVER_PORT: port });
  expect(done.code).toBe(1);
  expect(done.err).toContain(
    `the receiver cannot listen on 127.0.0.1:${port} (receiver.port): the port is in use by `,
  );
  expect(done.err).toContain('; stop that program, or set another receiver.port\n');
  expect(done.err).not.toContain('EADDRINUSE');
});

const script = findProgram('script');

it.skipIf(!script)(
  `a session that closes stops serve as a signal to stop does: what is stored is applied, and it ends${script ? '' : ' (skipped: no script)'}`,
  async () => {
    const home = await makeHome();
    const bin = fileURLToPath(new URL('../../src/bin.js', import.meta.url));
    const command = `exec ${process.execPath} ${bin} serve`;
    const env = { PATH: process.env.PATH ?? '', ...home.env };
    const terminal = spawn(script ?? '', ['-qec', command, '/dev/null'], { cwd: home.dir, env });
    onTestFinished(() => void terminal.kill('SIGKILL'));
    const standing = async (): Promise<string> => (await home.run(['status', '--json'])).out;
    await until(20_000, standing, (text) => text.includes('"running":true'));
    terminal.kill('SIGKILL');
    await until(20_000, standing, (text) => text.includes('"running":false'));
  },
);

it('with every schedule off, results and failed.csv say what the last webhook said, soon after it came', async () => {
  const home = await makeHome({ settleMs: 600_000, faults: { 'PAY-0001': 'fail', 'PAY-0003': 'fail' } });
  await serving(home);
  const told = await home.json(['submit', home.put('pay.csv', batchOf(3))], 0);
  const folder = `data/reports/${told.batches[0].batch}`;
  const count = (name: string, text: string): number =>
    home.names(folder).includes(name) ? home.read(`${folder}/${name}`).split(text).length - 1 : 0;
  expect(count('results.csv', ',pending,')).toBe(3);
  await home.sandbox.settleAll();
  await until(
    10_000,
    () => [count('results.csv', ',failed,'), count('results.csv', ',success,'), count('failed.csv', '-R2,')],
    ([failed, success, again]) => failed === 2 && success === 1 && again === 2,
  );
});

it('a webhook that arrives while an earlier one is being looked up is applied too, without any schedule', async () => {
  const home = await makeHome({ settleMs: 600_000, latencyMs: 500 });
  await home.json(['submit', home.put('pay.csv', batchOf(2))], 0);
  await home.sandbox.settleAll();
  const { url } = await serving(home);
  for (const reference of references(2)) {
    const [transfer] = home.sandbox.book.find(reference);
    if (!transfer) throw new Error(`not booked: ${reference}`);
    const message = payoutMessage(transfer);
    const headers = webhookHeaders(message, home.sandbox.keys.test, Date.now());
    const answer = await fetch(`${url}/webhooks/test`, { method: 'POST', headers, body: message.body });
    expect([answer.status, await answer.text()]).toEqual([200, 'success']);
    // The first look-up takes half a second: the second delivery falls into it.
    await new Promise((resolve) => setTimeout(resolve, 200));
  }
  const status = await until(
    4000,
    () => home.json(['status'], 0),
    (s) => s.payouts.success === 2,
  );
  expect(status.webhooks).toMatchObject({ received: 2, applied: 2 });
});
