import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { batchOf, csv, parseJson, references, row, start, sum } from '../support/cli.ts';
import { hurried } from '../support/clock.ts';
import { makeHome } from '../support/decided.ts';
import { onPostgres } from '../support/on-postgres/standing.ts';
import { temporaryFolder } from '../support/temporary-folder.ts';

// Each kind of end is that of a whole process somewhere here; the other tests run their commands in this one.
it('init writes the configuration, .env.example and the folders, and never overwrites', async () => {
  const cwd = temporaryFolder();
  expect(await start(['init', 'payroll'], { cwd }).done).toMatchObject({
    code: 0,
    out: expect.stringContaining('Next: cd payroll, set service.base_url'),
  });
  for (const name of ['config/counterfoil.yaml', '.env.example', 'data/inbox', 'data/reports'])
    expect(existsSync(join(cwd, 'payroll', name)), name).toBe(true);
  const file = join(cwd, 'payroll/config/counterfoil.yaml');
  writeFileSync(file, '# mine\n');
  expect(await start(['init', 'payroll'], { cwd }).done).toMatchObject({ code: 0 });
  expect(readFileSync(file, 'utf8')).toBe('# mine\n');
});

it('a batch goes in, is sent once, settles, is reconciled and reported (contract: the whole loop)', async () => {
  const home = await makeHome();
  const [firstLine = '', ...rows] = batchOf(5).trimEnd().split('\n');
  const input = [`${firstLine},department`, ...rows.map((line) => `${line},=1+1`)];
  const file = home.put('data/inbox/november.csv', `${input.join('\n')}\n`);
  const checked = await home.json(['check', file], 0);
  expect(checked.files).toEqual([
    expect.objectContaining({
      file,
      ok: true,
      rows: 5,
      totals: { NGN: '5017.50' },
      problems: [],
      duplicates: [],
    }),
  ]);
  expect(home.names('data/inbox')).toContain('november.csv');
  expect((await home.json(['status'], 0)).inbox).toBeTruthy();

  const submitted = await home.start(['submit', '--json']).done;
  expect(submitted.code, submitted.err).toBe(0);
  const sent = parseJson(submitted);
  expect(sent.refused).toEqual([]);
  expect(sent.batches).toHaveLength(1);
  const { batch } = sent.batches[0];
  expect(batch).toMatch(/^november-\d{8}-[0-9a-f]{6}$/);
  expect(sent.batches[0]).toMatchObject({
    file: expect.stringContaining('november.csv'),
    rows: 5,
    totals: { NGN: '5017.50' },
    state: 'sent',
    payouts: { pending: 5 },
  });
  expect(home.names('data/inbox')).toEqual(['collections']);
  expect(home.names('data/archive')).toEqual([`${batch}--november.csv`]);
  const results = `data/reports/${batch}/results.csv`;
  const head =
    'reference,account_number,account_name,bank_code,amount,currency,narration,sender_name,department,payout_state,transfer_id,trx,fee,message,submitted_at,settled_at,evidence,open_discrepancy,paid_again_as';
  expect(home.read(results).replace('\ufeff', '').split('\r\n')[0]).toBe(head);
  expect(existsSync(join(home.dir, `data/reports/${batch}/results.xlsx`))).toBe(true);

  await home.sandbox.settleAll();
  const run = await home.json(['reconcile'], 0, { COUNTERFOIL_RECEIVER_ENABLED: 'false' });
  expect(run).toMatchObject({
    run: expect.stringMatching(/^\d{8}T\d{6}Z(-\d+)?$/),
    complete: true,
    passes: expect.any(Number),
    listed: 5,
    matched: 5,
    discrepancies: { open: {}, opened: 0, resolved: 0 },
    lookups: expect.any(Number),
    resends: 0,
    reports: expect.any(Array),
  });
  const folder = `data/reports/reconciliation-${run.run}`;
  for (const name of ['statement.csv', 'payouts.csv', 'discrepancies.csv', 'ageing.csv', 'summary.json'])
    expect(home.names(folder)).toContain(name);
  expect(JSON.parse(home.read(`${folder}/summary.json`))).toMatchObject({
    run: run.run,
    listed: 5,
    matched: 5,
  });
  expect(home.read(`${folder}/statement.csv`)).toMatch(/^\ufeff?currency,line,count,amount,verdict\r\n/);

  const lines = home.read(results).replace('\ufeff', '').trimEnd().split('\r\n');
  expect(lines[0]).toBe(head);
  expect(lines).toHaveLength(6);
  for (const [i, line] of lines.slice(1).entries()) {
    expect(line).toContain(
      `PAY-000${i + 1},100000000${i + 1},Adaeze Okonkwo,058,${1001 + i}.50,NGN,Salary,Acme Ltd,`,
    );
    expect(line).toContain(',success,');
    expect(line).toMatch(/(listing|details)/);
    expect(line, 'a cell that a spreadsheet would run').not.toContain(',=1+1');
  }

  const status = await home.json(['status'], 0);
  expect(status).toMatchObject({
    mode: 'test',
    halted: null,
    payouts: { success: 5 },
    totals: { NGN: { success: '5017.50' } },
    discrepancies: {},
    webhooks: { received: 0, applied: 0, rejected: 0 },
    schedules: expect.any(Array),
  });
  expect(Object.keys(status)).toEqual(expect.arrayContaining(['batches', 'queue', 'daemon', 'inbox']));
  expect(status.schedules.map((s: { job: string }) => s.job)).toEqual(
    expect.arrayContaining(['intake', 'submit', 'follow_up', 'reconcile', 'reconcile_full', 'report']),
  );
  const story = await home.json(['show', 'PAY-0003'], 0);
  expect(story.payout).toMatchObject({ reference: 'PAY-0003', state: 'success', amount: '1003.50' });
  for (const part of ['attempts', 'webhooks', 'lookups', 'listings', 'discrepancies', 'history'])
    expect(story[part], part).toBeInstanceOf(Array);
  expect(story.attempts).toHaveLength(1);
  expect(await home.json(['discrepancies'], 0)).toMatchObject({ schema: 1 });
  expect(references(5).map((r) => home.sandbox.requests.bodies(r))).toEqual([1, 1, 1, 1, 1]);
  expect(references(5).map((r) => home.sandbox.book.moneyMoved(r))).toEqual([1, 1, 1, 1, 1]);

  const files = home.names(folder).filter((name) => name.endsWith('.csv') || name.endsWith('.json'));
  const before = [...files.map((name) => home.read(`${folder}/${name}`)), home.read(results)];
  expect(await home.run(['report', run.run])).toMatchObject({ code: 0 });
  expect(await home.run(['report', batch])).toMatchObject({ code: 0 });
  expect([...files.map((name) => home.read(`${folder}/${name}`)), home.read(results)]).toEqual(before);
}, 90_000);

