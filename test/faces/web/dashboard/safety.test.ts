import { mkdirSync, mkdtempSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { addBatch } from '../../../support/ledger.ts';
import { addDiscrepancy, startDashboard } from './support.ts';

const evil = `<script>alert(1)</script>"'><img src=x onerror=alert(1)>`;

it('shows HTML in every field of a payout, a batch and a note as text', async () => {
  const { ledger, as } = await startDashboard();
  const fields = {
    account_name: evil,
    narration: evil,
    sender_name: evil,
    bank_code: evil,
    message: evil,
    transfer_id: evil,
    trx: evil,
    fee: evil,
  };
  const [payoutId = null] = await addBatch(ledger, ['A-1'], { ...fields, id: evil });
  await ledger.db
    .updateTable('batches')
    .set({ file_name: evil, dropped_by: evil, dropped_as: evil })
    .execute();
  const id = await addDiscrepancy(ledger, {
    kind: 'amount_conflict',
    payoutId,
    reference: evil,
    expected: evil,
    actual: evil,
  });
  await ledger.db
    .updateTable('discrepancies')
    .set({ note: evil, batch_id: evil, trx: evil })
    .where('id', '=', id)
    .execute();
  const paths = [
    '/',
    '/batches',
    `/batches/${encodeURIComponent(evil)}`,
    '/payouts/A-1',
    '/discrepancies',
    `/payouts?q=${encodeURIComponent(evil)}`,
    `/payouts?batch=${encodeURIComponent(evil)}&amount=${encodeURIComponent(evil)}`,
    `/payouts/${encodeURIComponent(evil)}`,
  ];
  for (const path of paths) {
    const { body } = await as('ada', path);
    expect(body, path).toContain('&#60;script&#62;alert(1)');
    expect(body, path).not.toContain('<script>alert');
    expect(body, path).not.toContain('<img');
    expect(body.split('<script>'), path).toHaveLength(body.includes('EventSource') ? 2 : 1);
  }
});

it('shows no character that hides text or changes its direction', async () => {
  const { ledger, as } = await startDashboard();
  await addBatch(ledger, ['A-1'], { account_name: 'ADA\u202eIBO\u0007' });
  const { body } = await as('ada', '/payouts/A-1');
  for (const hidden of ['\u202e', '\u0007']) expect(body).not.toContain(hidden);
});

it('hides account, name and narration from a reader without a token, wherever they stand', async () => {
  const { ledger, ask, as } = await startDashboard();
  const message = 'to ADA OBI, 0123456789: declined';
  const [payoutId = null] = await addBatch(ledger, ['A-1'], { message });
  const about = { kind: 'beneficiary_conflict', payoutId, reference: 'A-1' } as const;
  await addDiscrepancy(ledger, { ...about, expected: '000013/0123456789', actual: '000013/9876543210' });
  for (const path of ['/payouts/A-1', '/discrepancies', '/batches/b-1', '/']) {
    const { status, body } = await ask(path);
    expect(status).toBe(200);
    expect(body, path).not.toMatch(/0123456789|9876543210|ADA OBI|November salary/);
  }
  const open = (await as('ada', '/payouts/A-1')).body;
  for (const part of ['0123456789', 'ADA OBI', 'November salary', '9876543210']) expect(open).toContain(part);
});

it('offers no form to a reader without a token', async () => {
  const { ledger, ask } = await startDashboard();
  const [payoutId = null] = await addBatch(ledger, ['A-1']);
  await addDiscrepancy(ledger, { kind: 'amount_conflict', payoutId, reference: 'A-1' });
  for (const path of ['/', '/batches/b-1', '/discrepancies'])
    expect((await ask(path)).body, path).not.toContain('method="post"');
  const signIn = await ask('/reports/index.html');
  expect(signIn.status).toBe(401);
  expect(signIn.headers['www-authenticate']).toMatch(/^Basic realm=/);
});

it('sends headers under which a page loads nothing, is framed by nobody, and posts only to itself', async () => {
  const { ask } = await startDashboard();
  const { headers, body } = await ask('/');
  const policy = String(headers['content-security-policy']);
  for (const part of [
    "default-src 'none'",
    "frame-ancestors 'none'",
    "form-action 'self'",
    "base-uri 'none'",
  ])
    expect(policy).toContain(part);
  expect(policy).not.toMatch(/unsafe|\*|http/);
  expect(headers).toMatchObject({
    'cache-control': 'no-store',
    'referrer-policy': 'same-origin',
    'x-content-type-options': 'nosniff',
    'cross-origin-resource-policy': 'same-origin',
  });
  expect(body).not.toMatch(/(src|href)="(https?:)?\/\//);
  expect(body).not.toMatch(/ (style|on\w+)="/);
});

it('serves report files to the holder of a token, as what they are', async () => {
  const { reports, ask, as } = await startDashboard();
  mkdirSync(join(reports, 'b 1'));
  writeFileSync(join(reports, 'b 1', 'results.csv'), 'reference\r\nA-1\r\n');
  writeFileSync(join(reports, 'index.html'), '<h1>Reports</h1>');
  writeFileSync(join(reports, 'empty.json'), '');
  const csv = await as('ada', '/reports/b%201/results.csv');
  expect([csv.status, csv.body]).toEqual([200, 'reference\r\nA-1\r\n']);
  expect(csv.headers).toMatchObject({
    'content-type': 'text/csv; charset=utf-8',
    'content-disposition': "attachment; filename*=UTF-8''results.csv",
    'x-content-type-options': 'nosniff',
  });
  const html = await as('ada', '/reports/index.html');
  expect(html.headers['content-type']).toBe('text/html; charset=utf-8');
  expect(html.headers['content-security-policy']).toMatch(/default-src 'none'.*frame-ancestors 'none'/);
  expect((await as('ada', '/reports/empty.json')).status).toBe(200);
  expect((await ask('/reports/index.html')).status).toBe(401);
});

it('serves nothing from outside the reports folder, and nothing through a link', async () => {
  const { reports, ledger, as } = await startDashboard();
  const outside = mkdtempSync(join(tmpdir(), 'counterfoil-outside-'));
  writeFileSync(join(outside, 'secret.csv'), 'SECRET');
  writeFileSync(join(ledger.folder, 'secret.csv'), 'SECRET');
  writeFileSync(join(reports, '.hidden.csv'), 'SECRET');
  writeFileSync(join(reports, 'ledger.db'), 'SECRET');
  mkdirSync(join(reports, 'folder.csv'));
  symlinkSync(join(outside, 'secret.csv'), join(reports, 'link.csv'));
  symlinkSync(outside, join(reports, 'away'));
  writeFileSync(join(reports, 'fine.csv'), 'fine');
  symlinkSync(join(reports, 'fine.csv'), join(reports, 'inner.csv'));
  const paths = [
    '../secret.csv',
    '..%2fsecret.csv',
    '%2e%2e/secret.csv',
    '%2e%2e%2fsecret.csv',
    'x/../../secret.csv',
    '..%5csecret.csv',
    '..%252fsecret.csv',
    `/${ledger.folder}/secret.csv`,
    encodeURIComponent(join(ledger.folder, 'secret.csv')),
    'fine.csv%00.html',
    '.hidden.csv',
    'ledger.db',
    'folder.csv',
    'link.csv',
    'inner.csv',
    'away/secret.csv',
  ];
  for (const path of paths) {
    const { status, body } = await as('ada', `/reports/${path}`);
    expect([path, status >= 400 && status < 500, body.includes('SECRET')]).toEqual([path, true, false]);
  }
  expect((await as('ada', '/reports/fine.csv')).body).toBe('fine');
});

it('puts nothing of an address into a header', async () => {
  const { as } = await startDashboard();
  for (const path of ['/reports/a%0d%0aset-cookie:x=1.csv', '/batches/a%0d%0ax']) {
    const { status, headers } = await as('ada', path);
    expect(status).toBe(404);
    expect(headers['set-cookie']).toBeUndefined();
  }
  const { headers } = await as('ada', '/find?q=a%0d%0aset-cookie:x');
  expect(headers['set-cookie']).toBeUndefined();
  expect(headers.location).toBe('/payouts?q=a%0D%0Aset-cookie%3Ax');
});
