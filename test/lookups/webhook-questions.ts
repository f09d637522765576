import type { ServiceClient } from '../../src/service/types.ts';
import { applyWebhooks } from '../../src/webhooks/apply-inbox.ts';
import { addBatch, at, claimAt, recordOutcome, replies } from '../support/ledger.ts';
import { deliver } from './setting.ts';
import { client, clock, ledger, sandbox } from './with-service.ts';

const money = { account_number: '0123456789', bank_code: '000013', amount: '1500.00' };

/**
 * Sends payouts … that the service accepts, settles them there as `status`, and applies a webhook about each. Returns the
 * payouts by their place.
 */
export async function toldAbout(
  count: number,
  { status = 'success', said = 'success' }: { status?: 'success' | 'failed' | 'pending'; said?: string } = {},
): Promise<bigint[]> {
  const references = Array.from({ length: count }, (_, n) => `R-${n + 1}`);
  const ids = await addBatch(ledger, references);
  for (const reference of references) {
    const [claim] = await claimAt(ledger, at(0));
    if (!claim) throw new Error('nothing was claimed');
    const { id, trx } = sandbox.book.plant({ ...money, reference, status });
    await recordOutcome(ledger, at(0), claim, replies.accepted(String(id)));
    await deliver(ledger, { reference, trx, statusMessage: said });
  }
  await applyWebhooks({ ledger, clock });
  return ids;
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