it('P22: the same content is refused for ever, naming the batch it became: same name, renamed, CRLF, BOM', async () => {
  const home = await makeHome();
  const text = batchOf(3);
  const file = home.put('pay.csv', text);
  const { batch } = (await home.json(['submit', file], 0)).batches[0];
  expect(existsSync(file), 'a named file stays').toBe(true);
  const variants = {
    'pay.csv': text,
    'renamed.csv': text,
    'crlf.csv': text.replaceAll('\n', '\r\n'),
    'bom.csv': `\ufeff${text}`,
  };
  for (const [name, content] of Object.entries(variants)) {
    const again = await home.json(['submit', home.put(name, content)], 3);
    expect(again.batches, name).toEqual([]);
    expect(again.refused, name).toHaveLength(1);
    expect(JSON.stringify(again.refused[0].problems), name).toContain(batch);
  }
  expect((await home.json(['status'], 0)).payouts).toMatchObject({ pending: 3 });
  expect(references(3).map((r) => home.sandbox.requests.bodies(r))).toEqual([1, 1, 1]);
});

it('a reference of an earlier batch is refused whatever its case (contract: unique for ever)', async () => {
  const home = await makeHome();
  await home.json(['submit', home.put('a.csv', csv(row(1)))], 0);
  const other = home.put('b.csv', csv(row(2, { reference: 'pay-0001' })));
  const done = await home.start(['submit', other, '--json']).done;
  expect(done.code).toBe(3);
  const again = parseJson(done);
  expect(again.refused[0].problems[0]).toMatchObject({ row: 2, column: 'reference', value: 'pay-0001' });
  expect(home.sandbox.requests.posts).toBe(1);
});

it('--dry-run records nothing, --no-wait records and sends nothing, and submit sends it later', async () => {
  const home = await makeHome();
  const file = home.put('pay.csv', batchOf(3));
  await home.json(['submit', file, '--dry-run'], 0);
  expect(sum((await home.json(['status'], 0)).payouts)).toBe(0);
  const recorded = await home.json(['submit', file, '--no-wait'], 0);
  expect(recorded.batches[0]).toMatchObject({ state: 'ready', payouts: { ready: 3 } });
  expect(home.sandbox.requests.posts).toBe(0);
  const sent = await home.json(['submit'], 0);
  expect(sent.batches).toEqual([
    expect.objectContaining({ batch: recorded.batches[0].batch, payouts: { pending: 3 } }),
  ]);
  expect(home.sandbox.requests.posts).toBe(3);
});

