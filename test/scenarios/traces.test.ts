import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { batchOf, type Home, type Json, until } from '../support/cli.ts';
import { makeHome } from '../support/decided.ts';
import { httpReply, startRawService } from '../support/raw-service.ts';
import { serving } from '../support/serving.ts';

const sdk = fileURLToPath(new URL('../fixtures/otel/in-memory.mjs', import.meta.url));

/** The environment that registers an SDK, and the spans that it has recorded. */
function recorded(home: Home, more: Record<string, string> = {}) {
  const file = join(home.dir, 'spans.jsonl');
  return {
    env: { NODE_OPTIONS: `--import ${sdk}`, SPANS: file, ...more },
    spans: (): Json[] =>
      existsSync(file)
        ? readFileSync(file, 'utf8')
            .trim()
            .split('\n')
            .map((line) => JSON.parse(line))
        : [],
  };
}

const traceIdOf = async (home: Home, reference: string): Promise<string> =>
  (await home.json(['show', reference], 0)).payout.trace_id;

it('an SDK that NODE_OPTIONS loads records a batch, each attempt and the applied webhook, all of a payout in one trace', async () => {
  const home = await makeHome({ settleMs: 600_000 });
  const { env, spans } = recorded(home);
  const { daemon } = await serving(home, env, home.start);
  const file = home.put('pay.csv', batchOf(2));
  expect((await home.start(['submit', file], env).done).code).toBe(0);
  await home.sandbox.settleAll();
  const all = await until(
    5000,
    spans,
    (some) => some.filter(({ name }) => name === 'webhook applied').length === 2,
  );
  daemon.signal('SIGTERM');
  await daemon.done;
  const of = async (reference: string): Promise<string[]> => {
    const trace = await traceIdOf(home, reference);
    return all.flatMap((span) => (span.traceId === trace ? [span.name] : []));
  };
  expect(await of('PAY-0001')).toEqual(expect.arrayContaining(['payout attempt', 'webhook applied']));
  expect(await of('pay-0002')).toEqual(expect.arrayContaining(['payout attempt', 'webhook applied']));
  expect(all.map(({ name }) => name)).toEqual(expect.arrayContaining(['batch sending', 'webhook received']));
  const attempts = all.filter(({ name }) => name === 'payout attempt');
  expect(attempts).toHaveLength(2);
  for (const { attributes } of attempts)
    expect(attributes).toEqual({
      reference: expect.stringMatching(/^PAY-000\d$/),
      batch: expect.stringMatching(/^pay-/),
      outcome: 'accepted',
      http_status: 200,
    });
});

it('an SDK that is broken keeps no payment back, and the log says so', async () => {
  const home = await makeHome({ settleMs: 600_000 });
  const { env, spans } = recorded(home, { SPANS_BREAK: 'yes' });
  const done = await home.start(['submit', home.put('pay.csv', batchOf(2))], env).done;
  expect(done.code, done.err).toBe(0);
  expect(done.err).toContain('OpenTelemetry gave trouble');
  expect(spans()).toEqual([]);
  expect((await home.json(['status'], 0)).payouts).toMatchObject({ pending: 2 });
});

it('P9: every request carries the trace of its payout, and nothing else in it changes', async () => {
  const service = await startRawService(({ head, body, socket }) => {
    const { reference } = body === '' ? { reference: '' } : JSON.parse(body);
    const data = { transfer_id: '1', reference };
    const page = { current_page: 1, last_page: 1, per_page: 50, total: 0, data: [] };
    const shown = {
      success: true,
      status: '00',
      message: 'ok',
      data: /bank_transfer/.test(head) ? data : page,
    };
    socket.write(httpReply(200, JSON.stringify(shown)));
  });
  try {
    const home = await makeHome({}, { COUNTERFOIL_SERVICE_BASE_URL: service.url });
    const done = await home.run(['submit', home.put('pay.csv', batchOf(2))]);
    const orders = service.heads.flatMap((head, at) =>
      /bank_transfer/.test(head) ? [{ head, body: service.bodies[at] }] : [],
    );
    expect(orders, done.err).toHaveLength(2);
    for (const { head, body } of orders) {
      const trace = await traceIdOf(home, JSON.parse(body ?? '').reference);
      expect(head).toMatch(new RegExp(`\r\ntraceparent: 00-${trace}-[0-9a-f]{16}-00(\r\n|$)`));
    }
    for (const head of service.heads)
      expect(head).toMatch(/\r\ntraceparent: 00-[0-9a-f]{32}-[0-9a-f]{16}-00/);
    expect((await home.run(['show', 'PAY-0001'])).out).toContain(
      `trace ${await traceIdOf(home, 'PAY-0001')}`,
    );
  } finally {
    await service.stop();
  }
});
