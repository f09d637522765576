import type { CollectionData, CollectionEvent, WireDomain, WirePayoutEvent } from '../core/service/wire.ts';
import type { SandboxKeys } from './keyring.ts';
import { hmacSha512 } from './signatures.ts';
import type { BookedTransfer } from './transfer.ts';

/** One webhook, ready for delivery. The body is fixed; the headers are made for each attempt. */
export type WebhookMessage = { mode: WireDomain; reference: string; body: string; forged: boolean };

/** Fields in which a payout webhook may differ from the record. */
export type EventPatch = Partial<Pick<WirePayoutEvent, 'statusMessage' | 'fee'>>;

/** The payout event of a transfer in its present state ("Payout event"); `timestamp` is that of its last change. */
export function payoutMessage(
  transfer: BookedTransfer,
  patch: EventPatch = {},
  forged = false,
): WebhookMessage {
  const statusMessage = patch.statusMessage ?? transfer.status;
  const event: WirePayoutEvent = {
    status: '00',
    event: 'payout',
    currency: transfer.currency,
    amount: transfer.amount,
    fee: patch.fee ?? transfer.fee,
    account_name: transfer.account_name,
    account_number: transfer.account_number,
    bank_code: transfer.bank_code,
    bank_name: transfer.bank_name,
    narration: transfer.narration,
    trx: transfer.trx,
    reference: transfer.reference,
    sessionid: transfer.sessionid ?? '',
    domain: transfer.mode,
    statusMessage,
    note: noteOf(statusMessage, transfer.returned),
    timestamp: transfer.updated_at,
  };
  return { mode: transfer.mode, reference: transfer.reference, body: JSON.stringify(event), forged };
}

function noteOf(statusMessage: string, returned: boolean): string | null {
  if (statusMessage !== 'failed') return null;
  return returned ? 'Returned by the receiving bank' : 'Declined by the receiving bank';
}

/** The collection event of money received ("Collection event"). */
export function collectionMessage(collection: CollectionData): WebhookMessage {
  const event: CollectionEvent = {
    event: 'transaction',
    data: collection,
    payment_account: null,
    sender_details: {
      sender_account_name: 'CHIDI EZE',
      sender_account_number: '1234567890',
      sender_bank_code: '000016',
      sessionId: `S${collection.id}`,
    },
  };
  const mode = collection.domain === 'live' ? 'live' : 'test';
  return { mode, reference: collection.reference, body: JSON.stringify(event), forged: false };
}

/** The headers of a delivery ("Authentication", rule 5); a forged one is signed with a key that belongs to no account. */
export function webhookHeaders(
  message: WebhookMessage,
  keys: SandboxKeys,
  nowMs: number,
): Record<string, string> {
  const key = message.forged ? `forged ${keys.publicKey}` : keys.secretKey;
  return {
    'content-type': 'application/json',
    ...(keys.webhookKey === undefined ? {} : { authorization: `Bearer ${keys.webhookKey}` }),
    payloadsignature: hmacSha512(key, message.body),
    merchantsignature: hmacSha512(keys.secretKey, keys.publicKey),
    timestamp: String(Math.floor(nowMs / 1000)),
    'x-webhook-reference': message.reference,
  };
}