it('control figures that do not agree refuse the file; those that agree let it pass', async () => {
  const home = await makeHome();
  const file = home.put('pay.csv', batchOf(3));
  expect((await home.json(['submit', file, '--rows', '4'], 3)).refused).toHaveLength(1);
  expect((await home.json(['submit', file, '--total', 'NGN=3007.51'], 3)).refused).toHaveLength(1);
  expect(home.sandbox.requests.posts).toBe(0);
  const twice = await home.run(['submit', '--total', 'NGN=3007.50', '--total', 'NGN=3007.51', file]);
  expect(twice).toMatchObject({ code: 2, err: expect.stringContaining('NGN is named twice') });
  const other = await home.json(['submit', '--total', 'NGN=3007.50', '--total', 'ZAR=1.00', file], 3);
  expect(other.refused).toHaveLength(1);
  await home.json(['submit', '--rows', '3', '--total', 'NGN=3007.50', file], 0);
  expect(home.sandbox.requests.posts).toBe(3);
});

it('failed payouts alone are exit 0, and their result rows say failed and why', async () => {
  const home = await makeHome({ faults: { 'PAY-0002': 'fail' } });
  const { batch } = (await home.json(['submit', home.put('pay.csv', batchOf(2))], 0)).batches[0];
  await home.sandbox.settleAll();
  await home.json(['reconcile'], 0);
  expect((await home.json(['status'], 0)).payouts).toMatchObject({ success: 1, failed: 1 });
  expect(home.read(`data/reports/${batch}/results.csv`)).toMatch(/PAY-0002.*,failed,/);
});

it('a lost answer becomes unknown and exit 4, is never sent again, and the listing settles it (P15, P19)', async () => {
  const home = await makeHome({ faults: { 'PAY-0002': 'lost_answer' } });
  const sent = await home.json(['submit', home.put('pay.csv', batchOf(3))], 4);
  expect(sent.batches[0].payouts).toMatchObject({ pending: 2, unknown: 1 });
  expect((await home.json(['submit'], 4)).batches, 'it sends from none').toEqual([]);
  expect((await home.json(['status'], 4)).payouts).toMatchObject({ pending: 2, unknown: 1 });
  await home.sandbox.settleAll();
  await home.json(['reconcile'], 0);
  expect((await home.json(['status'], 0)).payouts).toMatchObject({ success: 3 });
  expect(references(3).map((r) => home.sandbox.requests.bodies(r))).toEqual([1, 1, 1]);
});

it('reconcile ends with 4 and names what is wrong: a stranger and a wrong amount', async () => {
  const home = await makeHome({ faults: { 'PAY-0001': 'wrong_amount' } });
  await home.json(['submit', home.put('pay.csv', batchOf(2))], 0);
  await home.sandbox.settleAll();
  home.sandbox.book.plant({ reference: 'STRANGER-1' });
  const done = await home.start(['reconcile', '--json']).done;
  expect(done.code).toBe(4);
  const run = parseJson(done);
  expect(run.discrepancies.open).toEqual({ amount_conflict: 1, missing_in_ledger: 1 });
  const text = home.read(`data/reports/reconciliation-${run.run}/discrepancies.csv`);
  expect(text.replace('\ufeff', '').split('\r\n')[0]).toBe(
    'discrepancy_id,kind,severity,reference,batch,trx,transfer_id,currency,expected,actual,difference,first_seen_at,last_seen_at,age_days,state,evidence,action,note',
  );
  expect(text).toContain('STRANGER-1');
  const listed = await home.run(['discrepancies', '--kind', 'amount_conflict']);
  expect(listed.code).toBe(4);
  expect(listed.out).toContain('PAY-0001');
  expect(listed.out).not.toContain('STRANGER-1');
  expect((await home.json(['status'], 4)).discrepancies).toEqual({
    amount_conflict: 1,
    missing_in_ledger: 1,
  });
});

it.skipIf(onPostgres)('the ledger and what it holds are not readable by others', async () => {
  const home = await makeHome();
  await home.json(['submit', home.put('pay.csv', batchOf(1))], 0);
  expect(statSync(join(home.dir, 'data/ledger.db')).mode & 0o077).toBe(0);
});

it('a service that cannot list ends reconcile with one sentence, and nothing is called missing', async () => {
  const home = await makeHome();
  await home.json(['submit', home.put('pay.csv', batchOf(2))], 0);
  const away = { COUNTERFOIL_SERVICE_BASE_URL: 'http://127.0.0.1:9' };
  const done = await hurried(() => home.run(['reconcile', '--json'], away));
  expect([1, 4]).toContain(done.code);
  expect(parseJson(done)).toMatchObject({ complete: false, discrepancies: { open: {} } });
});
