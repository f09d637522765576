import { expect, it } from 'vitest';
import type { SandboxOptions } from '../../src/sandbox/sandbox.ts';
import { batchOf, type Home, type Json, until } from '../support/cli.ts';
import { makeHome } from '../support/decided.ts';
import { serving } from '../support/serving.ts';

const now = { COUNTERFOIL_RECONCILIATION_STALE_PENDING_HOURS: '0' };
const hears = { COUNTERFOIL_RECONCILIATION_WEBHOOK_GRACE_MINUTES: '0' };

const rows = (...lines: string[]): string => `reference,amount,currency\n${lines.join('\n')}\n`;
const collectionOf = async (home: Home, reference: string): Promise<Json> =>
  (await home.json(['show', reference], 0)).collection;
const open = async (home: Home): Promise<string[]> =>
  (await home.json(['discrepancies'], 4)).discrepancies.map(
    (one: Json) => `${one.kind} ${one.reference} ${one.expected} ${one.actual} ${one.difference}`,
  );

it('expected collections are taken, heard, verified, missed and told apart, and heal (the whole way)', async () => {
  const faults: SandboxOptions['faults'] = {
    'INV-LOST': 'webhook_missing',
    'INV-GHOST': 'vanish',
    'INV-WRONG': 'wrong_amount',
  };
  const home = await makeHome({ faults }, { ...now, ...hears });
  const { daemon } = await serving(home);
  const given = ['INV-PAID', 'INV-LOST', 'INV-GHOST', 'INV-WRONG', 'INV-SHORT', 'INV-NEVER'];
  home.put('data/inbox/collections/week.csv', rows(...given.map((reference) => `${reference},100,NGN`)));
  const taken = await home.json(['submit'], 0);
  expect(taken.collections).toEqual([
    expect.objectContaining({ rows: 6, totals: { NGN: '600.00' }, skipped: 0 }),
  ]);
  expect(home.names('data/inbox/collections')).toEqual([]);
  expect(home.names('data/archive')).toEqual([`${taken.collections[0].id}--week.csv`]);
  expect((await home.json(['status'], 0)).collections).toEqual({ expected: 6 });

  const { book } = home.sandbox;
  for (const reference of ['INV-PAID', 'INV-LOST', 'INV-GHOST', 'INV-WRONG', 'GIFT'])
    book.addCollection({ reference, amount: '100.00' });
  book.addCollection({ reference: 'INV-SHORT', amount: '60.00' });
  await home.sandbox.idle();
  const told = await until(
    4000,
    () => home.json(['status'], 0),
    (s) => s.collections.received === 3 && s.collections.conflict === 2 && s.collections.heard === 1,
  );
  expect(told.collections).toMatchObject({ expected: 1 });
  expect(await collectionOf(home, 'INV-LOST'), 'verified, though no webhook told of it').toMatchObject({
    state: 'received',
    heard_at: null,
  });

  const first = await home.json(['reconcile'], 4);
  expect(first).toMatchObject({
    resends: 1,
    collections: { states: { received: 3, conflict: 2, heard: 1, expected: 1 } },
    discrepancies: { open: { collection_missing: 2, collection_conflict: 2 }, opened: 4 },
  });
  expect((await open(home)).sort()).toEqual([
    'collection_conflict INV-SHORT 100.00 60.00 -40.00',
    'collection_conflict INV-WRONG 100.00 101.00 1.00',
    'collection_missing INV-GHOST 100.00 not received -100.00',
    'collection_missing INV-NEVER 100.00 not received -100.00',
  ]);
  expect(await collectionOf(home, 'INV-GHOST')).toMatchObject({ state: 'heard', told_status: 'success' });
  expect(await collectionOf(home, 'gift')).toMatchObject({ state: 'received', expected_at: null });
  const sheet = home.read(`data/reports/reconciliation-${first.run}/collections.csv`);
  expect(sheet.split('\r\n')[0]?.replace('\ufeff', '')).toMatch(
    /^reference,state,currency,expected,received/,
  );
  expect(sheet).toMatch(/INV-SHORT,conflict,NGN,100\.00,60\.00,-40\.00,/);
  const ageing = home.read(`data/reports/reconciliation-${first.run}/ageing.csv`).split('\r\n');
  expect(ageing.filter((line) => line.includes('collection_'))).toEqual([
    'NGN,collection_conflict,0-1,2,200.00',
    'NGN,collection_missing,0-1,2,200.00',
  ]);

  await until(
    4000,
    () => collectionOf(home, 'INV-LOST'),
    (collection) => collection.heard_at !== null,
  );
  const lost = await home.run(['show', 'INV-LOST']);
  expect(lost.out).toMatch(/resend requests {2}asked 1 time; received at/);
  expect(lost.out).toContain('not heard after a request: not needed any more');

  home.sandbox.faults.delete('INV-GHOST');
  book.addCollection({ reference: 'INV-NEVER', amount: '100.00' });
  book.changeCollection('test', 'INV-SHORT', { amount: '100.00' });
  await home.sandbox.idle();
  const second = await home.json(['reconcile'], 4);
  expect(second.discrepancies).toMatchObject({ open: { collection_conflict: 2 }, opened: 0, resolved: 2 });
  const closed = await home.run(['show', 'INV-NEVER']);
  expect(closed.out).toMatch(/collection_missing resolved/);
  const resolved = home.read(`data/reports/reconciliation-${second.run}/discrepancies.csv`);
  expect(resolved).toMatch(/INV-GHOST.*collection: received, verify asked .*: says success/);
  // Two webhooks about one payment that differ stay a person's matter, whatever is shown later.
  expect((await open(home)).sort()[0]).toMatch(/^collection_conflict INV-SHORT/);
  daemon.signal('SIGTERM');
  expect((await daemon.done).code).toBe(0);
});

