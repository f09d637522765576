import type { FastifyInstance } from 'fastify';
import { comparisonOf } from '../../../core/ledger/payee-comparisons.ts';
import { listPayees, payeeAfter, payeeCursor } from '../../../core/ledger/payee-list.ts';
import { amountDifferences } from '../../../intake/amount-differences.ts';
import { isOfSeries } from '../../../sending/payee-facts.ts';
import { Declined } from './actions.ts';
import { amountsView } from './amounts-view.ts';
import { payeesView } from './payees-view.ts';
import { pageIn, perPage, queryOf } from './query.ts';
import type { Shared } from './shared.ts';

/** The pages of whom we pay: the accounts, and how much each gets against the batch before. */
export function payeeRoutes(scope: FastifyInstance, { deps: { reader }, send, viewFor }: Shared): void {
  scope.get('/payees', { config: { right: 'read' } }, async (request, reply) => {
    const changed = queryOf(request, 'changed') === 'true';
    const after = payeeAfter(queryOf(request, 'after') ?? '');
    const search = (queryOf(request, 'q') ?? '').trim();
    const found = await listPayees(reader, { changed, search, limit: perPage + 1, ...(after && { after }) });
    const payees = found.slice(0, perPage);
    const last = payees.at(-1);
    const next = last && found.length > perPage ? payeeCursor(last) : null;
    const main = payeesView({ payees, changed, search, next }, await viewFor(request));
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
