import { join } from 'node:path';
import { parse } from 'csv-parse/sync';
import { expect, it } from 'vitest';
import { foldReference } from '../../src/core/domain/ids.ts';
import { successorReference } from '../../src/core/domain/successor-name.ts';
import { openLedger } from '../../src/custody/open-ledger.ts';
import { csv, type Home, type Json, row } from '../support/cli.ts';
import { agree, look, makeHome, stateOf } from '../support/decided.ts';

const faults = { 'PAY-0001': 'fail', 'PAY-0003': 'refuse_24' } as const;
const apostrophe = row(1).replace('Salary', '"=Salary, ""Nov"""');

/** Three payouts of which one failed at the service and one was refused, reconciled, with the failed.csv of that. */
async function withFailures(settings: Record<string, string> = {}): Promise<{ home: Home; batch: string }> {
  const home = await makeHome({ faults, settleMs: 1 }, settings);
  const file = home.put('pay.csv', csv(apostrophe, row(2), row(3)));
  const { batch } = (await home.json(['submit', file], 0)).batches[0];
  await home.sandbox.settleAll();
  await home.json(['reconcile'], 0);
  return { home, batch };
}

const failedFile = (home: Home, batch: string): string => home.read(`data/reports/${batch}/failed.csv`);
const drop = (home: Home, name: string, content: string): string => home.put(`data/inbox/${name}`, content);
const problemsOf = (told: Json): string =>
  told.refused
    .flatMap(({ problems }: Json) =>
      problems.map((p: Json) => `${p.row} ${p.column}: ${p.value} ${p.problem}; ${p.fix}`),
    )
    .join('\n');

/** The digest that `retry` shows of what is known, with nothing asked of the service. */
async function digestOf(home: Home, reference: string): Promise<string> {
  const keyless = { COUNTERFOIL_TEST_SECRET_KEY: '' };
  return (await home.json(['retry', reference, '--no-wait'], 2, keyless)).evidence_digest;
}

/** What the service's book says was paid, per reference. */
const paid = (home: Home): Record<string, number> =>
  Object.fromEntries(
    [
      ...Map.groupBy(
        home.sandbox.book.transfers().filter(({ status }) => status === 'success'),
        ({ reference }) => reference,
      ),
    ].map(([reference, all]) => [reference, all.length]),
  );

it('P20: failures come back as failed.csv, one account number is mended, the file is dropped, and each is paid once', async () => {
  const { home, batch } = await withFailures();
  const text = failedFile(home, batch);
  const rows: string[][] = parse(text, { bom: true });
  expect(rows).toEqual([
    [
      ...'reference account_number account_name bank_code amount currency narration sender_name'.split(' '),
      'retry_of',
      'retry_evidence',
      'reason',
    ],
    [
      'PAY-0001-R2',
      '1000000001',
      'Adaeze Okonkwo',
      '058',
      '1001.50',
      'NGN',
      '\'=Salary, "Nov"',
      'Acme Ltd',
      'PAY-0001',
      expect.stringMatching(/^[0-9a-f]{12}$/),
      expect.stringMatching(/^failed after the service took it/),
    ],
    [
      'PAY-0003-R2',
      '1000000003',
      'Adaeze Okonkwo',
      '058',
      '1003.50',
      'NGN',
      'Salary',
      'Acme Ltd',
      'PAY-0003',
      await digestOf(home, 'PAY-0003'),
      expect.stringMatching(/^refused: the service did not take it: /),
    ],
  ]);
  const checked = await home.json(['check', `data/reports/${batch}/failed.csv`], 0);
  expect(checked.files[0]).toMatchObject({
    ok: true,
    duplicates: [],
    retries: [
      { row: 2, reference: 'PAY-0001-R2', pays_again: 'PAY-0001', state: 'failed', changed: [] },
      { row: 3, reference: 'PAY-0003-R2', pays_again: 'PAY-0003', state: 'refused', changed: [] },
    ],
  });
  drop(home, 'failed.csv', text.replace('1000000001', '1000000099'));
  const dry = await home.run(['submit', '--dry-run']);
  expect(dry.out).toContain(
    'row 2: would pay PAY-0001 (failed) again as PAY-0001-R2, with another account_number',
  );
  const told = await home.json(['submit'], 0);
  expect(JSON.stringify(told)).not.toContain('duplicate');
  expect(told.batches).toEqual([expect.objectContaining({ state: 'sent', payouts: { pending: 2 } })]);
  await home.sandbox.settleAll();
  await home.json(['reconcile'], 0);
  expect(paid(home)).toEqual({ 'PAY-0001-R2': 1, 'PAY-0002': 1, 'PAY-0003-R2': 1 });
  const sent = home.sandbox.book.find('PAY-0001-R2')[0];
  expect(sent).toMatchObject({ account_number: '1000000099', narration: '=Salary, "Nov"' });
  const before = await home.json(['show', 'PAY-0001'], 0);
  expect(before).toMatchObject({ payout: { state: 'failed', successor: 'PAY-0001-R2' } });
  const decision = before.history.find((entry: Json) => entry.event === 'succeeded');
  expect(decision).toMatchObject({ source: expect.stringMatching(/^person:/) });
  expect(JSON.stringify(decision.detail)).toMatch(
    /ordered again as PAY-0001-R2, decided by \S+ on evidence [0-9a-f]{12}, by row 2 of failed\.csv/,
  );
  const after = await home.json(['show', 'PAY-0001-R2'], 0);
  expect(after).toMatchObject({ payout: { state: 'success', predecessor: 'PAY-0001' } });
  expect(after.history[0].detail).toMatchObject({
    successor_of: 'PAY-0001',
    decided_by: expect.stringMatching(/^person:/),
  });
  expect(home.names(`data/reports/${batch}`), 'none is left').toEqual(['results.csv', 'results.xlsx']);
  expect(await home.json(['verify'], 0)).toMatchObject({ ok: true });
});

