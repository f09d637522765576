import { expect, it } from 'vitest';
import { canonicalBody, type TransferOrder } from '../../../src/core/domain/body.ts';

const order: TransferOrder = {
  reference: 'R-1',
  account_number: '0123456789',
  account_name: 'Ọláìtán / Söhne',
  bank_code: '058',
  amount: '90071992547409.93',
  currency: 'NGN',
  sender_name: 'S',
  narration: 'bonus 🎉',
};

it('P2: the frozen body has its keys in order, is pure ASCII and escapes the slash as PHP does', () => {
  const body = canonicalBody(order);
  expect(Object.keys(JSON.parse(body))).toEqual(Object.keys(order).sort());
  expect(body).toMatch(/^[\x20-\x7e]+$/);
  expect(body).toContain('\\/ S\\u00f6hne');
  expect(body).toContain('\\ud83c\\udf89');
});

it('P2: the frozen body says what the order said, and nothing about the order of its fields', () => {
  expect(JSON.parse(canonicalBody(order))).toEqual(order);
  const turned = Object.fromEntries(Object.entries(order).reverse());
  expect(canonicalBody({ ...order, ...turned })).toBe(canonicalBody(order));
  expect(JSON.parse(canonicalBody({ ...order, type: 'EFT' })).type).toBe('EFT');
});
