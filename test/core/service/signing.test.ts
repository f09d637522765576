import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { canonicalBody, type TransferOrder } from '../../../src/core/domain/body.ts';
import { chooseKey, signBody } from '../../../src/core/service/signing.ts';

type Vector = { name: string; payload: TransferOrder; key: string; body: string; signature: string };
const file = new URL('../../fixtures/vectors/signatures.json', import.meta.url);
const { bank_transfer: vectors }: { bank_transfer: Vector[] } = JSON.parse(readFileSync(file, 'utf8'));

it('there are known answers to compare with', () => {
  expect(vectors.length).toBeGreaterThan(10);
});

it.each(vectors)('$name: body and signature are byte for byte what PHP makes of the order', (vector) => {
  const body = canonicalBody(vector.payload);
  expect(body).toBe(vector.body);
  expect(signBody(body, vector.key)).toBe(vector.signature);
});

it('signs with the encryption key where one is set, unless the secret key is asked for', () => {
  const keys = { secretKey: 'sk', encryptionKey: 'enc' };
  expect(chooseKey('auto', keys)).toBe('enc');
  expect(chooseKey('secret', keys)).toBe('sk');
  expect(chooseKey('encryption', keys)).toBe('enc');
  expect(chooseKey('auto', { secretKey: 'sk', encryptionKey: undefined })).toBe('sk');
  expect(() => chooseKey('encryption', { secretKey: 'sk', encryptionKey: undefined })).toThrow(
    'encryption key',
  );
});
