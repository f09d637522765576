import type { ExtraEndpoints } from './extras.ts';
import type { SandboxOrder } from './initiate.ts';
import type { SandboxCaller } from './keyring.ts';
import type { SandboxListing } from './list-pages.ts';
import { type Parameters, readParameters, referenceOf } from './order.ts';
import { accepted, type Reply, refused } from './replies.ts';
import type { Resend } from './resend-endpoint.ts';
import { fullRecord } from './transfer.ts';
import type { Book } from './transfer-book.ts';

/** A completely received request. `path` has no query. */
export type Arrival = {
  method: string;
  path: string;
  page: number;
  token: string | undefined;
  signature: string | undefined;
  body: Buffer;
};

const prefix = '/api/v1/';
/** Not an endpoint of the service: here a person who tries the sandbox makes a payer pay. */
const collectPath = '/sandbox/collections';
/** Likewise: here a person says whose an account is, or what the wallet holds. */
const factsPath = '/sandbox/facts';

/** Routes each request to its endpoint ("Endpoints"); refuses any other path with 12. */
export function createRoutes(deps: {
  book: Book;
  callerOf: (token: string) => SandboxCaller | undefined;
  initiate: (order: SandboxOrder) => Reply;
  listing: SandboxListing;
  resend: Resend;
  extras: ExtraEndpoints;
  /** Called with the reference of every initiation, refused ones included. */
  received: (reference: string | undefined) => void;
}): (arrival: Arrival) => Reply {
  const { book, listing, resend } = deps;
  const callerOf = ({ token }: Arrival): SandboxCaller | undefined =>
    token === undefined ? undefined : deps.callerOf(token);

  function initiate(arrival: Arrival): Reply {
    const parameters = readParameters(arrival.body);
    deps.received(referenceOf(parameters));
    const caller = callerOf(arrival);
    if (caller === undefined) return refused('18');
    return deps.initiate({ caller, body: arrival.body, parameters, signature: arrival.signature });
  }

  function read(caller: SandboxCaller, name: string, argument: string | undefined, page: number): Reply {
    const { mode } = caller;
    if (name === 'wallet_balance' && argument === undefined) return deps.extras.balance();
    if (name === 'fetch_all_transfers') {
      return argument === undefined ? listing.all(mode, page) : listing.byStatus(mode, argument, page);
    }
    if (name === 'fetch_transfer_details' && argument !== undefined) {
      const transfer = book.shown(mode, argument);
      return transfer === undefined ? refused('04') : accepted('Transfer found', fullRecord(transfer));
    }
    if (name === 'transaction/verify' && argument !== undefined) {
      const collection = book.shownCollection(mode, argument);
      return collection === undefined ? refused('05') : accepted('Transaction found', collection);
    }
    return refused('12');
  }

  function order(caller: SandboxCaller, name: string, argument: string | undefined, body: Buffer): Reply {
    if (name === 'account_name' && argument === undefined) return deps.extras.accountName(body);
    if (argument === undefined) return refused('12');
    if (name === 'resend_payout_webhook') return resend.payout(caller.mode, argument);
    if (name === 'resend_transaction_webhook') return resend.transaction(caller.mode, argument);
    return refused('12');
  }

  /** Books money received from the given members, which are those of a collection webhook. Changes a known reference. */
  function collect({ mode }: SandboxCaller, given: Parameters): Reply {
    const patch = Object.fromEntries(
      ['reference', 'amount', 'currency', 'status', 'trx', 'paid_at'].flatMap((name) => {
        const value = given.get(name);
        return typeof value === 'string' ? [[name, value]] : [];
      }),
    );
    const reference = referenceOf(given) ?? '';
    return accepted(
      'Collection booked',
      book.collection(mode, reference) === undefined
        ? book.addCollection({ ...patch, domain: mode })
        : book.changeCollection(mode, reference, patch),
    );
  }

  /** What a person does, with the secret key, to the service itself. */
  function told(arrival: Arrival, act: (caller: SandboxCaller, given: Parameters) => Reply): Reply {
    const caller = callerOf(arrival);
    if (caller?.by !== 'secret') return refused('18');
    const given = readParameters(arrival.body);
    return given === undefined ? refused('07') : act(caller, given);
  }

  return (arrival) => {
    if (arrival.method === 'POST' && arrival.path === collectPath) return told(arrival, collect);
    if (arrival.method === 'POST' && arrival.path === factsPath)
      return told(arrival, (_caller, given) => deps.extras.learn(given));
    if (!arrival.path.startsWith(prefix)) return refused('12');
    const rest = arrival.path.slice(prefix.length);
    if (rest === 'bank_transfer' && arrival.method === 'POST') return initiate(arrival);
    const caller = callerOf(arrival);
    // Only initiation accepts the encryption key as a Bearer token; everything else takes the secret key alone.
    if (caller?.by !== 'secret') return refused('18');
    const route = split(rest);
    if (route === undefined) return refused('12');
    if (arrival.method === 'GET') return read(caller, route.name, route.argument, arrival.page);
    if (arrival.method === 'POST') return order(caller, route.name, route.argument, arrival.body);
    return refused('12', { status: 405, message: 'Method not allowed' });
  };
}

/** An endpoint's name and its decoded path parameter; undefined if the path is malformed. */
function split(rest: string): { name: string; argument: string | undefined } | undefined {
  const nested = 'transaction/verify';
  const at = rest.indexOf('/', rest.startsWith(`${nested}/`) ? nested.length : 0);
  if (at === -1) return { name: rest, argument: undefined };
  const encoded = rest.slice(at + 1);
  if (encoded === '' || encoded.includes('/')) return undefined;
  try {
    return { name: rest.slice(0, at), argument: decodeURIComponent(encoded) };
  } catch {
    return undefined;
  }
}