it('webhooks that were lost are asked for again by hand and by the daemon, and the run counts them', async () => {
  const home = await makeHome({ faults: { 'PAY-0001': 'webhook_missing' } }, hears);
  const { daemon } = await serving(home);
  await home.json(['submit', home.put('pay.csv', batchOf(2))], 0);
  await home.sandbox.settleAll();
  const first = await home.json(['reconcile'], 4);
  expect(first).toMatchObject({ resends: 1, webhooks: { due: 2, forged: 0 } });
  // The daemon may hear what was asked for before this run counts what was heard.
  expect(first.webhooks.heard).toBe(1 + first.webhooks.resent);
  const heard = await until(
    4000,
    () => home.json(['show', 'PAY-0001'], 0),
    (story) => story.webhooks.length === 1,
  );
  expect(heard.payout.resend).toMatchObject({ kind: 'heard', made: 1 });
  const second = await home.json(['reconcile'], 0);
  expect(second).toMatchObject({
    resends: 0,
    webhooks: { due: 2, heard: 2, late: 1, resent: 1 },
    resend_requests: { asked: 1, heard: 1, gave_up: 0 },
    discrepancies: { open: {}, resolved: 1 },
  });
  expect((await home.json(['status'], 0)).webhooks).toMatchObject({
    received: 2,
    at_last_run: { due: 2, heard: 2 },
  });
  daemon.signal('SIGTERM');
  await daemon.done;
});

it('resend asks for known references only, all or none of them', async () => {
  const home = await makeHome({ faults: { 'C-1': 'webhook_missing' } });
  const { daemon } = await serving(home);
  await home.json(['submit', home.put('pay.csv', batchOf(1))], 0);
  await home.sandbox.settleAll();
  const unknown = await home.run(['resend', 'PAY-0001', 'PAY-9999']);
  expect([unknown.code, unknown.err]).toEqual([2, expect.stringContaining('no payout "PAY-9999"')]);
  expect((await home.json(['show', 'PAY-0001'], 0)).payout.resend.kind).toBe('never_asked');
  expect(await home.json(['resend', 'pay-0001'], 0)).toMatchObject({
    asked: [{ reference: 'pay-0001', ok: true }],
  });
  home.sandbox.book.addCollection({ reference: 'C-1', amount: '5.00' });
  const nobody = await home.run(['resend', '--collection', 'C-9']);
  expect([nobody.code, nobody.err]).toEqual([2, expect.stringContaining('no collection "C-9"')]);
  // Nobody expected it and its webhook was lost, but the service shows it.
  await home.json(['resend', '--collection', 'C-1'], 0);
  const story = await until(
    4000,
    () => home.json(['show', 'C-1'], 0),
    (s) => s.webhooks.length === 1,
  );
  expect(story).toMatchObject({ collection: { state: 'received' }, resend: { kind: 'heard' } });
  daemon.signal('SIGTERM');
  await daemon.done;
});

