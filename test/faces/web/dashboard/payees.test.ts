import { sql } from 'kysely';
import { expect, it } from 'vitest';
import { addHoldReason } from '../../../../src/core/ledger/hold-reasons.ts';
import { recordComparison } from '../../../../src/core/ledger/payee-comparisons.ts';
import { comparedNotes } from '../../../../src/faces/files/workbook/compared-sheet.ts';
import { shownComparison } from '../../../../src/sending/payee-facts.ts';
import { csv } from '../../../support/cli.ts';
import { addBatch } from '../../../support/ledger.ts';
import { openDesk } from './desk.ts';
import { addUnapproved, startDashboard, textOf } from './support.ts';

const found = {
  ...{
    with: 'november-20261121-3f9a1c',
    day: '2026-11-21',
    joined: 1,
    left: 2,
    accountChanged: 1,
    nameChanged: 1,
  },
  ...{ amountChanged: 0, newPayees: 0, hundredfold: { count: 0, rows: [] }, inflated: [] },
  ...{ totalsBefore: { NGN: '100.00' }, totalsNow: { NGN: '300.00' }, digest: 'd1' },
  changes: [
    { row: 2, reference: 'A-1', kind: 'account_changed' as const, old: '0123456785', new: '2034567891' },
    { row: 3, reference: 'A-2', kind: 'name_changed' as const, old: 'Ada Eze', new: 'Ada Obi' },
    { row: 3, reference: 'A-2', kind: 'amount_changed' as const, old: 'NGN 5000.00', new: 'NGN 1500.00' },
  ],
};

it('P37: the page of a batch begins with what changed, and hides accounts and names from a reader without the right', async () => {
  const { ledger, ask, as } = await startDashboard();
  await addBatch(ledger, ['A-1', 'A-2']);
  await ledger.write((trx) => recordComparison(trx, 'b-1', found));
  const { body } = await as('ada', '/batches/b-1');
  expect(body).toContain(
    'Compared with november-20261121-3f9a1c of 2026-11-21: joined 1, left 2, account changed 1',
  );
  expect(body.indexOf('Compared with november')).toBeLessThan(body.indexOf('Where it stands'));
  for (const text of ['0123456785', '0123456789', 'not known as paid', 'Ada Eze', 'Ada Obi', 'NGN 5,000.00'])
    expect(body).toContain(text);
  const changed = /aria-label="Changed payees".*?<\/table>/s.exec(body)?.[0] ?? '';
  expect(changed.match(/ADA OBI/g), 'each change has its payee').toHaveLength(3);
  const open = await ask('/batches/b-1');
  expect(open.status).toBe(200);
  expect(open.body).toContain('******6785');
  for (const text of ['0123456785', '2034567891', '0123456789', 'Ada Eze', 'Ada Obi', 'ADA OBI'])
    expect(open.body).not.toContain(text);
});

it('says at the head of a batch who dropped and approved it, above what changed', async () => {
  const { ledger, as, post } = await startDashboard();
  await addUnapproved(ledger, ['A-1', 'A-2']);
  await ledger.write((trx) => recordComparison(trx, 'b-1', found));
  const { body } = await as('bola', '/batches/b-1/approve');
  const main = body.slice(body.indexOf('<main'));
  expect(/<a\b[^>]*>/.exec(main)?.[0], 'the first link leads to the decision').toBe(
    '<a class="btn" href="#decide">',
  );
  expect(main.indexOf('<div id="decide">')).toBeGreaterThan(main.indexOf('id="compared"'));
  const digest = /name="digest" value="([^"]+)"/.exec(body)?.[1] ?? '';
  expect((await post('bola', '/batches/b-1/approve', { sure: 'yes', digest })).status).toBe(200);
  const text = textOf((await as('bola', '/batches/b-1')).body);
  expect(text).toMatch(/Dropped by \w+ · Approved by bola, .* Compared with last time .* Where it stands/);
});

