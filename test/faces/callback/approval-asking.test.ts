import { Webhook } from 'standardwebhooks';
import { describe, expect, it } from 'vitest';
import { traceOf } from '../../../src/core/domain/trace.ts';
import { findOn } from '../../../src/findings/finders.ts';
import { until } from '../../support/cli.ts';
import { everySecond, serving } from '../../support/serving.ts';
import { no, secret, signed, yes } from './approving-server.ts';
import { makeScene, type Scene } from './setting.ts';

const minuteMs = 60_000;
const salaryHead = 'reference,account_number,account_name,bank_code,amount,currency,narration,sender_name';

it('asks without bank details, signed, and approves on a signed yes', async () => {
  const { app, server, batch, look, states, approvals, question, home } = await makeScene();
  await look();
  const [asked] = server.asked;
  const by = { file: 'pay.csv', rows: 2, totals: { NGN: '2004.00' }, hold_reasons: ['approval'] };
  expect(asked?.question).toMatchObject({ batch, ...by, digest: expect.stringMatching(/^[0-9a-f]{64}$/) });
  expect(Object.keys(asked?.question ?? {}).toSorted()).toEqual(
    'asked_at batch digest dropped_by file hold_reasons rows totals'.split(' '),
  );
  expect(new Webhook(secret).verify(asked?.body ?? '', { ...(asked?.headers as object) })).toEqual(
    asked?.question,
  );
  expect(asked?.headers.traceparent).toContain(
    traceOf(app.ledger.id, { kind: 'batch', name: batch }).traceId,
  );
  expect(await states()).toEqual(['ready', 'ready']);
  expect(await approvals()).toMatchObject([
    { approved_by: 'callback:127.0.0.1', digest: asked?.question.digest },
  ]);
  await look();
  expect([server.asked.length, await question()]).toEqual([1, undefined]);
  await home.json(['submit'], 0);
  expect(home.sandbox.requests.posts).toBe(2);
});

it('P37: a yes of the server leaves a changed account waiting for a person, and every face says so', async () => {
  const rows = (month: string, account: string, kobo: string): string =>
    [
      `${salaryHead},payee_id`,
      `${month}-1,0123456785,Adaeze Okonkwo,058,100.${kobo},NGN,Salary,Acme,E1`,
      `${month}-2,${account},Musa Bello,044,200.${kobo},NGN,Salary,Acme,E2`,
      '',
    ].join('\n');
  const settings = { COUNTERFOIL_SUBMISSION_PAYEES: 'approve_changed' };
  const { app, server, look, home, approvals } = await makeScene(yes, settings);
  await home.json(['submit', home.put('nov.csv', rows('N', '2034567891', '10')), '--no-wait'], 4);
  await look();
  await home.json(['submit'], 0);
  const sent = home.sandbox.requests.posts;
  const file = home.put('dec.csv', rows('D', '9999999990', '20'));
  const checked = await home.json(['check', file], 0);
  expect(JSON.stringify(checked)).toContain('another account than before');
  const { batches } = await home.json(['submit', file, '--no-wait'], 4);
  const [{ batch }] = batches;
  const causes = async () => {
    const [row] = await app.ledger.db
      .selectFrom('batches')
      .select('hold_reasons')
      .where('id', '=', batch)
      .execute();
    return JSON.parse(row?.hold_reasons ?? '[]').map(({ why }: { why: { kind: string } }) => why.kind);
  };
  expect(await causes()).toEqual(['callback', 'payees']);
  const given = (await approvals()).length;
  await look();
  expect(server.asked.at(-1)?.question).toMatchObject({ batch });
  expect(await causes()).toEqual(['payees']);
  expect(await approvals()).toHaveLength(given);
  await home.json(['submit'], 4);
  expect(home.sandbox.requests.posts).toBe(sent);
  const asked = server.asked.length;
  await look();
  expect(server.asked.length).toBe(asked);
  // The server has had its say: nobody waits for it before a person hears of this batch.
  const { ledger, clock, config } = app;
  const beside = { work: 'commands' as const, jobs: [], account: null };
  const found = await findOn({ face: 'alerts', db: ledger.db, ledger, clock, config, ...beside });
  expect(found).toContainEqual(expect.objectContaining({ kind: 'batch_held', subject: batch }));
  const { out } = await home.run(['status']);
  expect(out).toContain('1 payee with another account than before');
});

it('rejects on a signed no, and is asked no more', async () => {
  const { server, look, states, approvals, question, pass, home } = await makeScene(no);
  await look();
  pass(120 * minuteMs);
  await look();
  expect([await states(), await approvals(), server.asked.length]).toEqual([
    ['cancelled', 'cancelled'],
    [],
    1,
  ]);
  expect(await question()).toBeUndefined();
  const { history } = await home.json(['show', 'PAY-0001'], 0);
  expect(JSON.stringify(history)).toContain('rejected by callback:127.0.0.1: the wrong month');
});