it('a file of expected collections that is bad is refused by submit and by reconcile, with 3', async () => {
  const home = await makeHome();
  home.put('data/inbox/collections/bad.csv', rows('INV-1,ten,NGN'));
  const told = await home.json(['submit'], 3);
  expect(told.refused).toEqual([
    expect.objectContaining({ problems: [expect.objectContaining({ row: 2, column: 'amount' })] }),
  ]);
  expect(home.names('data/rejected')).toEqual(['bad.csv', 'bad.errors.csv']);
  home.put('data/inbox/collections/bad.csv', rows('INV-1,ten,NGN'));
  const run = await home.run(['reconcile']);
  expect([run.code, run.err]).toEqual([3, expect.stringContaining('row 2, column amount: "ten"')]);
});

it('a collection that the service does not know was asked about, and is not called verified', async () => {
  const home = await makeHome();
  home.put('data/inbox/collections/one.csv', rows('INV-1,5,NGN'));
  const { out } = await home.run(['reconcile']);
  expect(out).toMatch(/^ {2}Collections: 1 expected; 1 asked about by this run\.$/m);
});

it('where nobody can reach us no webhook is due, none is missing, and none is asked for', async () => {
  const home = await makeHome({}, { ...hears, COUNTERFOIL_RECEIVER_ENABLED: 'false' });
  home.put('data/inbox/collections/one.csv', rows('INV-1,5,NGN'));
  await home.json(['submit', home.put('pay.csv', batchOf(1))], 0);
  home.sandbox.book.addCollection({ reference: 'INV-1', amount: '5.00' });
  await home.sandbox.settleAll();
  const run = await home.json(['reconcile'], 0);
  expect(run).toMatchObject({
    resends: 0,
    webhooks: { due: 0, heard: 0, late: 0, forged: 0, resent: 0 },
    collections: { states: { received: 1 } },
    discrepancies: { open: {} },
  });
});

it('reconcile says which rows of expected collections it left out, and so does summary.json (rows left out in silence)', async () => {
  const home = await makeHome({}, { COUNTERFOIL_INTAKE_ON_INVALID_ROW: 'skip_row' });
  home.put('data/inbox/collections/some.csv', rows('INV-1,100,NGN', 'INV-2,-5,NGN', 'INV-3,x,NGN'));
  home.put('data/inbox/collections/none.csv', rows());
  const run = await home.json(['reconcile'], 3);
  expect(run.taken).toEqual([
    expect.objectContaining({
      rows: 1,
      skipped: 2,
      invalid_file: expect.stringMatching(/some\.invalid\.csv$/),
    }),
  ]);
  expect(run.refused).toEqual([expect.objectContaining({ file: expect.stringMatching(/none\.csv$/) })]);
  const summary = JSON.parse(home.read(`data/reports/reconciliation-${run.run}/summary.json`));
  expect(summary, 'what reconcile --json printed').toEqual(run);

  home.put('data/inbox/collections/more.csv', rows('INV-4,100,NGN', 'INV-5,-5,NGN'));
  const quiet = await home.run(['reconcile', '--quiet']);
  expect(quiet.code).toBe(3);
  expect(quiet.err).toMatch(/1 collection expected, NGN 100\.00\n {2}1 row was left out: 1 problem, see \S+/);
  expect(quiet.err, 'they are no payouts').toMatch(
    /correct \S+more\.invalid\.csv and drop it in inbox\/collections/,
  );

  home.put('data/inbox/collections/last.csv', rows('INV-6,100,NGN', 'INV-7,-5,NGN', 'INV-7,-6,NGN'));
  const submitted = await home.json(['submit'], 3);
  expect(submitted.collections, 'rows, not problems').toEqual([
    expect.objectContaining({
      rows: 1,
      skipped: 2,
      errors_file: expect.stringMatching(/last\.errors\.csv$/),
    }),
  ]);
});

it('P22: money that arrives under any name is in the report', async () => {
  const home = await makeHome();
  const { daemon } = await serving(home);
  const names = ['INV 0001', '#77', '_x1', 'FACTURE-é-1', `${'x'.repeat(200)}1`];
  for (const reference of names) home.sandbox.book.addCollection({ reference, amount: '100.00' });
  await home.sandbox.idle();
  await until(
    4000,
    () => home.json(['status'], 0),
    (s) => s.collections.received === names.length,
  );
  const { run } = await home.json(['reconcile'], 0);
  const report = home.read(`data/reports/reconciliation-${run}/collections.csv`);
  for (const name of names) expect(report).toContain(`${name},received,NGN`);
  expect(await collectionOf(home, 'INV 0001')).toMatchObject({ state: 'received' });
  daemon.signal('SIGTERM');
  await daemon.done;
});