const people = (prefix: string, many: number) =>
  Array.from({ length: many }, (_, i) => ({
    ...{ row: i + 2, reference: `${prefix}-${i + 1}`, name: `${prefix} Payee ${i + 1}.` },
    ...{ account: '0123456785', amount: 'NGN 1000.00' },
  }));

it('names those who joined and left, the first twenty of them until the reader asks for all', async () => {
  const { ledger, ask, as } = await startDashboard();
  await addBatch(ledger, ['A-1', 'A-2']);
  const joiners = { joined: people('New', 22), left: people('Gone', 2) };
  await ledger.write((trx) => recordComparison(trx, 'b-1', { ...found, joined: 30, people: joiners }));
  const { body } = await as('ada', '/batches/b-1');
  for (const text of ['Joined', 'New Payee 20.', 'NGN 1,000.00', 'Left', 'Gone Payee 2.'])
    expect(body).toContain(text);
  expect(body).not.toContain('New Payee 21.');
  expect(body).toContain('<a href="?compared=all#compared">Show all 30 payees</a>');
  const all = await as('ada', '/batches/b-1?compared=all');
  expect(all.body).toContain('New Payee 22.');
  expect(all.body).toContain('The first 22 payees of 30. The ledger keeps no more.');
  expect((await ask('/batches/b-1?compared=all')).body).not.toContain('Payee 1.');
});

it('shows whole account numbers to who may read bank details, of all whom the comparison names, and to nobody else', async () => {
  const { ledger, ask, as } = await startDashboard();
  await addBatch(ledger, ['A-1', 'A-2']);
  const joiners = { joined: people('New', 1), left: people('Gone', 1) };
  await ledger.write((trx) => recordComparison(trx, 'b-1', { ...found, changes: [], people: joiners }));
  const wholeIn = ({ body }: { body: string }) => body.match(/0123456785/g)?.length;
  expect(wholeIn(await as('ada', '/batches/b-1'))).toBe(2);
  const open = await ask('/batches/b-1');
  expect(wholeIn(open)).toBeUndefined();
  expect(open.body.match(/\*{6}6785/g)).toHaveLength(2);
  const known = { ...found, people: joiners };
  const sheet = (hidden: 'accounts' | 'nothing') =>
    JSON.stringify(comparedNotes(shownComparison({ ...known, changes: [] }, hidden)));
  expect([sheet('nothing'), sheet('accounts')].map((text) => text.includes('0123456785'))).toEqual([
    true,
    false,
  ]);
  expect(sheet('accounts')).toContain('Gone Payee 1.');
});

it('P37: shows the first hundred changes and the way to all, but every change to the person who approves', async () => {
  const { ledger, as } = await startDashboard();
  await addUnapproved(ledger, ['A-1', 'A-2']);
  const changes = Array.from({ length: 130 }, (_, i) => ({
    ...{ row: i + 2, reference: `C-${i + 1}.`, kind: 'account_changed' as const },
    ...{ old: '0123456785', new: '2034567891' },
  }));
  const many = { ...found, accountChanged: 1400, nameChanged: 0, changes };
  await ledger.write((trx) => recordComparison(trx, 'b-1', many));
  const first = (await as('bola', '/batches/b-1')).body;
  expect([first.includes('>C-100.<'), first.includes('>C-101.<')]).toEqual([true, false]);
  expect(first).toContain('<a href="?compared=all#compared">Show all 1,400 changes</a>');
  for (const path of ['/batches/b-1?compared=all', '/batches/b-1/approve']) {
    const { body } = await as('bola', path);
    expect(body, path).toContain('>C-130.<');
    expect(body, path).toContain('The first 130 changes of 1,400. The ledger keeps no more.');
  }
});

