import { expect, it } from 'vitest';
import { parseLossless } from '../../src/service/json.ts';
import { readListPage } from '../../src/service/pages.ts';

const page = (row: object): unknown =>
  parseLossless(
    JSON.stringify({
      success: true,
      status: '00',
      data: { current_page: 1, data: [row], last_page: 1, per_page: 50, total: 1 },
    }),
  );
const row = { id: 7, reference: 'R-1', currency: 'NGN', amount: '1.00', status: 'pending', trx: '', fee: '' };

it('reads an empty trx or fee as one that is not set, so that strangers are never paired by it', () => {
  expect(readListPage(page(row), null)).toMatchObject({
    kind: 'page',
    page: { total: 1, items: [{ id: '7', trx: null, fee: null, domain: null }] },
  });
});

it('P13: keeps every digit of an id that is too long for a number', () => {
  const text = JSON.stringify({
    success: true,
    status: '00',
    data: { current_page: 1, data: [row], total: 1 },
  });
  const json = parseLossless(text.replace('"id":7', '"id":12345678901234567890'));
  expect(readListPage(json, null)).toMatchObject({
    kind: 'page',
    page: { items: [{ id: '12345678901234567890' }] },
  });
});

it('refuses a page whose transfers lack what pairing needs', () => {
  expect(readListPage(page({ ...row, amount: undefined }), null)).toMatchObject({ kind: 'bad' });
  expect(readListPage({ success: false, status: '18', message: 'no' }, null)).toMatchObject({ kind: 'bad' });
});