/** As if two days had passed: the answers are old, and the list's window has moved on. */
async function twoDaysLater(home: Home): Promise<void> {
  const ledger = await openLedger(join(home.dir, 'data', 'ledger.db'), {
    now: () => new Date().toISOString(),
  });
  const old = new Date(Date.now() - 48 * 3_600_000).toISOString();
  await ledger.write(async (trx) => {
    await trx.updateTable('inquiries').set({ asked_at: old, answered_at: old }).execute();
    await trx.deleteFrom('listed').execute();
  });
  await ledger.close();
}

it('P31: failed.csv stays as it was while its payouts are failed and unpaid, and is asked about before it pays', async () => {
  const { home, batch } = await withFailures();
  const text = failedFile(home, batch);
  await twoDaysLater(home);
  const report = await home.run(['report', batch]);
  expect(report.out + report.err).not.toContain('cannot be paid again now');
  expect(failedFile(home, batch)).toBe(text);
  const asked = async (): Promise<number> => (await home.json(['show', 'PAY-0001'], 0)).lookups.length;
  const before = await asked();
  const file = home.put('failed.csv', text);
  expect((await home.json(['check', file], 0)).files[0], 'a check foresees it').toMatchObject({ ok: true });
  expect((await home.json(['submit', file], 0)).batches[0]).toMatchObject({ rows: 2 });
  expect(await asked(), 'asked afresh').toBeGreaterThan(before);
  expect(home.sandbox.requests.bodies('PAY-0001-R2')).toBe(1);
});

it('P20: every second way to pay a payout again is refused and names the successor that exists', async () => {
  const { home, batch } = await withFailures();
  const older = failedFile(home, batch);
  await agree(home, 0, 'PAY-0003');
  const newer = failedFile(home, batch);
  expect(newer).not.toContain('PAY-0003');
  drop(home, 'older.csv', older);
  expect(problemsOf(await home.json(['submit'], 3)), 'the file after the command').toMatch(
    /^3 retry_of: PAY-0003 is already ordered again as PAY-0003-R2; remove the row; counterfoil show PAY-0003-R2/,
  );
  drop(home, 'failed.csv', newer);
  await home.json(['submit'], 0);
  expect((await look(home, 'PAY-0001')).error, 'the command after the file').toMatch(
    /PAY-0001-R2 already pays it/,
  );
  drop(home, 'failed.csv', newer);
  expect(problemsOf(await home.json(['submit'], 3)), 'the same file').toMatch(
    /already taken as batch failed-/,
  );
  drop(home, 'edited.csv', newer.replace('1000000001', '1000000077'));
  expect(problemsOf(await home.json(['submit'], 3)), 'the same file, edited').toMatch(
    /^2 retry_of: PAY-0001 is already ordered again as PAY-0001-R2;/,
  );
  drop(home, 'older.csv', older);
  const told = problemsOf(await home.json(['submit'], 3));
  expect(told, 'an older file after a newer').toMatch(
    /ordered again as PAY-0001-R2;[\s\S]*ordered again as PAY-0003-R2;/,
  );
  expect(home.sandbox.requests.posts).toBe(5);
  expect(home.sandbox.requests.bodies('PAY-0001-R2')).toBe(1);
});

it('P20: a row is refused when the service shows by now that what it pays again was paid', async () => {
  const { home, batch } = await withFailures();
  const text = failedFile(home, batch);
  home.sandbox.book.change(home.sandbox.book.find('PAY-0001')[0]?.id ?? 0, { status: 'success' });
  await home.json(['reconcile'], 4);
  expect(failedFile(home, batch)).not.toContain('PAY-0001');
  drop(home, 'failed.csv', text);
  const told = problemsOf(await home.json(['submit'], 3));
  expect(told).toMatch(
    /^2 retry_of: PAY-0001 cannot be paid again now: the listing of run \S+ shows .* success/,
  );
  expect(home.sandbox.requests.bodies('PAY-0001-R2')).toBe(0);
  const skipped = { COUNTERFOIL_INTAKE_ON_INVALID_ROW: 'skip_row' };
  drop(home, 'failed.csv', text);
  expect((await home.json(['submit'], 3, skipped)).batches[0]).toMatchObject({ rows: 1 });
  expect(home.sandbox.requests.bodies('PAY-0003-R2'), 'the other row goes').toBe(1);
});

