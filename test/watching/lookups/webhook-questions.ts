import type { ServiceClient } from '../../../src/core/service/types.ts';
import { applyWebhooks } from '../../../src/watching/webhooks/apply-inbox.ts';
import { addBatch, at, claimAt, recordOutcome, replies } from '../../support/ledger.ts';
import { deliver } from './setting.ts';
import { client, clock, ledger, sandbox } from './with-service.ts';

const money = { account_number: '0123456789', bank_code: '000013', amount: '1500.00' };

/** Sends payouts that the service accepts and settles, and applies a webhook about each. Returns them by their place. */
export async function toldAbout(count: number): Promise<bigint[]> {
  const sent = await send('R', count);
  for (const { reference, trx } of sent) await deliver(ledger, { reference, trx });
  await applyWebhooks({ ledger, clock });
  return sent.map(({ payoutId }) => payoutId);
}

/** Sends further payouts, which nothing is asked about. */
export async function sentSince(count: number): Promise<void> {
  await send('L', count);
}

async function send(name: string, count: number) {
  const references = Array.from({ length: count }, (_, n) => `${name}-${n + 1}`);
  await addBatch(ledger, references, { id: name });
  const claims = await claimAt(ledger, at(0), count);
  const sent: { payoutId: bigint; reference: string; trx: string }[] = [];
  for (const [n, reference] of references.entries()) {
    const claim = claims[n];
    if (!claim) throw new Error('nothing was claimed');
    const { id, trx } = sandbox.book.plant({ ...money, reference, status: 'success' });
    await recordOutcome(ledger, at(0), claim, replies.accepted(String(id)));
    sent.push({ payoutId: claim.payoutId, reference, trx });
  }
  return sent;
}

export type Counted = { service: ServiceClient; details: string[]; pages: number[] };

/** The service, and what it was asked. */
export function counting(over: Partial<ServiceClient> = {}): Counted {
  const [details, pages]: [string[], number[]] = [[], []];
  const service: ServiceClient = {
    ...client,
    fetchTransferDetails: (reference) => {
      details.push(reference);
      return (over.fetchTransferDetails ?? client.fetchTransferDetails)(reference);
    },
    listPage: (page) => {
      pages.push(page);
      return (over.listPage ?? client.listPage)(page);
    },
  };
  return { service, details, pages };
}

/** The states of the payouts, in their order. */
export async function statesOf(ids: readonly bigint[]): Promise<string[]> {
  const rows = await ledger.db
    .selectFrom('payouts')
    .select('state')
    .where('id', 'in', ids)
    .orderBy('id')
    .execute();
  return rows.map(({ state }) => state);
}
