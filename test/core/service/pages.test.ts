import { expect, it } from 'vitest';
import { readListPage, replyDigest } from '../../../src/core/service/pages.ts';

const page = (...rows: unknown[]): string =>
  JSON.stringify({
    success: true,
    status: '00',
    data: { current_page: 1, data: rows, last_page: 1, per_page: 50, total: 1 },
  });
const row = { id: 7, reference: 'R-1', currency: 'NGN', amount: '1.00', status: 'pending', trx: '', fee: '' };

it('reads an empty trx or fee as one that is not set, so that strangers are never paired by it', () => {
  expect(readListPage(page(row), null)).toMatchObject({
    kind: 'page',
    page: { total: 1, items: [{ id: '7', trx: null, fee: null, domain: null }] },
  });
});

it('P13: keeps every digit of an id that is too long for a number', () => {
  const text = page(row).replace('"id":7', '"id":12345678901234567890');
  expect(readListPage(text, null)).toMatchObject({
    kind: 'page',
    page: { items: [{ id: '12345678901234567890' }] },
  });
});

it('reads a currency in small letters as the one it is, since amounts are read by it', () => {
  expect(readListPage(page({ ...row, currency: 'ngn' }), null)).toMatchObject({
    kind: 'page',
    page: { items: [{ currency: 'NGN' }] },
  });
});

it('P13: a transfer needs nothing but its id, so that one made by hand at the service does not hide the others', () => {
  const byHand = { id: 8, reference: null, currency: null, amount: null, status: null };
  expect(readListPage(page(row, byHand), null)).toMatchObject({
    kind: 'page',
    page: { items: [{ reference: 'R-1' }, { id: '8', reference: '', currency: '', amount: '', status: '' }] },
  });
});

it('keeps the mode alone of the rows that show no id, and reads the others', () => {
  expect(readListPage(page(row, { ...row, id: null, domain: 'TEST' }, null, 'x'), null)).toMatchObject({
    kind: 'page',
    page: { nameless: [{ domain: 'test' }, { domain: null }, { domain: null }], items: [{ id: '7' }] },
  });
});

it('reads a mode in capitals as the one it is', () => {
  expect(readListPage(page({ ...row, domain: 'TEST' }), null)).toMatchObject({
    page: { items: [{ domain: 'test' }] },
  });
});

it('refuses what is no page of the service', () => {
  expect(readListPage(JSON.stringify({ success: false, status: '18', message: 'no' }), null)).toMatchObject({
    kind: 'bad',
  });
});

it('P13: keeps amounts and fees that are numbers as they are written', () => {
  const text = page(row).replace('"1.00"', '100.50').replace('"fee":""', '"fee":1e1');
  expect(readListPage(text, null)).toMatchObject({
    kind: 'page',
    page: { items: [{ id: '7', amount: '100.50', fee: '1e1' }] },
  });
});

it('says what is wrong with a text that is no JSON', () => {
  expect(readListPage('<html>busy</html>', null)).toMatchObject({ kind: 'bad' });
});

it('two replies have one digest only when they are the same', () => {
  expect(replyDigest(page(row))).toBe(replyDigest(page(row)));
  expect(replyDigest(page(row))).not.toBe(replyDigest(page({ ...row, status: 'success' })));
});