it('an old yes that is replayed, once another question is asked', async () => {
  const replies: ReturnType<typeof signed>[] = [];
  const { server, look, pass, states, question } = await makeScene(async (asked) => {
    replies.push((await yes(asked)) as ReturnType<typeof signed>);
    return { body: '', status: 503 };
  });
  await look();
  pass(2 * minuteMs);
  server.answer = () => replies[0] ?? 'silence';
  await look();
  expect(await question()).toMatchObject({ problem: 'other_id', tries: 2n });
  expect(await states()).toEqual(['held', 'held']);
});

it('asks again after one minute, then two, at most an hour, each time under a new id', async () => {
  const { server, look, pass, question } = await makeScene(() => ({ status: 500, body: '' }));
  const waits: number[] = [];
  for (let turn = 0; turn < 9; turn++) {
    await look();
    const { due_at = '', noted_at = '' } = (await question()) ?? {};
    waits.push((Date.parse(due_at) - Date.parse(noted_at)) / minuteMs);
    pass((waits.at(-1) ?? 0) * minuteMs - 1000);
    await look();
    expect(server.asked.length).toBe(turn + 1);
    pass(1000);
  }
  expect(waits).toEqual([1, 2, 4, 8, 16, 32, 60, 60, 60]);
  expect(new Set(server.asked.map(({ headers }) => headers['webhook-id'])).size).toBe(9);
});

it('is a finding after 15 minutes without an answer, and no alert of a held batch before', async () => {
  const scene = await makeScene((asked) => signed({ answer: 'later' }, asked));
  const { look, batch, app, home } = scene;
  await look();
  const kindsAt = async (face: 'status' | 'alerts', ms: number): Promise<string[]> => {
    const clock = { ...app.clock, now: () => Date.now() + ms };
    const { ledger, config } = app;
    const beside = { work: 'commands' as const, jobs: [], account: null };
    return (await findOn({ face, db: ledger.db, ledger, clock, config, ...beside })).map(
      ({ kind, subject }) => `${kind} ${subject}`,
    );
  };
  expect(await kindsAt('status', 14 * minuteMs)).toEqual([`batch_held ${batch}`]);
  expect(await kindsAt('alerts', 14 * minuteMs)).toEqual([]);
  const late = 16 * minuteMs;
  expect(await kindsAt('status', late)).toEqual([`batch_held ${batch}`, `approval_unanswered ${batch}`]);
  expect(await kindsAt('alerts', late)).toEqual([`batch_held ${batch}`]);
  // Without `serve` the receiver fails too.
  const saidByDoctor = async () =>
    (await home.json(['doctor', '--offline'], 1)).checks.find(
      ({ name }: { name: string }) => name === 'approval',
    );
  expect(await saidByDoctor()).toMatchObject({ ok: true, detail: '1 batch asked about' });
  const since = new Date(Date.now() - late).toISOString();
  await app.ledger.write((trx) => trx.updateTable('approval_questions').set({ asked_at: since }).execute());
  expect(await saidByDoctor()).toMatchObject({
    ok: false,
    detail: `the server of submission.approval_url was asked about ${batch} at ${since}, and has not decided (later)`,
  });
  expect((await home.run(['status'])).out).toContain('and has not decided (later)');
});