it('P20: a file is asked about when it is taken: what the service has paid since nobody reconciled is not paid again', async () => {
  const { home, batch } = await withFailures();
  const text = failedFile(home, batch);
  const [failed] = home.sandbox.book.find('PAY-0001');
  home.sandbox.book.change(failed?.id ?? 0, { status: 'success' });
  const file = home.put('failed.csv', text);
  expect((await home.json(['check', file], 0)).files[0], 'a check asks nothing').toMatchObject({ ok: true });
  expect(problemsOf(await home.json(['submit', file], 3))).toMatch(
    /^2 retry_of: PAY-0001 cannot be paid again now: .*success/,
  );
  home.sandbox.book.change(failed?.id ?? 0, { status: 'failed' });
  expect((await home.json(['submit', file], 0)).batches[0], 'and what it has not, is').toMatchObject({
    rows: 2,
  });
  expect(home.sandbox.requests.bodies('PAY-0001-R2')).toBe(1);
});

it('P20: of two processes that take the same failed.csv and of one that retries at once exactly one pays', async () => {
  const { home, batch } = await withFailures();
  const { evidence_digest } = await look(home, 'PAY-0001');
  await home.json(['report', batch], 0);
  const text = failedFile(home, batch);
  expect(text, 'the file rests on what was looked up since').toContain(evidence_digest);
  const one = home.put('one.csv', text.replace('1000000001', '1000000071'));
  const two = home.put('two.csv', text.replace('1000000001', '1000000072'));
  const done = await Promise.all([
    home.start(['submit', one]).done,
    home.start(['submit', two]).done,
    home.start(['retry', 'PAY-0001', '--yes', '--evidence', evidence_digest]).done,
  ]);
  expect(
    done.filter(({ code }) => code === 0),
    JSON.stringify(done),
  ).toHaveLength(1);
  const again = home.sandbox.book.transfers().filter(({ reference }) => reference.startsWith('PAY-0001-'));
  expect(again).toHaveLength(1);
  // `retry` marks the name while a file that is refused later has recorded the plain one.
  const chain = { root: 'PAY-0001', number: 2 };
  const marked = successorReference(chain, '', (key) => key === foldReference('PAY-0001-R2'));
  expect(['PAY-0001-R2', marked]).toContain(again[0]?.reference);
  const reasons = new RegExp(`PAY-0001-R2|${marked}|the evidence changed|waits for a look-up`);
  const lost = done.filter(({ code }) => code !== 0).map(({ out, err }) => out + err);
  for (const told of lost) expect(told).toMatch(reasons);
  expect(await stateOf(home, 'PAY-0001')).toBe('failed');
  expect(await home.json(['verify'], 0)).toMatchObject({ ok: true });
});

it('P36: the failed.csv of the run that saw the return is taken as it is', async () => {
  const settings = { COUNTERFOIL_RECONCILIATION_RETURN_HOURS: '0', COUNTERFOIL_RECEIVER_ENABLED: 'false' };
  const home = await makeHome({ settleMs: 60_000 }, settings);
  const { batch } = (await home.json(['submit', home.put('pay.csv', csv(row(1), row(2)))], 0)).batches[0];
  await home.sandbox.settleAll();
  await home.json(['reconcile'], 0);
  const { book } = home.sandbox;
  for (const { id, reference } of book.transfers('test'))
    if (reference === 'PAY-0001') book.change(id, { status: 'failed', returned: true });
  for (let run = 0; run < 2; run++) await home.json(['reconcile'], 4);
  expect(await stateOf(home, 'PAY-0001')).toBe('returned');
  const early = failedFile(home, batch);
  await home.json(['reconcile'], 4);
  await home.json(['reconcile', '--full'], 4);
  expect(failedFile(home, batch)).toBe(early);
  drop(home, 'again.csv', early);
  const told = await home.json(['submit'], 0);
  expect(problemsOf(told)).toBe('');
  expect(await stateOf(home, 'PAY-0001-R2')).toBe('pending');
});

it('a run that learns nothing new of a refused payout does not make its failed.csv invalid', async () => {
  const home = await makeHome({ faults: { 'PAY-0001': 'refuse_24' }, settleMs: 1 });
  const { batch } = (await home.json(['submit', home.put('pay.csv', csv(row(1), row(2)))], 0)).batches[0];
  const early = failedFile(home, batch);
  await home.sandbox.settleAll();
  await home.json(['reconcile'], 0);
  expect(failedFile(home, batch)).toBe(early);
  drop(home, 'again.csv', early);
  expect(problemsOf(await home.json(['submit'], 0))).toBe('');
  expect(await stateOf(home, 'PAY-0001-R2')).toBe('pending');
});
