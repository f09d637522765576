import { expect, it } from 'vitest';
import { isForged, type WebhookRejectionKind } from '../../../src/core/domain/rejection.ts';

it('only a signature that does not hold is forged', () => {
  const forged: Record<WebhookRejectionKind, boolean> = {
    ...{ signature_missing: false, signature_wrong: true, merchant_signature_wrong: true },
    ...{ authorization_missing: false, authorization_wrong: false, other_mode: false, no_keys: false },
    ...{ source_address: false, compressed: false, too_large: false, no_request: false, many: false },
  };
  const found = Object.keys(forged).map((kind) => [kind, isForged(kind as WebhookRejectionKind)]);
  expect(Object.fromEntries(found)).toEqual(forged);
});
