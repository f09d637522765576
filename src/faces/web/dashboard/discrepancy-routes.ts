import type { FastifyInstance, FastifyRequest } from 'fastify';
import {
  countFiltered,
  type DiscrepancyFilter,
  listOpen,
} from '../../../books/discrepancies/discrepancies.sql.ts';
import { isDiscrepancyKind } from '../../../core/domain/discrepancy-kinds.ts';
import { discrepancyStates } from '../../../core/domain/discrepancy-life.ts';
import { isUsable } from '../../../core/domain/verdict.ts';
import { Declined } from './actions.ts';
import { whichBatchView } from './batch-parts.ts';
import { batchesMeant } from './batches.sql.ts';
import { sumDiscrepancies } from './discrepancies.sql.ts';
import { discrepanciesView, discrepancyFields, mostPicked, pickAllView } from './discrepancies-view.ts';
import { fieldsIn, pageIn, perPage } from './query.ts';
import type { Shared } from './shared.ts';

const dayMs = 86_400_000;

/** The list of what is open, and the page on which a person decides about all that a filter finds. */
export function discrepancyRoutes(scope: FastifyInstance, { deps, looks, send, viewFor }: Shared): void {
  const { reader, clock } = deps;

  scope.get('/discrepancies', async (request, reply) => {
    const query = fieldsIn(request, discrepancyFields);
    const [batch, ...alike] = query.batch === undefined ? [] : await batchesMeant(reader, query.batch);
    if (batch !== undefined && alike.length > 0) {
      const way = { path: '/discrepancies', query };
      const main = whichBatchView('Discrepancies', [batch, ...alike], way);
      return send(request, reply, { title: 'Discrepancies', place: '/discrepancies', main, renews: 'live' });
    }
    if (batch !== undefined) query.batch = batch;
    const filter = filterOf(query, clock.now());
    const { number, offset } = pageIn(request);
    const list = await listOpen(reader, filter, perPage + 1, offset);
    const { kind: _kind, ...others } = filter;
    const byKind = Map.groupBy(await countFiltered(reader, others), ({ kind }) => kind);
    const kinds = [...byKind].map(
      ([kind, some]) => [kind, some.reduce((sum, { n }) => sum + Number(n), 0)] as const,
    );
    const sums = await sumDiscrepancies(reader, filter);
    const { lastRun } = await looks.look();
    const page = { number, more: list.length > perPage };
    const isChecked = lastRun !== null && isUsable(lastRun.list);
    const found = { list: list.slice(0, perPage), kinds, query, sums, page, isChecked };
    const main = discrepanciesView(found, await viewFor(request));
    return send(request, reply, { title: 'Discrepancies', place: '/discrepancies', main, renews: 'live' });
  });

  const decide = { config: { right: 'decide' as const } };
  scope.get('/discrepancies/all', decide, async (request: FastifyRequest, reply) => {
    const { state, ...others } = fieldsIn(request, discrepancyFields);
    // Nothing is decided about what is resolved.
    const query = { ...others, ...(state !== undefined && state !== 'resolved' && { state }) };
    const filter = filterOf(query, clock.now());
    const list = await listOpen(reader, filter, mostPicked);
    const total = (await sumDiscrepancies(reader, filter)).reduce((sum, { count }) => sum + count, 0);
    const main = pickAllView({ list, total, query }, await viewFor(request));
    return send(request, reply, { title: 'Decide', place: '/discrepancies', main, renews: 'still' });
  });
}

/** The filter of the ledger. An unknown kind is that of an old link: all are shown. */
function filterOf(
  query: ReturnType<typeof fieldsIn<(typeof discrepancyFields)[number]>>,
  now: number,
): DiscrepancyFilter {
  const { kind, batch, currency, days, state } = query;
  if (days !== undefined && !/^\d{1,5}$/.test(days))
    throw new Declined(422, 'Give the age as a number of days.');
  const known = discrepancyStates.find((one) => one === state);
  return {
    ...(kind !== undefined && isDiscrepancyKind(kind) && { kind }),
    ...(known !== undefined && { states: [known] }),
    ...(batch !== undefined && { batch }),
    ...(currency !== undefined && { currency: currency.toUpperCase() }),
    ...(days !== undefined && { seenBefore: new Date(now - Number(days) * dayMs).toISOString() }),
  };
}
