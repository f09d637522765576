import { rmdirSync, rmSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { batchOf, csv, flat, header, row, until } from '../support/cli.ts';
import { makeHome } from '../support/decided.ts';
import { onPostgres } from '../support/on-postgres/standing.ts';

const nowhere = { COUNTERFOIL_SERVICE_BASE_URL: 'http://127.0.0.1:9' };

it('after a failure submit says what is recorded and how to go on; the same file again is one problem, not one a row', async () => {
  const home = await makeHome();
  const file = home.put('pay.csv', batchOf(5));
  const failed = await home.run(['submit', file], nowhere);
  expect(failed.code).toBe(1);
  expect(failed.err).toMatch(
    /gave no list.*pay\.csv is recorded as batch pay-\S+: 0 sent, 5 waiting\. Go on with: counterfoil submit \(without the file/,
  );
  const again = await home.json(['submit', file], 3);
  expect(again.refused).toEqual([
    expect.objectContaining({
      batch: expect.stringMatching(/^pay-/),
      problems: [
        expect.objectContaining({
          row: 0,
          problem: expect.stringMatching(/already taken as batch pay-.*0 sent, 5 waiting/),
          fix: expect.stringMatching(/counterfoil submit .*Do not change the references/),
        }),
      ],
    }),
  ]);
  expect((await home.run(['submit', file])).err).not.toMatch(/row \d|give it a new reference/);
  expect((await home.json(['check', file], 3)).files[0].problems).toHaveLength(1);
  const dry = await home.run(['submit', file, '--dry-run']);
  expect(dry).toMatchObject({ code: 3, out: expect.stringMatching(/Do not change the references/) });
  home.put('data/inbox/pay.csv', batchOf(5));
  await home.json(['submit'], 3);
  expect(home.read('data/rejected/pay.errors.csv').trim().split('\n').length, 'header and one line').toBe(2);
  expect(home.sandbox.requests.posts, 'the rest went out').toBe(5);
});

it('no face asks anybody to correct a file whose content was paid: a correction would pay again', async () => {
  const home = await makeHome({}, { COUNTERFOIL_INTAKE_SETTLE_SECONDS: '0' });
  const { batches } = await home.json(['submit', home.put('pay.csv', batchOf(2))], 0);
  const [{ batch }] = batches;
  const check = await home.run(['check', home.put('again.csv', batchOf(2))]);
  expect(flat(check.out)).toContain(
    `Nothing to correct: it was taken before. Next: counterfoil payouts --batch ${batch}`,
  );
  home.put('data/inbox/again.csv', batchOf(2));
  await home.json(['submit'], 3);
  const { inbox, findings } = await home.json(['status'], 4);
  expect(inbox.rejected).toEqual([
    expect.objectContaining({ kind: 'taken_before', file: 'again.csv', batch }),
  ]);
  expect(findings).toContainEqual(
    expect.objectContaining({ kind: 'file_rejected', subject: 'taken_before' }),
  );
  const status = flat((await home.run(['status'])).out);
  const doctor = flat((await home.run(['doctor', '--offline'])).out);
  for (const said of [status, doctor]) {
    expect(said).toContain(`again.csv was not taken in: its content is batch ${batch} already`);
    expect(said).toContain('new ones would pay again');
  }
  for (const said of [flat(check.out), status, doctor])
    expect(said).not.toMatch(
      /nothing of (it|a refused file) is paid|orrect (the|it|and|again)|correct \S+again\.csv/,
    );
  await home.json(['ack', 'again.csv', '--note', 'dropped twice'], 0);
});

it('every face asks for new references where the batch of that content was cancelled before it was sent', async () => {
  const approval = { COUNTERFOIL_SUBMISSION_APPROVAL: 'always' };
  const home = await makeHome({}, { COUNTERFOIL_INTAKE_SETTLE_SECONDS: '0', ...approval });
  const { batches } = await home.json(['submit', home.put('pay.csv', batchOf(2))], 4);
  await home.json(['cancel', batches[0].batch, '--yes'], 0);
  const check = await home.run(['check', home.put('again.csv', batchOf(2))]);
  home.put('data/inbox/again.csv', batchOf(2));
  await home.json(['submit'], 3);
  const { inbox } = await home.json(['status'], 4);
  expect(inbox.rejected).toEqual([expect.objectContaining({ kind: 'refused', file: 'again.csv' })]);
  const status = flat((await home.run(['status'])).out);
  expect(status).toContain('again.csv was refused, and nothing of it is paid');
  for (const said of [flat(check.out), status])
    expect(said).not.toMatch(/Nothing to correct|new ones would pay again/);
  expect(flat(check.out)).toContain('drop it again with new references');
});

it('an interrupted submit names the batch, what was sent and how to go on', async () => {
  const home = await makeHome({ latencyMs: 150 }, { COUNTERFOIL_SERVICE_CONCURRENCY: '2' });
  const first = home.begin(['submit', home.put('pay.csv', batchOf(20))]);
  await until(
    20_000,
    () => home.sandbox.requests.posts,
    (posts) => posts >= 3,
  );
  first.signal('SIGINT');
  const done = await first.done;
  expect(done.code).toBe(130);
  expect(flat(done.err)).toMatch(
    /interrupted\. pay\.csv is recorded as batch pay-\S+: \d+ sent, \d+ waiting\. Go on/,
  );
  expect(done.out).toMatch(/Next: +counterfoil submit\n/);
});

it('a request for a webhook that reached nobody is not called refused', async () => {
  const home = await makeHome();
  await home.json(['submit', home.put('one.csv', csv(row(1)))], 0);
  const nobody = { COUNTERFOIL_SERVICE_BASE_URL: 'http://127.0.0.1:9' };
  const lost = await home.run(['resend', 'PAY-0001'], nobody);
  expect([lost.code, lost.out]).toEqual([
    1,
    expect.stringMatching(/^failed {3}PAY-0001: connection refused, 127\.0\.0\.1:9$/m),
  ]);
});

it('a submit that could not begin counts the one payout that waits', async () => {
  const home = await makeHome();
  await home.json(['submit', home.put('one.csv', csv(row(1))), '--no-wait'], 0);
  const done = await home.run(['submit'], { COUNTERFOIL_SERVICE_BASE_URL: 'http://127.0.0.1:9' });
  expect(done.code).toBe(1);
  expect(flat(done.err)).toContain('1 payout waits. Go on with: counterfoil submit');
});

it('another file that repeats a reference warns that a new reference would pay again', async () => {
  const home = await makeHome();
  await home.json(['submit', home.put('one.csv', csv(row(1)))], 0);
  const { refused } = await home.json(['submit', home.put('two.csv', csv(row(1), row(2)))], 3);
  expect(refused[0].problems).toEqual([
    expect.objectContaining({ row: 2, fix: expect.stringContaining('a new reference would pay it again') }),
  ]);
});

it('a reference of a cancelled payout is refused with the way to pay it: it was never sent', async () => {
  const home = await makeHome();
  await home.json(['submit', home.put('one.csv', csv(row(1), row(2))), '--no-wait'], 0);
  await home.json(['cancel', 'PAY-0001', '--yes'], 0);
  const { refused } = await home.json(['submit', home.put('two.csv', csv(row(1), row(2), row(3)))], 3);
  expect(refused[0].problems).toEqual([
    expect.objectContaining({
      row: 2,
      problem: expect.stringContaining('of a cancelled payout in batch one-'),
      fix: 'it was never sent: to pay it, give the row a new reference',
    }),
    expect.objectContaining({ row: 3, fix: expect.stringContaining('a new reference would pay it again') }),
  ]);
});

it('unknown payouts are named with what to do, by submit and status, and a halt says to reconcile first', async () => {
  const faults = { 'PAY-0001': 'lost_answer', 'PAY-0002': 'lost_before', 'PAY-0003': 'lost_answer' } as const;
  const home = await makeHome({ faults }, { COUNTERFOIL_SERVICE_CONCURRENCY: '1' });
  const sent = await home.run(['submit', home.put('pay.csv', batchOf(6))]);
  const unknown =
    /3 payouts are unknown: they may be paid\. Do not pay them another way\.\n +PAY-0001, PAY-0002 and PAY-0003\n.*next reconcile asks/;
  expect(sent).toMatchObject({ code: 4, out: expect.stringMatching(unknown) });
  expect(sent.out).toMatch(/First counterfoil reconcile.*release --mode .3 payouts wait/);
  expect((await home.run(['status'])).out).toMatch(unknown);
});

it('--quiet prints nothing of what went well: no page, no warning; a refused file and a halt still speak', async () => {
  const home = await makeHome();
  const odd = `${header}\nP-1,1234567890,Ada,058,10.00,NGN,Salary,Acme\n`;
  expect(await home.run(['submit', home.put('odd.csv', odd), '--quiet'])).toEqual({
    code: 0,
    out: '',
    err: '',
  });
  await home.sandbox.settleAll();
  expect(await home.run(['reconcile', '--quiet'])).toEqual({ code: 0, out: '', err: '' });
  expect((await home.run(['submit', home.put('odd.csv', odd), '--quiet'])).err).toContain('already taken');
  await home.json(['hold', '--mode'], 0);
  const halted = await home.run(['submit', '--quiet']);
  expect(halted).toMatchObject({ code: 4, out: '', err: expect.stringContaining('is halted') });
});

it('--quiet says whatever ends with another code than 0: held, waiting for an approval, unknown, open discrepancies', async () => {
  const home = await makeHome({ faults: { 'PAY-0003': 'lost_answer' } });
  const twice = home.put('twice.csv', csv(row(1), row(1, { reference: 'PAY-0002' })));
  const held = await home.run(['submit', twice, '--quiet']);
  expect(held).toMatchObject({
    code: 4,
    out: '',
    err: expect.stringMatching(
      /^twice-\S+ {3}2 payouts .*\n {2}held 2\n {2}held: possible duplicate: .*counterfoil release/,
    ),
  });
  const approval = { COUNTERFOIL_SUBMISSION_APPROVAL: 'always' };
  const waits = await home.run(['submit', home.put('waits.csv', csv(row(4))), '--quiet'], approval);
  expect(waits).toMatchObject({ code: 4, out: '', err: expect.stringMatching(/held: needs an approval/) });
  const unknown = await home.run(['submit', home.put('unknown.csv', csv(row(3))), '--quiet']);
  expect(unknown).toMatchObject({
    code: 4,
    out: '',
    err: expect.stringMatching(/! PAY-0003 is unknown: .*It may be paid\.\n.*next reconcile asks/),
  });
  home.sandbox.book.plant({ reference: 'FOREIGN-1' });
  const found = await home.run(['reconcile', '--quiet']);
  expect(found).toMatchObject({
    code: 4,
    out: '',
    err: expect.stringMatching(
      /Missing in ledger +FOREIGN-1[\s\S]*\n {2}Open: .*\nNext: counterfoil discrepancies/,
    ),
  });
});

it('submit --json says why a batch is held, as status does', async () => {
  const home = await makeHome({}, { COUNTERFOIL_SUBMISSION_PAYOUT_LIMIT: '{"NGN":"1000.00"}' });
  const [held] = (await home.json(['submit', home.put('pay.csv', batchOf(1))], 4)).batches;
  expect(held.hold_reasons).toEqual([expect.stringContaining('submission.payout_limit')]);
  expect((await home.json(['status'], 4)).batches[0].hold_reasons).toEqual(held.hold_reasons);
});

it('a halt counts all that waits, also where the file that was named brought nothing', async () => {
  const home = await makeHome();
  const file = home.put('pay.csv', batchOf(1));
  await home.json(['submit', file, '--no-wait'], 0);
  await home.json(['hold', '--mode'], 0);
  for (const args of [['submit', file], ['submit', file, '--quiet'], ['submit']]) {
    const { out, err } = await home.run(args);
    expect(out + err, args.join(' ')).toContain('(1 payout waits)');
  }
  expect((await home.run(['status'])).out).toContain('(1 payout waits)');
});

it('check and --dry-run begin no ledger, and leave none behind (a look that made one, with its birth)', async () => {
  const home = await makeHome();
  const file = home.put('pay.csv', batchOf(1));
  home.put('data/inbox/dropped.csv', batchOf(1));
  const { COUNTERFOIL_LEDGER_URL: url } = home.env;
  // The database of a test has a ledger already, but not in every schema.
  const place = { ...(onPostgres && { COUNTERFOIL_LEDGER_URL: `${url}?schema=looked` }) };
  const own = { TMPDIR: dirname(home.put('temporary/kept', '')), ...place };
  for (const look of [
    ['check', file],
    ['submit', file, '--dry-run'],
    ['submit', '--dry-run'],
  ])
    await home.json(look, 0, own);
  expect(home.names('temporary')).toEqual(['kept']);
  expect(home.names('data').filter((name) => name.startsWith('ledger'))).toEqual([]);
  await home.json(['submit', file], 0, place);
  expect((await home.json(['check', file], 3, place)).files[0].ok, 'the real one is looked into').toBe(false);
});

it('in mode live the way on is named with --live', async () => {
  const key = { COUNTERFOIL_LIVE_SECRET_KEY: 'sk_live_0123456789abcdef' };
  const home = await makeHome({}, { COUNTERFOIL_MODE: 'live', ...key, ...nowhere });
  const file = home.put('pay.csv', batchOf(1));
  const failed = await home.run(['submit', file, '--live', '--yes']);
  expect(failed).toMatchObject({
    code: 1,
    err: expect.stringMatching(/Go on with: counterfoil submit --live \(/),
  });
  const again = await home.run(['submit', '--live', '--yes']);
  expect(again.err).toMatch(/Go on with: counterfoil submit --live$/m);
  const { refused } = await home.json(['submit', file, '--live', '--yes'], 3);
  expect(refused[0].problems[0].fix).toContain('counterfoil submit --live (without the file)');
});

it('an archive that cannot be written leaves the batch recorded, says so each time, and the next submit goes on', async () => {
  const home = await makeHome();
  await home.json(['submit'], 0);
  const archive = join(home.dir, 'data/archive');
  rmdirSync(archive);
  home.put('data/archive', 'no folder');
  const file = home.put('pay.csv', batchOf(2));
  const said =
    /pay\.csv is recorded as pay-\S+, but cannot be brought from .*archive \(a file stands where a folder should be, \w+\).*this run sent nothing.*go on with counterfoil submit \(without the file/;
  for (const args of [['submit', file], ['submit']])
    expect(await home.run(args)).toMatchObject({ code: 1, err: expect.stringMatching(said) });
  rmSync(archive);
  await home.json(['submit'], 0);
  expect(home.names('data/archive')).toHaveLength(1);
  expect(home.sandbox.requests.posts).toBe(2);
});

it('reports that cannot be written do not hide what was sent', async () => {
  const home = await makeHome();
  const reports = join(home.dir, 'data/reports');
  rmdirSync(reports);
  home.put('data/reports', 'no folder');
  const sent = await home.run(['submit', home.put('pay.csv', batchOf(2))]);
  expect(sent).toMatchObject({
    code: 1,
    out: expect.stringMatching(/accepted 2/),
    err: expect.stringMatching(
      /result files could not be written: .*What was sent is recorded.*counterfoil report/,
    ),
  });
  expect((await home.json(['submit'], 1)).error).toContain('result files');
  expect(await home.run(['report'])).toMatchObject({
    code: 1,
    err: expect.stringMatching(/this account cannot use .*reports.*nothing is lost/),
  });
  rmSync(reports);
  await home.json(['report'], 0);
  expect(home.sandbox.requests.posts).toBe(2);
});

it('results of one batch that cannot be written keep no other batch back (the others stayed without results)', async () => {
  const home = await makeHome();
  const one = (await home.json(['submit', home.put('one.csv', batchOf(1)), '--no-wait'], 0)).batches[0].batch;
  const two = (await home.json(['submit', home.put('two.csv', batchOf(1, 2)), '--no-wait'], 0)).batches[0]
    .batch;
  home.put(`data/reports/${one}`, 'no folder');
  const sent = await home.run(['submit']);
  expect(sent).toMatchObject({ code: 1, err: expect.stringContaining(`reports/${one}`) });
  expect(home.names(`data/reports/${two}`)).toEqual(['results.csv', 'results.xlsx']);
  expect(home.read('data/reports/index.html')).toContain(two);
  rmSync(join(home.dir, 'data/reports', one));
  await home.json(['report'], 0);
  expect(home.names(`data/reports/${one}`)).toEqual(['results.csv', 'results.xlsx']);
});

it('a wrong key or an absent service in reconcile says what to check, and that nothing was compared', async () => {
  const home = await makeHome();
  const key = { COUNTERFOIL_TEST_SECRET_KEY: 'sk_test_wrong' };
  const wrong = await home.run(['reconcile'], key);
  expect(wrong).toMatchObject({
    code: 1,
    err: expect.stringMatching(/refused the test key.*Check COUNTERFOIL_TEST_SECRET_KEY/),
    out: expect.stringMatching(/not compared\n\n {2}Nothing was checked, and no payouts were marked missing/),
  });
  const run = await home.json(['reconcile'], 1, key);
  expect(run.error).toContain('refused the test key');
  expect(JSON.parse(home.read(`data/reports/reconciliation-${run.run}/summary.json`))).toEqual(run);
});

it('--live in mode test, and an unknown kind or batch of discrepancies, are exit 2', async () => {
  const home = await makeHome();
  const file = home.put('pay.csv', batchOf(1));
  for (const [args, said] of [
    [['submit', file, '--live'], 'no real money would move; leave --live out'],
    [['discrepancies', '--kind', 'bogus'], 'paid_twice'],
    [['discrepancies', '--batch', 'bogus'], 'no batch "bogus"'],
  ] as const)
    expect(await home.run([...args]), said).toMatchObject({ code: 2, err: expect.stringContaining(said) });
  expect((await home.json(['status'], 0)).batches).toEqual([]);
});
