import type { BankTransferRequest, WireDomain } from '../core/service/wire.ts';
import { fromMinor, toMinor } from './amounts.ts';
import type { Fault, FaultFor } from './faults.ts';
import type { SandboxCaller } from './keyring.ts';
import { type Parameters, readOrder } from './order.ts';
import { accepted, foreignPage, type Reply, refused, throttled } from './replies.ts';
import type { Settlement } from './settlement.ts';
import { isSigned } from './signatures.ts';
import type { BookedTransfer } from './transfer.ts';
import type { Book, TransferPatch } from './transfer-book.ts';

/** How a repeated reference is answered; the document does not say. */
export const duplicatesNames = ['refuse', 'accept', 'conflict'] as const;
export type Duplicates = (typeof duplicatesNames)[number];

export type SandboxOrder = {
  caller: SandboxCaller;
  body: Buffer;
  parameters: Parameters | undefined;
  signature: string | undefined;
};

/** Answers "Initiate a bank transfer". It checks signature, fields, fault and duplicates in this order, then books. */
export function createInitiate(deps: {
  book: Book;
  settlement: Settlement;
  faultFor: FaultFor;
  duplicates: Duplicates;
  /** A signature must be valid under both readings of its rule. */
  strictSignature: boolean;
}): (order: SandboxOrder) => Reply {
  const { book, settlement, faultFor, duplicates, strictSignature: strict } = deps;
  // Faults of the answer occur once: a repeated request meets an ordinary service.
  const struck = new Set<string>();
  // Separate ids below those of the book: a merchant must not see two payouts with one id.
  let lastVanishedId = 400_000;

  function take(mode: WireDomain, order: BankTransferRequest, fault: Fault | undefined): BookedTransfer {
    const patch = wrongly(mode, order, fault);
    const transfer = book.enter(mode, order, patch);
    settlement.begin(transfer);
    if (fault === 'duplicate') settlement.begin(book.enter(mode, order, patch));
    return transfer;
  }

  function answered(transfer: BookedTransfer, order: BankTransferRequest, fault: Fault | undefined): Reply {
    if (fault === 'lost_answer') return { kind: 'cut' };
    if (fault === 'hang') return { kind: 'silence' };
    if (fault === 'error_500_after') return foreignPage(500, 'Server Error');
    const reference = fault === 'wrong_echo' ? `${order.reference}-ECHO` : order.reference;
    return initiated(String(transfer.id), reference);
  }

  return ({ caller, body, parameters, signature }) => {
    if (parameters === undefined)
      return refused('07', { message: 'Incomplete request: body is no JSON object' });
    const rule = { keys: caller.keys, strict };
    if (signature === undefined || !isSigned(body, parameters, signature, rule)) return refused('22');
    const read = readOrder(parameters);
    if (read.kind === 'refused') return refused(read.code, read);
    const { order } = read;
    const { mode } = caller;
    const fault = faultFor(order.reference);
    if (fault === 'refuse_24') return refused('24', { reference: order.reference });
    if (fault === 'insufficient') return refused('10', { reference: order.reference });
    const place = `${mode} ${order.reference}`;
    const fresh = struck.has(place) ? undefined : fault;
    if (fresh !== undefined) struck.add(place);
    const unbooked = withoutBooking(fresh, order.reference);
    if (unbooked !== undefined) return unbooked;
    if (fresh === 'vanish') {
      lastVanishedId += 1;
      return initiated(String(lastVanishedId), order.reference);
    }
    if (duplicates !== 'accept' && book.has(mode, order.reference)) {
      const status = duplicates === 'conflict' ? 409 : 400;
      return refused('09', { reference: order.reference, status });
    }
    return answered(take(mode, order, fresh), order, fresh);
  };
}

function initiated(transferId: string, reference: string): Reply {
  return accepted('Transfer initiated', { transfer_id: transferId, reference, status: 'pending' });
}

function withoutBooking(fault: Fault | undefined, reference: string): Reply | undefined {
  switch (fault) {
    case 'lost_before':
      return { kind: 'cut' };
    case 'error_500_before':
      return foreignPage(500, 'Server Error');
    case 'html_502':
      return foreignPage(502, 'Bad Gateway');
    case 'edge_429_once':
      return foreignPage(429, 'Too Many Requests');
    case 'out_of_service':
      return refused('11', { reference });
    case 'rate_limited_once':
      return throttled(1, reference);
    default:
      return undefined;
  }
}

/** The values that a faulty service books instead of the ordered ones. */
function wrongly(mode: WireDomain, order: BankTransferRequest, fault: Fault | undefined): TransferPatch {
  switch (fault) {
    case 'wrong_amount':
      return { amount: fromMinor(toMinor(order.amount) + 100n) };
    case 'wrong_fee':
      return { fee: '99.99' };
    case 'wrong_currency':
      return { currency: order.currency === 'NGN' ? 'ZAR' : 'NGN' };
    case 'wrong_account':
      return {
        account_number: `${order.account_number.slice(0, -1)}${order.account_number.endsWith('7') ? 8 : 7}`,
      };
    case 'wrong_domain':
      return { domain: mode === 'test' ? 'live' : 'test' };
    default:
      return {};
  }
}