it('P37: claims nobody joined or left where no batch of the series is earlier', async () => {
  const { ledger, as } = await startDashboard();
  await addBatch(ledger, ['A-1', 'A-2']);
  const alone = { ...found, day: '', joined: 225, left: 0, totalsBefore: {} };
  await ledger.write((trx) => recordComparison(trx, 'b-1', alone));
  const { body } = await as('ada', '/batches/b-1');
  expect(body).toContain(
    'No batch of its series is earlier; compared with what was paid before: account changed 1',
  );
  const sheet = JSON.stringify(comparedNotes(alone));
  expect(sheet).toContain('No batch of its series is earlier.');
  for (const text of [body, sheet]) expect(text).not.toMatch(/joined|november-20261121/i);
});

it('P37: the page of a batch says that its amounts look like kobo for whole units', async () => {
  const { ledger, as } = await startDashboard();
  await addBatch(ledger, ['A-1', 'A-2']);
  const large = { ...found, hundredfold: { count: 2, rows: [2, 3] }, inflated: ['NGN'] };
  await ledger.write((trx) => recordComparison(trx, 'b-1', large));
  const { body } = await as('ada', '/batches/b-1');
  expect(body).toContain('2 amounts a hundred times those of before: rows 2, 3');
  expect(body).toContain('all NGN amounts end in two zeros');
});

it('P37: the page of a batch says that only a part of it waits', async () => {
  const { ledger, as } = await startDashboard();
  await addBatch(ledger, ['A-1', 'A-2']);
  const kind = 'payees' as const;
  const why = { kind, changed: 1, fresh: 0, hundredfold: 0, inflated: [], rows: [2] };
  const reason = { kind: 'approval' as const, why, dropper: 'dayo', scope: 'rows' as const };
  await ledger.write((trx) => addHoldReason(trx, 'b-1', reason));
  const { body } = await as('ada', '/batches/b-1');
  expect(body).toContain('A part of it waits, and the rest goes');
  expect(body).toContain('only these wait for an approval by somebody other than dayo');
  expect(body).not.toContain('It is held');
});

it('finds payees by a part of a name, or by the beginning of an account, and keeps that on the next page', async () => {
  const { ledger, as } = await startDashboard();
  await addBatch(ledger, ['A-1', 'A-2', 'A-3'], { state: 'success' });
  const pay = (reference: string, account_name: string, account_number: string) =>
    ledger.db
      .updateTable('payouts')
      .set({ account_name, account_number })
      .where('reference', '=', reference)
      .execute();
  await pay('A-1', 'Ngozi Eze', '0123456785');
  await pay('A-2', 'Tunde Bello_Eze', '0123999999');
  await pay('A-3', 'Ada 100% Obi', '2034567891');
  const found = async (query: string): Promise<string[]> => {
    const { body } = await as('ada', `/payees?q=${encodeURIComponent(query)}`);
    return ['0123456785', '0123999999', '2034567891'].filter((one) => body.includes(`>${one}</a>`));
  };
  expect(await found('eze')).toEqual(['0123456785', '0123999999']);
  expect(await found('LLO_E')).toEqual(['0123999999']);
  expect(await found(' 0123 ')).toEqual(['0123456785', '0123999999']);
  expect(await found('2034567891')).toEqual(['2034567891']);
  expect(await found('nobody')).toEqual([]);
  expect((await as('ada', '/payees?q=nobody')).body).toContain('No payee matches.');
  const many = Array.from({ length: 60 }, (_, n) => `M-${n}`);
  await addBatch(ledger, many, { id: 'b-2', state: 'success' });
  await sql`update payouts set account_number = 5000000000 + id, account_name = 'Many' where batch_id = 'b-2'`.execute(
    ledger.db,
  );
  const { body } = await as('ada', '/payees?q=many');
  const next = /href="(\/payees\?q=many&#38;after=[^"]+)"/.exec(body)?.[1]?.replaceAll('&#38;', '&') ?? '';
  expect((await as('ada', next)).body.match(/class="whole"/g)).toHaveLength(10);
});

