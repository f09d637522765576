import { expect, it } from 'vitest';
import { type InquiryReason, isWebhookReason } from '../../../src/core/domain/inquiry-reason.ts';

it('tells the questions that a webhook raised from those of the ledger itself', () => {
  const byWebhook: Record<InquiryReason, boolean> = {
    ...{ unknown: false, unsettled: false, asked: false },
    ...{ webhook_says: true, webhook_stale: true, webhook_without_status: true, webhook_conflicts: true },
    ...{ webhook_alike: true, webhook_header: true, webhook_unsent: true, webhook_other_key: true },
  };
  const found = Object.keys(byWebhook).map((reason) => [reason, isWebhookReason(reason as InquiryReason)]);
  expect(Object.fromEntries(found)).toEqual(byWebhook);
});
