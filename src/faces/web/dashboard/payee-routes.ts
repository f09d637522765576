import type { FastifyInstance, FastifyRequest } from 'fastify';
import { accountsOf, listPayeeChanges } from '../../../core/ledger/payee-changes.ts';
import { comparisonOf } from '../../../core/ledger/payee-comparisons.ts';
import { listPayees, payeeAfter, payeeCursor } from '../../../core/ledger/payee-list.ts';
import { amountDifferences } from '../../../intake/amount-differences.ts';
import { originOf } from '../../../sending/approvals.sql.ts';
import { isOfSeries } from '../../../sending/payee-facts.ts';
import type { Html } from '../kit/html.ts';
import { Declined } from './actions.ts';
import { amountsView } from './amounts-view.ts';
import type { View } from './frame.ts';
import { changedPayeesView, payeesView } from './payees-view.ts';
import { pageIn, perPage, queryOf } from './query.ts';
import type { Shared } from './shared.ts';

/** The pages of whom we pay: the accounts, and how much each gets against the batch before. */
export function payeeRoutes(scope: FastifyInstance, { deps: { reader }, send, viewFor }: Shared): void {
  async function all(request: FastifyRequest, view: View): Promise<Html> {
    const after = payeeAfter(queryOf(request, 'after') ?? '');
    const search = (queryOf(request, 'q') ?? '').trim();
    const page = { changed: false, search, limit: perPage + 1, ...(after && { after }) };
    const found = await listPayees(reader, page);
    const payees = found.slice(0, perPage);
    const last = payees.at(-1);
    const next = last && found.length > perPage ? payeeCursor(last) : null;
    return payeesView({ payees, search, next }, view);
  }

  async function changed(request: FastifyRequest, view: View): Promise<Html> {
    const { number, offset } = pageIn(request);
    const found = await listPayeeChanges(reader, { limit: perPage + 1, offset });
    const shown = found.slice(0, perPage);
    const changes = [];
    for (const change of shown) {
      const { batch_id, payout } = change;
      const origin = payout && (await originOf(reader, { ...payout, batch_id }));
      const { approved_by: by = null, approved_at: at = null } = origin ?? {};
      changes.push({ change, approved: by !== null && at !== null ? { by, at } : null });
    }
    const references = shown.flatMap(({ reference, was }) => (was === null ? [reference] : [reference, was]));
    const accounts = await accountsOf(reader, references);
    return changedPayeesView({ changes, accounts, page: { number, more: found.length > perPage } }, view);
  }

  scope.get('/payees', { config: { right: 'read' } }, async (request, reply) => {
    const view = await viewFor(request);
    const main =
      queryOf(request, 'changed') === 'true' ? await changed(request, view) : await all(request, view);
    return send(request, reply, { title: 'Payees', place: '/payees', main, renews: 'still' });
  });

  scope.get<{ Params: { name: string } }>('/batches/:name/amounts', async (request, reply) => {
    const { name: batch } = request.params;
    const compared = await comparisonOf(reader, batch);
    if (!compared || compared.with === null || !isOfSeries(compared))
      throw new Declined(404, `No batch ${batch} was compared with one before it.`);
    const { number, offset } = pageIn(request);
    const all = await amountDifferences(reader, batch, compared.with);
    const page = { number, more: (all?.length ?? 0) > offset + perPage };
    const differences = all?.slice(offset, offset + perPage) ?? null;
    const main = amountsView({ batch, compared, differences, page }, await viewFor(request));
    return send(request, reply, {
      title: `Changed amounts of ${batch}`,
      place: '/batches',
      main,
      renews: 'still',
    });
  });
}
