import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { createWebhookVerifier } from '../../../src/watching/webhooks/webhook-signature.ts';
import { mutate, randomFrom } from '../../fuzz/mutations.ts';
import { guardedKeys, proofOf } from '../../support/receiver.ts';

type Case = {
  id: number;
  comment: string;
  key: string;
  message_hex: string;
  tag: string;
  result: 'valid' | 'invalid';
};
const { tests: cases }: { tests: Case[] } = JSON.parse(
  readFileSync(new URL('../../fixtures/vectors/hmac-sha512.json', import.meta.url), 'utf8'),
);

it.each(cases)(
  'finds case $id of the HMAC-SHA512 vectors $result: $comment',
  ({ key, message_hex, tag, result }) => {
    const verify = createWebhookVerifier({ secretKeys: [key], publicKeys: [], webhookKeys: [] });
    const proof = { payloadsignature: tag, merchantsignature: undefined, authorization: undefined };
    expect(verify(Buffer.from(message_hex, 'hex'), proof).kind).toBe(
      result === 'valid' ? 'authentic' : 'rejected',
    );
  },
);

it('accepts none of 100,000 signed deliveries that were changed in body, signature or headers', () => {
  const verify = createWebhookVerifier(guardedKeys);
  const random = randomFrom(20_261_121);
  const body = Buffer.from(
    '{"event":"payout","reference":"ACME-0001","statusMessage":"success","amount":"1.00"}',
  );
  const { payloadsignature = '', merchantsignature = '', authorization = '' } = proofOf(body);
  const signed = { body, proof: { payloadsignature, merchantsignature, authorization } };
  expect(verify(signed.body, signed.proof).kind).toBe('authentic');
  let accepted = 0;
  for (let i = 0; i < 100_000; i++) {
    const other = mutate(signed, random);
    if (verify(other.body, other.proof).kind === 'authentic') accepted += 1;
  }
  expect(accepted).toBe(0);
});
