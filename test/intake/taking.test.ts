import { copyFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { insertBatch, loadingBatches } from '../../src/core/ledger/batches.ts';
import { batchOf, csv, refusal, row, setting } from './setting.ts';

const now = 'intake: { settle_seconds: 0 }';
const sample = (name: string): string =>
  fileURLToPath(new URL(`../../data/samples/${name}`, import.meta.url));

it('P2: takes the samples without a warning of their rows, copies a named file and freezes its bodies', async () => {
  const s = await setting();
  for (const name of ['november-salaries.csv', 'contractors-zar.csv']) {
    const taken = await s.intake.takeIn(sample(name), { origin: 'named' });
    expect(taken).toMatchObject({ kind: 'taken', rowWarnings: [], holdReasons: [] });
    expect(s.names('archive')).toContain(`${batchOf(taken)}--${name}`);
  }
  const payouts = await s.ledger.db.selectFrom('payouts').selectAll().orderBy('id').execute();
  expect(payouts.map((p) => p.state)).toEqual(Array(18).fill('ready'));
  expect(payouts.map((p) => p.history_seq)).toEqual(Array(18).fill(1n));
  expect(JSON.parse(payouts[1]?.body ?? '')).toMatchObject({
    account_name: 'Oluwaseun Adébáyò',
    amount: '312500.50',
  });
  expect(payouts[0]?.body).not.toContain('"type"');
  expect(payouts[12]?.body).toContain('"type":"EFT"');
  expect(payouts[14]?.body).not.toContain('"type"');
});

it('P23: takes the same content once, whatever its quoting, line ends, column order and name', async () => {
  const s = await setting();
  const first = batchOf(
    await s.intake.takeIn(s.drop('one.csv', csv(row('A'), row('B', '2'))), { origin: 'inbox' }),
  );
  const turned = (line: string): string =>
    line
      .split(',')
      .reverse()
      .map((cell) => `"${cell}"`)
      .join(';');
  const other = `\ufeff${csv(row('A'), row('B', '2')).trim().split('\n').map(turned).join('\r\n')}\r\n`;
  const again = refusal(await s.intake.takeIn(s.drop('two.csv', other), { origin: 'inbox' }));
  expect(again).toContain(`already taken as batch ${first}`);
});

it('P22: refuses a reference that any batch ever had, whatever its case', async () => {
  const s = await setting();
  const first = batchOf(await s.intake.takeIn(s.drop('one.csv', csv(row('Pay-1'))), { origin: 'inbox' }));
  const said = refusal(await s.intake.takeIn(s.drop('two.csv', csv(row('pAY-1', '7'))), { origin: 'inbox' }));
  expect(said).toContain(`is already the reference of a payout in batch ${first}`);
});

it('holds a batch that repeats an earlier payout inside the window, and says nothing of an older one', async () => {
  const s = await setting();
  const first = batchOf(await s.intake.takeIn(s.drop('one.csv', csv(row('A'))), { origin: 'inbox' }));
  const second = await s.intake.takeIn(s.drop('two.csv', csv(row('B'))), { origin: 'inbox' });
  expect(second).toMatchObject({
    holdReasons: [{ kind: 'alike', reference: 'A', batch: first, day: '2026-11-21' }],
  });
  await s.ledger.write((trx) => trx.updateTable('payouts').set({ state: 'success' }).execute());
  s.clock.advance(6 * 86_400_000);
  const third = await s.intake.takeIn(s.drop('three.csv', csv(row('C'))), { origin: 'inbox' });
  expect(third).toMatchObject({
    holdReasons: [],
    warnings: [],
  });
  const states = await s.ledger.db.selectFrom('payouts').select('state').orderBy('id').execute();
  expect(states.map((p) => p.state)).toEqual(['success', 'success', 'ready']);
});

it('holds a batch that repeats itself or goes over the payout limit', async () => {
  const s = await setting('submission: { payout_limit: { NGN: "100.00" } }');
  const taken = await s.intake.takeIn(s.drop('one.csv', csv(row('A', '100.01'), row('B', '100.01'))), {
    origin: 'inbox',
  });
  expect(taken).toMatchObject({
    holdReasons: [
      { kind: 'repeated_row', row: 3, earlier: 2, others: 0 },
      { kind: 'payout_limit', count: 2, first: [{ row: 2, currency: 'NGN', amount: '100.01' }, { row: 3 }] },
    ],
  });
});

it('takes the good rows with skip_row and hands back the bad ones ready to mend', async () => {
  const s = await setting('intake: { on_invalid_row: skip_row }');
  const bad = row('B', '1,5').replace('1,5', '"1,5"');
  const taken = await s.intake.takeIn(s.drop('mix.csv', csv(row('A'), bad)), { origin: 'inbox' });
  expect(taken).toMatchObject({
    kind: 'taken',
    rows: 1,
    totals: { NGN: '100.00' },
    skipped: { problemCount: 1 },
  });
  expect(s.names('rejected')).toEqual(['mix.errors.csv', 'mix.invalid.csv']);
  s.drop('mended.csv', s.read('rejected', 'mix.invalid.csv').replace('"1,5"', '1.5'));
  expect(await s.again(now).takeInbox()).toMatchObject({ taken: [{ kind: 'taken', rows: 1 }] });
});

it('makes references from prefix, content and row where the column is missing', async () => {
  const s = await setting('intake: { reference_prefix: "ACME-" }');
  const content = csv(row('A'), row('B', '2')).replaceAll(/^[^,]*,/gm, '');
  batchOf(await s.intake.takeIn(s.drop('one.csv', content), { origin: 'inbox' }));
  const payouts = await s.ledger.db.selectFrom('payouts').select('reference').orderBy('id').execute();
  expect(payouts.map((p) => p.reference)).toEqual([
    expect.stringMatching(/^ACME-[0-9a-f]{8}-2$/),
    expect.stringMatching(/-3$/),
  ]);
});

it('waits for a file to settle, goes by its marker, and leaves everything else in the inbox alone', async () => {
  const s = await setting();
  s.drop('whole.csv', csv(row('A')));
  s.drop('whole.csv.done', '');
  for (const name of ['.hidden.csv', 'x.errors.csv', 'note.txt']) s.drop(name, csv(row('Z', '9')));
  symlinkSync('/etc/passwd', s.path('inbox', 'link.csv'));
  expect((await s.intake.takeInbox()).taken).toHaveLength(1);
  expect(s.names('inbox')).toEqual(['.hidden.csv', 'link.csv', 'note.txt', 'x.errors.csv']);
  const growing = s.drop('growing.csv', csv(row('B', '2')));
  s.clock.sleep = async (ms) => {
    s.clock.advance(ms);
    writeFileSync(growing, csv(row('B', '2'), row('C', '3')));
  };
  expect(await s.intake.takeInbox()).toMatchObject({ taken: [], waiting: [{ name: 'growing.csv' }] });
  s.clock.advance(10_000);
  expect(await s.intake.takeInbox()).toMatchObject({ taken: [{ kind: 'taken', rows: 2 }], waiting: [] });
});

it('archives what a named link leads to, not the link (an archive that changed with the file it led to)', async () => {
  const s = await setting();
  const file = s.drop('../pay.csv', csv(row('A')));
  const link = s.path('inbox', 'link.csv');
  symlinkSync(file, link);
  const taken = await s.intake.takeIn(link, { origin: 'named' });
  writeFileSync(file, 'changed');
  expect(s.read('archive', `${batchOf(taken)}--link.csv`)).toBe(csv(row('A')));
  expect(s.names('inbox'), 'a link stays where it is').toEqual(['link.csv']);
});

it('P23: finishes the move of a taken file after a crash instead of refusing it', async () => {
  const s = await setting(now);
  const content = csv(row('A'));
  const batch = batchOf(await s.intake.takeIn(s.drop('one.csv', content), { origin: 'inbox' }));
  copyFileSync(s.path('archive', `${batch}--one.csv`), s.path('inbox', 'one.csv'));
  const { rmSync } = await import('node:fs');
  rmSync(s.path('archive', `${batch}--one.csv`));
  await s.ledger.db.updateTable('file_moves').set({ done_at: null }).execute();
  expect((await s.intake.takeInbox()).taken).toEqual([]);
  expect([s.names('inbox'), s.names('archive')]).toEqual([[], [`${batch}--one.csv`]]);
  s.drop('one.csv', csv(row('B', '2')));
  await s.ledger.db.updateTable('file_moves').set({ done_at: null }).execute();
  rmSync(s.path('archive', `${batch}--one.csv`));
  await s.intake.takeCollections();
  expect(s.names('inbox'), 'a new file under the old name is not moved unread').toEqual(['one.csv']);
});

it('P23: throws a half-loaded batch away and takes its file afresh', async () => {
  const s = await setting(now);
  s.drop('one.csv', csv(row('A')));
  const checked = await s.intake.check(s.path('inbox', 'one.csv'));
  await s.ledger.write((trx) =>
    insertBatch(trx, {
      id: 'half',
      name: 'one',
      file_name: 'one.csv',
      content_hash: checked.contentHash,
      columns: '[]',
      delimiter: ',',
      row_count: 1n,
      created_at: s.clock.iso(),
      dropped_by: 'ada',
    }),
  );
  expect(await s.intake.takeInbox()).toMatchObject({ taken: [{ kind: 'taken' }] });
  expect(await loadingBatches(s.ledger.db)).toEqual([]);
});

it('check and a dry run record, move and write nothing', async () => {
  const s = await setting();
  const file = s.drop('one.csv', csv(row('A', '-1')));
  expect(await s.intake.check(file)).toMatchObject({ ok: false, rows: 1, problemCount: 1 });
  expect(await s.intake.takeIn(file, { origin: 'inbox', dryRun: true })).toMatchObject({
    kind: 'dry_run',
    checked: { ok: false },
  });
  expect([s.names('inbox'), s.names('rejected')]).toEqual([['one.csv'], []]);
});
