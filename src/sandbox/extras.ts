import { fromMinor, isAmount, toMinor } from './amounts.ts';
import { type Parameters, readParameters } from './order.ts';
import { accepted, foreignPage, type Reply, refused, throttled } from './replies.ts';
import type { Book } from './transfer-book.ts';

/**
 * How an extra endpoint answers badly. `throttled_once` and `cut_once` do so once. `no_currency`: the wallet's NGN alone, as
 * services with one wallet answer.
 */
export type ExtraFault =
  | 'refused'
  | 'unreadable'
  | 'no_currency'
  | 'error_500'
  | 'page_502'
  | 'cut'
  | 'cut_once'
  | 'throttled_once';

/**
 * Two endpoints that services of this kind have, and that the interface document does not name. A person or a test says
 * what they know; all is for one mode.
 */
type Extras = {
  /** The holder of each account, by account number. An account that is not here is unknown to the service. */
  names: Map<string, string>;
  /** What the wallet held before any transfer, as decimals by currency. */
  wallet: Map<string, string>;
  /** Faults by account number, or of `wallet_balance`. */
  faults: Map<string, ExtraFault>;
  /** The questions that came, in order: an account number, or `wallet_balance`. */
  asked: string[];
};

export type ExtraEndpoints = ReturnType<typeof createExtras>;

/** Knows no account; the wallet holds a billion of each currency. */
export function createExtras(book: Pick<Book, 'transfers'>) {
  const extras: Extras = {
    names: new Map(),
    wallet: new Map([
      ['NGN', '1000000000.00'],
      ['ZAR', '1000000000.00'],
    ]),
    faults: new Map(),
    asked: [],
  };

  function spent(currency: string): bigint {
    const booked = book.transfers().filter((one) => one.currency === currency && one.status !== 'failed');
    return booked.reduce((sum, { amount }) => sum + toMinor(amount), 0n);
  }

  function left(currency: string, first: string): string {
    const minor = toMinor(first) - spent(currency);
    return minor < 0n ? '0.00' : fromMinor(minor);
  }

  function struck(name: string): Reply | undefined {
    extras.asked.push(name);
    const fault = extras.faults.get(name);
    if (fault === 'cut_once' || fault === 'throttled_once') extras.faults.delete(name);
    if (fault === 'no_currency') {
      const data = { balance: left('NGN', extras.wallet.get('NGN') ?? '0.00'), pending: '0.00' };
      return accepted('Wallet balance', data);
    }
    return fault && faulty(fault);
  }

  return {
    extras,
    balance(): Reply {
      const data = [...extras.wallet].map(([currency, first]) => {
        return { currency, balance: left(currency, first) };
      });
      return struck('wallet_balance') ?? accepted('Wallet balance', data);
    },
    accountName(body: Buffer): Reply {
      const given = readParameters(body);
      const account = given?.get('account_number');
      if (typeof account !== 'string' || typeof given?.get('bank_code') !== 'string') return refused('07');
      const name = extras.names.get(account);
      return struck(account) ?? (name === undefined ? unknownAccount : accepted('Account found', name));
    },
    /** What a person tells the sandbox: `{account_number, account_name}`, or `{currency, balance}`. */
    learn(given: Parameters): Reply {
      const [account, name] = [given.get('account_number'), given.get('account_name')];
      const [currency, balance] = [given.get('currency'), given.get('balance')];
      if (typeof account === 'string' && typeof name === 'string') {
        extras.names.set(account, name);
        return accepted('Account noted', { account_number: account, account_name: name });
      }
      if (typeof currency !== 'string' || typeof balance !== 'string' || !isAmount(balance))
        return refused('07');
      extras.wallet.set(currency, fromMinor(toMinor(balance) + spent(currency)));
      return accepted('Wallet noted', { currency, balance });
    },
  };
}

const unknownAccount: Reply = {
  kind: 'json',
  status: 400,
  body: { success: false, status: '02', message: 'Account not found' },
};

function faulty(fault: Exclude<ExtraFault, 'no_currency'>): Reply {
  switch (fault) {
    case 'refused':
      return refused('11', { status: 400 });
    case 'unreadable':
      return accepted('Something else', { shape: ['of', 'another', 'kind'] });
    case 'error_500':
      return refused('100');
    case 'page_502':
      return foreignPage(502, 'Bad Gateway');
    case 'cut':
    case 'cut_once':
      return { kind: 'cut' };
    case 'throttled_once':
      return throttled(1);
  }
}
