import { join } from 'node:path';
import { expect, it } from 'vitest';
import { openLedger } from '../../../src/custody/open-ledger.ts';
import { batchOf, csv, row, until } from '../../support/cli.ts';
import { makeHome } from '../../support/decided.ts';
import { serving } from '../../support/serving.ts';

/** The samples of a metric text, by name and labels. */
function samples(text: string): Map<string, number> {
  const lines = text.split('\n').filter((line) => line !== '' && !line.startsWith('#'));
  return new Map(
    lines.map((line) => {
      const at = line.lastIndexOf(' ');
      return [line.slice(0, at), Number(line.slice(at + 1))];
    }),
  );
}

it('says the same of the ledger at /metrics, in status --metrics and in status', async () => {
  const home = await makeHome(
    { faults: { 'PAY-0002': 'fail', 'PAY-0003': 'refuse_24' } },
    { COUNTERFOIL_ADMIN_TOKENS: 'ada:token-5f2c8e1b' },
  );
  const { daemon } = await serving(home);
  const { admin } = JSON.parse(await daemon.line(/"ready":true/));
  await home.json(['submit', home.put('pay.csv', batchOf(5))], 0);
  await home.json(['submit', home.put('held.csv', csv(row(9))), '--no-wait'], 4, {
    COUNTERFOIL_SUBMISSION_APPROVAL: 'always',
  });
  const get = async (path: string): Promise<{ status: number; text: string }> => {
    const reply = await fetch(`${admin}${path}`);
    return { status: reply.status, text: await reply.text() };
  };
  await until(
    10_000,
    () => home.json(['status'], 4),
    ({ payouts, webhooks }) => payouts.success === 3 && webhooks.received === webhooks.applied,
  );
  expect(JSON.parse((await get('/readyz')).text)).toEqual({ ready: true, problems: [], findings: [] });
  const status = await home.json(['status'], 4);
  const scraped = await get('/metrics');
  const both = await home.run(['status', '--metrics', '--json']);
  expect(both).toMatchObject({ code: 2, out: expect.stringContaining('name --json or --metrics, not both') });
  const printed = await home.run(['status', '--metrics']);
  expect(printed.code, printed.err).toBe(0);
  const figures = samples(scraped.text);
  for (const [state, count] of Object.entries(status.payouts))
    expect(figures.get(`counterfoil_payouts{currency="NGN",state="${state}"}`), state).toBe(count);
  for (const [state, amount] of Object.entries(status.totals.NGN))
    expect(figures.get(`counterfoil_payouts_amount{currency="NGN",state="${state}"}`), state).toBe(
      Number(amount),
    );
  expect(status.payouts).toEqual({ success: 3, failed: 1, refused: 1, held: 1 });
  expect(figures.get('counterfoil_batches{state="held"}')).toBe(1);
  expect(figures.get('counterfoil_batches{state="done"}')).toBe(1);
  expect(figures.get('counterfoil_attempts{outcome="accepted"}')).toBe(4);
  expect(figures.get('counterfoil_attempts{outcome="refused"}')).toBe(1);
  expect(figures.get('counterfoil_attempts_begun_total')).toBe(5);
  expect(figures.get('counterfoil_webhooks_received_total')).toBe(status.webhooks.received);
  expect(figures.get('counterfoil_payouts_oldest_seconds{state="held"}')).toBeGreaterThan(0);
  expect(figures.get('counterfoil_queue_up')).toBe(1);
  for (const [name, value] of samples(printed.out))
    if (!/seconds|bytes|_jobs/.test(name)) expect(figures.get(name), name).toBe(value);
  expect(scraped.text).not.toMatch(/PAY-0|Okonkwo|100000000\d|token-/);
  await home.json(['hold', '--mode'], 0);
  expect(samples((await get('/metrics')).text).get('counterfoil_halted{cause="person"}')).toBe(1);
  daemon.signal('SIGTERM');
  expect((await daemon.done).code).toBe(0);
});

it('counts rejected webhooks by reason', async () => {
  const home = await makeHome();
  const { daemon, url } = await serving(home);
  const { admin } = JSON.parse(await daemon.line(/"ready":true/));
  for (let n = 0; n < 3; n++) await fetch(`${url}/webhooks/test`, { method: 'POST', body: '{}' });
  const name = 'counterfoil_webhooks_rejected_total{reason="signature_missing"}';
  const text = async (): Promise<string> => (await fetch(`${admin}/metrics`)).text();
  await until(5000, text, (scraped) => samples(scraped).get(name) === 3);
});

it('times requests to the service and waits for the rate limit', async () => {
  const home = await makeHome(
    {},
    { COUNTERFOIL_SERVICE_REQUESTS_PER_SECOND: '50', COUNTERFOIL_SCHEDULES_SUBMIT: '* * * * * *' },
  );
  const { daemon } = await serving(home);
  const { admin } = JSON.parse(await daemon.line(/"ready":true/));
  await home.json(['submit', home.put('pay.csv', batchOf(3)), '--no-wait'], 0);
  const text = async (): Promise<string> => (await fetch(`${admin}/metrics`)).text();
  const count = 'counterfoil_request_duration_seconds_count{operation="bank_transfer",result="2xx"}';
  const scraped = samples(await until(10_000, text, (all) => samples(all).get(count) === 3));
  expect(scraped.get('counterfoil_rate_limit_wait_seconds_count')).toBeGreaterThanOrEqual(3);
});

it('shows the jobs of the ledger beside those of one host', async () => {
  const home = await makeHome();
  await home.run(['submit']);
  const at = '2026-11-24T10:00:00.000Z';
  const ledger = await openLedger(join(home.dir, 'data', 'ledger.db'), { now: () => at });
  const ran = { last_run_at: at, last_success_at: at, ended_at: at, result_kind: 'succeeded' as const };
  await ledger.db
    .insertInto('jobs')
    .values([
      { job: 'follow_up', host: '', place: '', ...ran },
      { job: 'intake', host: 'host-1', place: 'alpha:/srv/counterfoil/data', ...ran },
    ])
    .execute();
  await ledger.close();
  const { code, out, err } = await home.run(['status', '--metrics']);
  expect(code, err).toBe(0);
  const series = [...samples(out).keys()].filter((name) => name.startsWith('counterfoil_job_last_run'));
  expect(series).toEqual([
    'counterfoil_job_last_run_timestamp_seconds{job_name="follow_up"}',
    'counterfoil_job_last_run_timestamp_seconds{job_name="intake",host="alpha:/srv/counterfoil/data"}',
  ]);
});
