import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import {
  createWebhookVerifier,
  type SignatureResult,
  type WebhookKeys,
  type WebhookProof,
} from '../../../src/watching/webhooks/webhook-signature.ts';

type Vector = { raw_body: string; key: string; payloadsignature: string };
const vectors: { webhook: Vector[] } = JSON.parse(
  readFileSync(new URL('../../fixtures/vectors/signatures.json', import.meta.url), 'utf8'),
);

const verifyWebhook = (message: Uint8Array, proof: WebhookProof, by: WebhookKeys): SignatureResult =>
  createWebhookVerifier(by)(message, proof);
const sign = (message: string, key: string): string =>
  createHmac('sha512', key).update(message).digest('hex');
const keys = { secretKeys: ['sk_new', 'sk_old'], publicKeys: ['pk'], webhookKeys: [] as string[] };
const body = Buffer.from('{"event":"payout"}');
const proof = {
  payloadsignature: sign(body.toString(), 'sk_new'),
  merchantsignature: undefined,
  authorization: undefined,
};

describe('verifyWebhook', () => {
  it.each(vectors.webhook)(
    'agrees with the known answer for $raw_body',
    ({ raw_body, key, payloadsignature }) => {
      const given = { ...proof, payloadsignature };
      expect(verifyWebhook(Buffer.from(raw_body), given, { ...keys, secretKeys: [key] }).kind).toBe(
        'authentic',
      );
      expect(verifyWebhook(Buffer.from(`${raw_body} `), given, { ...keys, secretKeys: [key] }).kind).toBe(
        'rejected',
      );
    },
  );

  it('verifies with each key while one is being rotated, in upper-case digits too', () => {
    const old = sign(body.toString(), 'sk_old').toUpperCase();
    expect(verifyWebhook(body, { ...proof, payloadsignature: old }, keys).kind).toBe('authentic');
  });

  it.each([
    undefined,
    '',
    'zz',
    'ab',
    `${sign(body.toString(), 'sk_new')}00`,
    sign(body.toString(), 'other'),
  ])('rejects the payloadsignature %s without throwing', (payloadsignature) => {
    expect(verifyWebhook(body, { ...proof, payloadsignature }, keys).kind).toBe('rejected');
  });

  it('demands that merchantsignature is right where present', () => {
    expect(verifyWebhook(body, { ...proof, merchantsignature: sign('pk', 'sk_old') }, keys).kind).toBe(
      'authentic',
    );
    expect(verifyWebhook(body, { ...proof, merchantsignature: sign('other', 'sk_new') }, keys)).toMatchObject(
      {
        why: 'merchant_signature_wrong',
      },
    );
  });

  it('checks Authorization only where a webhook key is configured', () => {
    const guarded = { ...keys, webhookKeys: ['hook-a', 'hook-b'] };
    expect(verifyWebhook(body, { ...proof, authorization: 'Bearer nonsense' }, keys)).toMatchObject({
      authorization: 'unchecked',
    });
    expect(verifyWebhook(body, { ...proof, authorization: 'Bearer hook-b' }, guarded)).toMatchObject({
      authorization: 'valid',
    });
    expect(verifyWebhook(body, proof, guarded)).toMatchObject({ why: 'authorization_missing' });
    expect(verifyWebhook(body, { ...proof, authorization: 'Bearer hook' }, guarded)).toMatchObject({
      why: 'authorization_wrong',
    });
  });
});
