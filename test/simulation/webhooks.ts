import { createHmac } from 'node:crypto';
import type { WirePayoutEvent } from '../../src/core/service/wire.ts';
import { type Entry, stampOf } from './book.ts';
import type { WebhookFault } from './coverage.ts';
import { accounts } from './service.ts';
import type { Weather } from './weather.ts';
import type { World } from './world.ts';

export type Webhook = { body: string; headers: Record<string, string> };
/** Whoever listens now; false when it was not answered with 200. */
export type Receiver = (webhook: Webhook) => Promise<boolean>;

const minute = 60_000;
/** What no authentic delivery says: none of it may be in the ledger. */
export const forgery = 'signed by nobody';

/** Sends what the service has to say, as late, as often and as wrongly as the weather wants it. */
export function createWebhooks(deps: {
  world: World;
  weather: Weather;
  isCalm: () => boolean;
  receiver: () => Receiver | null;
}): (entry: Entry, occasion: 'taken' | 'settled' | 'returned' | 'asked') => void {
  const { world, weather } = deps;
  const random = world.random.fork('webhooks');

  function deliver(webhook: Webhook, tries: number): void {
    const again = (): void => {
      if (tries < 5) world.after(2 ** tries * minute, null, () => deliver(webhook, tries + 1));
    };
    const receive = deps.receiver();
    if (!receive) {
      again();
      return;
    }
    let answered = false;
    void receive(webhook).then((ok) => {
      answered = ok;
    });
    world.after(10_000, null, () => {
      if (!answered) again();
    });
  }

  return (entry, occasion) => {
    const fault = deps.isCalm() ? null : weather.drawWebhookFault(random);
    if (occasion === 'taken' && fault !== 'early' && fault !== 'forged' && fault !== 'false') return;
    if (fault) world.coverage.count(`webhook: ${fault}`);
    if (fault === 'lost') return;
    const send = (ms: number, webhook: Webhook): void => world.after(ms, null, () => deliver(webhook, 0));
    // What the service does not show yet it does not speak of either.
    const hidden = weather.showsTooLate && !deps.isCalm() ? Math.max(0, entry.shownFrom - world.now()) : 0;
    const soon = hidden + random.between(20, 2_000);
    const own = message(world, entry, fault);
    send(
      fault === 'early' ? hidden : fault === 'late' ? hidden + random.between(5, 600) * minute : soon,
      own,
    );
    if (fault === 'doubled') send(hidden + random.between(20, 5 * minute), own);
  };
}

function message(world: World, { record, account }: Entry, fault: WebhookFault | null): Webhook {
  const { keys } = accounts[account];
  // What nobody may believe: a forged word, and an authentic one that is not so.
  const untrue = record.status === 'pending' ? 'success' : 'failed';
  const status = fault === 'forged' || fault === 'false' ? untrue : record.status;
  const event: WirePayoutEvent = {
    status: '00',
    event: 'payout',
    currency: record.currency,
    amount: record.amount,
    fee: record.fee,
    account_name: record.account_name,
    account_number: record.account_number,
    bank_code: record.bank_code,
    bank_name: record.bank_name,
    narration: record.narration,
    trx: record.trx,
    reference: record.reference,
    sessionid: '',
    domain: 'test',
    statusMessage: status,
    note: fault === 'forged' ? forgery : null,
    timestamp: stampOf(world.now()),
  };
  const body = JSON.stringify(event);
  const at = fault === 'stale' ? world.now() - 3_600_000 : world.now();
  const sign = (key: string, text: string): string => createHmac('sha512', key).update(text).digest('hex');
  return {
    body,
    headers: {
      payloadsignature: sign(fault === 'forged' ? keys.public : keys.secret, body),
      merchantsignature: sign(keys.secret, keys.public),
      timestamp: String(Math.floor(at / 1000)),
    },
  };
}