describe('beside people', () => {
  it('a person may approve first, and may have approved when the yes comes', async () => {
    const scene = await makeScene(async (asked) => {
      await scene.home.json(['approve', scene.batch], 0);
      return yes(asked);
    });
    // Another account dropped it than the one that runs the tests.
    const { ledger } = scene.app;
    await ledger.write((trx) =>
      trx.updateTable('batches').set({ dropped_by: 'alice', dropped_uid: 4242n }).execute(),
    );
    await scene.look();
    await scene.look();
    expect(await scene.approvals()).toHaveLength(1);
    expect([await scene.states(), await scene.question()]).toEqual([['ready', 'ready'], undefined]);
  });

  it('a hold keeps what was approved, before and after the question', async () => {
    const { home, batch, look, states, approvals, server } = await makeScene();
    await home.json(['hold', batch], 0);
    await look();
    expect(server.asked[0]?.question.hold_reasons).toEqual(['approval', 'person']);
    expect([await states(), (await approvals()).length]).toEqual([['held', 'held'], 1]);
    await home.json(['release', batch], 0);
    expect(await states()).toEqual(['ready', 'ready']);
  });

  it('a hold during the question stays', async () => {
    const scene = await makeScene(async (asked) => {
      await scene.home.json(['hold', scene.batch], 0);
      return yes(asked);
    });
    await scene.look();
    expect([await scene.states(), (await scene.approvals()).length]).toEqual([['held', 'held'], 1]);
  });

  it('a release before the question lifts nothing that the server decides', async () => {
    const { home, batch, look, states } = await makeScene();
    await home.json(['release', batch], 4);
    expect(await states()).toEqual(['held', 'held']);
    await look();
    expect(await states()).toEqual(['ready', 'ready']);
  });

  it.each([
    ['yes', yes],
    ['no', no],
  ])('a batch that is cancelled during the question stays cancelled: %s', async (_, answer) => {
    const scene = await makeScene(async (asked) => {
      await scene.home.json(['cancel', scene.batch, '--yes'], 0);
      return answer(asked);
    });
    await scene.look();
    expect([await scene.states(), await scene.approvals()]).toEqual([['cancelled', 'cancelled'], []]);
    await scene.look();
    expect([scene.server.asked.length, await scene.question()]).toEqual([1, undefined]);
  });

  it.each([
    ['yes', yes],
    ['no', no],
  ])('a batch that grew during the question is asked about anew: %s', async (_, answer) => {
    const scene = await makeScene(async (asked) => {
      if (scene.server.asked.length === 1) await grow(scene);
      return answer(asked);
    });
    await scene.look();
    const [first, second] = scene.server.asked.map(({ question }) => question);
    expect([first?.rows, second?.rows]).toEqual([2, 3]);
    expect(second?.digest).not.toBe(first?.digest);
    const done = answer === yes ? 'ready' : 'cancelled';
    expect((await scene.states()).slice(0, 2)).toEqual([done, done]);
    expect(await scene.approvals()).toMatchObject(answer === yes ? [{ digest: second?.digest }] : []);
  });
});

/** Adds a payout to the batch, as a retry does. */
async function grow({ app: { ledger } }: Scene): Promise<void> {
  await ledger.write(async (trx) => {
    const { id: _, ...row } = await trx
      .selectFrom('payouts')
      .selectAll()
      .orderBy('id')
      .executeTakeFirstOrThrow();
    const body = row.body.replaceAll(row.reference, 'PAY-0001-2');
    const own = { reference: 'PAY-0001-2', reference_key: 'pay-0001-2', body };
    await trx
      .insertInto('payouts')
      .values({ ...row, ...own })
      .execute();
  });
}

it('serve asks, and sends what was approved', async () => {
  const { home, server } = await makeScene();
  await serving(home, { COUNTERFOIL_SCHEDULES_SUBMIT: everySecond });
  await until(
    20_000,
    () => home.sandbox.requests.posts,
    (posts) => posts === 2,
  );
  expect(server.asked.length).toBe(1);
});

describe('several processes and a crash', () => {
  it('one of two asks', async () => {
    const scene = await makeScene(
      (asked) => new Promise((resolve) => setTimeout(() => resolve(signed({ answer: 'later' }, asked)), 200)),
    );
    const other = await scene.open();
    await Promise.all([scene.look(), other.look()]);
    await other.look();
    expect(scene.server.asked.length).toBe(1);
  });

  it('a process that dies between the answer and its record asks again once it is known to be dead', async () => {
    const scene = await makeScene();
    const { app, look, server, question, states } = scene;
    const dead = { ...app.ledger, write: dyingAfter(1, app.ledger.write) };
    await expect(look({ ledger: dead })).rejects.toThrow('killed');
    expect(await question()).toMatchObject({ claimed_by: app.workers.id });
    expect([server.asked.length, await states()]).toEqual([1, ['held', 'held']]);
    const next = await scene.open();
    await next.look();
    expect(server.asked.length).toBe(1);
    await app.workers.end();
    await next.look();
    await next.look();
    expect([server.asked.length, await states(), (await scene.approvals()).length]).toEqual([
      2,
      ['ready', 'ready'],
      1,
    ]);
  });

  it('a repeated yes does no harm', async () => {
    const { look, approvals, states, app } = await makeScene();
    await look();
    await app.ledger.write((trx) => trx.deleteFrom('approval_questions').execute());
    await look();
    expect([(await approvals()).length, await states()]).toEqual([1, ['ready', 'ready']]);
  });
});

/** Writes so often, and then as a process that was killed. */
function dyingAfter<W extends (...given: never[]) => Promise<unknown>>(writes: number, write: W): W {
  let left = writes;
  return ((...given: Parameters<W>) => {
    if (left-- <= 0) throw new Error('killed');
    return write(...given);
  }) as W;
}