it('lists payees to who may see bank details, a page at a time, with the way to their payouts', async () => {
  const { ledger, ask, as } = await startDashboard();
  await addBatch(ledger, ['A-1', 'A-2'], { state: 'success' });
  expect((await ask('/payees')).status).toBe(401);
  const { status, body } = await as('ada', '/payees');
  expect(status).toBe(200);
  const { account_number } = await ledger.db
    .selectFrom('payouts')
    .select('account_number')
    .executeTakeFirstOrThrow();
  expect(body).toContain(`<a class="whole" href="/payouts?q=${account_number}">${account_number}</a>`);
  expect((await as('ada', '/payees?changed=true')).body).toContain('None.');
});

const staff = (prefix: string, amounts: readonly number[]) =>
  csv(
    ...amounts.map((kobo, n) => `${prefix}-${n},200000000${n},Payee ${n},058,${kobo}.00,NGN,Salary,Acme Ltd`),
  );

it('leads from the page of a batch to everybody whose amount changed, with the amount of before', async () => {
  const desk = await openDesk();
  for (const [name, text] of [
    ['november.csv', staff('NOV', [100, 200, 300])],
    ['december.csv', staff('DEC', [110, 200, 250])],
  ] as const) {
    const { location } = await desk.drop('dayo', { [name]: text });
    expect((await desk.take('dayo', location)).status).toBeLessThan(400);
  }
  const { text: list } = await desk.ask('ada', '/batches');
  const batch = /december-\d{8}-[0-9a-f]{6}/.exec(list)?.[0] ?? '';
  const { text: page } = await desk.ask('ada', `/batches/${batch}`);
  expect(page).toContain('amount changed 2 (NGN −40.00 in all), amount changed by more than half 0');
  expect(page).toContain(`href="/batches/${batch}/amounts">2 amounts changed`);
  const { text: amounts } = await desk.ask('ada', `/batches/${batch}/amounts`);
  expect(textOf(amounts)).toMatch(
    /DEC-2 Payee 2 NGN 300.00 NGN 250.00 NGN −50.00 DEC-0 Payee 0 NGN 100.00 NGN 110.00 NGN 10.00/,
  );
  expect(textOf((await desk.ask(null, `/batches/${batch}/amounts`)).text)).not.toContain('Payee 2');
  expect((await desk.ask('ada', '/batches/none/amounts')).status).toBe(404);
});

it('pairs each changed account with the one before, since when each was paid, and who approved; also of a batch that waits', async () => {
  const desk = await openDesk({ COUNTERFOIL_SUBMISSION_PAYEES: 'approve_changed' });
  const { home } = desk;
  await home.json(['submit', home.put('november.csv', staff('NOV', [100, 200, 300]))], 0);
  await home.sandbox.settleAll();
  await home.json(['reconcile'], 0);
  const moved = staff('DEC', [100, 200, 300]).replace('2000000001', '3000000009');
  const { location } = await desk.drop('dayo', { 'december.csv': moved });
  expect((await desk.take('dayo', location)).status).toBeLessThan(400);
  const row = async (path: string): Promise<string> =>
    textOf(/aria-label="Changed payees".*?<\/table>/s.exec((await desk.ask('ada', path)).text)?.[0] ?? '');
  const batch = /december-\d{8}-[0-9a-f]{6}/.exec((await desk.ask('ada', '/batches')).text)?.[0] ?? '';
  const pair = /2000000001 · 058 paid since \d+ \w+ \d{4} [\d:]+ 3000000009 · 058 not known as paid/;
  expect(await row('/payees?changed=true')).toMatch(
    new RegExp(`Payee 1 account changed ${pair.source} DEC-1 . held ${batch} dropped by dayo, .* nobody`),
  );
  expect(await row(`/batches/${batch}`)).toMatch(pair);
  const { text } = await desk.ask('ada', `/batches/${batch}/approve`);
  expect(textOf(text)).toMatch(pair);
  const fields = { ...desk.hiddenIn(text), sure: 'yes' };
  expect((await desk.post('ada', `/batches/${batch}/approve`, fields)).status).toBe(200);
  expect(await row('/payees?changed=true')).toMatch(/DEC-1 . held .* dropped by dayo, .* ada \d/);
});
