import { Readable } from 'node:stream';
import { text as readText } from 'node:stream/consumers';
import type { FastifyInstance, FastifyReply } from 'fastify';
import { findRun } from '../../../books/batch-results.sql.ts';
import { columnTotals } from '../../../books/column-totals.sql.ts';
import { payoutStory, type Story } from '../../../books/overview.sql.ts';
import { batchesForNewFile } from '../../../books/unpaid.sql.ts';
import { foldReference } from '../../../core/domain/ids.ts';
import { dayOf } from '../../../core/domain/pay-day.ts';
import { maskAccount } from '../../../core/domain/redact.ts';
import { runOfReport } from '../../../core/domain/run-folder.ts';
import { mendsOf } from '../../../core/ledger/mends.ts';
import { accountsOf } from '../../../core/ledger/payee-changes.ts';
import { comparisonOf, type PayeeComparison } from '../../../core/ledger/payee-comparisons.ts';
import { listPayouts, payoutsWithSums } from '../../../core/ledger/payout-list.ts';
import { neighboursOf } from '../../../core/ledger/successors.ts';
import type { Db } from '../../../core/storage/ledger.ts';
import { approvalsOf, originOf } from '../../../sending/approvals.sql.ts';
import { limitsOf } from '../../../sending/daily-limit.ts';
import { batchHalts } from '../../../sending/halts.sql.ts';
import { makersOf } from '../../../sending/makers.sql.ts';
import { keptReportsTexts } from '../../../words/kept-reports.ts';
import { payoutsCsv } from '../../json/payouts-csv.ts';
import { Declined } from './actions.ts';
import { approveView } from './approve-view.ts';
import { columnsView } from './batch-columns-view.ts';
import { standNamed, whichBatchView } from './batch-parts.ts';
import { batchView, mostRows, stateNamed } from './batch-view.ts';
import {
  batchesMeant,
  batchesNamed,
  batchesThatStand,
  countBatches,
  findBatchLook,
  findReference,
  largestIn,
  payoutsIn,
} from './batches.sql.ts';
import { batchesView } from './batches-view.ts';
import type { AccountsNamed, NameOf } from './compared-part.ts';
import { deskReport } from './desk-report.ts';
import { callerName } from './forms.ts';
import { seesBank, type View } from './frame.ts';
import { findLastAlike } from './last-alike.sql.ts';
import { batchDaysAhead } from './later.sql.ts';
import { payoutView } from './payout-view.ts';
import { payoutFilterOf, payoutQueryIn, payoutsView } from './payouts-view.ts';
import { pageIn, perPage, queryOf, showsEverybody } from './query.ts';
import { openReport } from './report-files.ts';
import type { Shared } from './shared.ts';
import { todayView } from './today-view.ts';

const mostLargest = 10;
/** So many payouts are added up for a page where no kept totals say the sum. */
const mostSummed = 10_000;
const mostDays = 12;

type Params = { Params: { name: string } };

export function pageRoutes(scope: FastifyInstance, shared: Shared): void {
  const { deps, looks, send, viewFor, actions } = shared;
  const { reader, config, reports } = deps;
  /** The later days of a batch, for its pages. */
  const laterOf = (batch: string) =>
    batchDaysAhead(reader, batch, {
      today: dayOf(deps.clock.now(), config.submission.timezone),
      limit: mostDays,
    });

  /** Whom the changed rows of a batch pay, and on which accounts, for a reader who may see that. */
  const changedPayees = async (
    compared: PayeeComparison | null,
    view: View,
  ): Promise<{ nameOf: NameOf; accounts?: AccountsNamed }> => {
    if (!seesBank(view)) return { nameOf: null };
    const references = (compared?.changes ?? []).flatMap(({ reference, was }) =>
      was === undefined ? [reference] : [reference, was],
    );
    const accounts = await accountsOf(reader, references);
    return { nameOf: ({ reference }) => accounts.get(reference)?.account_name, accounts };
  };

  const storyOf = (reference: string) => payoutStory({ db: reader, path: deps.ledger.path }, reference);

  scope.get('/', async (request, reply) => {
    const look = await looks.look();
    const limits = limitsOf(config.submission.dailyLimit);
    const main = todayView(look, await viewFor(request), { schedules: config.schedules, limits });
    return send(request, reply, { title: look.halt ? 'Halted' : 'Today', place: '/', main, renews: 'live' });
  });

  scope.get('/batches', async (request, reply) => {
    const only = standNamed(queryOf(request, 'state'));
    const found = await batchesThatStand(reader, only, { limit: perPage, after: queryOf(request, 'after') });
    const main = batchesView({ ...found, only, all: await countBatches(reader) }, await viewFor(request));
    return send(request, reply, { title: 'Batches', place: '/batches', main, renews: 'live' });
  });

  scope.get<Params>('/batches/:name', async (request, reply) => {
    const look = await findBatchLook(reader, request.params.name);
    if (!look) throw new Declined(404, `There is no batch ${request.params.name}.`);
    const { id } = look.batch;
    const state = stateNamed(queryOf(request, 'state'));
    const approvals = (await approvalsOf(reader, [id])).get(id) ?? [];
    const { number } = pageIn(request);
    const part = { limit: mostRows + 1, offset: (number - 1) * mostRows };
    const rows = await payoutsIn(reader, id, state, part);
    const page = { number, more: rows.length > mostRows };
    const halts = await batchHalts(reader, id);
    const compared = await comparisonOf(reader, id);
    const prepared = {
      makers: (await makersOf(reader, [id])).get(id) ?? [],
      mends: await mendsOf(reader, id),
    };
    const later = await laterOf(id);
    const view = await viewFor(request);
    const about = {
      approvals,
      rows: rows.slice(0, mostRows),
      state,
      page,
      halts,
      compared,
      ...(await changedPayees(compared, view)),
      everybody: showsEverybody(request),
      later,
      newFile: (await batchesForNewFile(reader, id)).has(id),
      ...prepared,
    };
    const main = batchView(look, about, view);
    return send(request, reply, { title: id, place: '/batches', main, renews: 'live' });
  });

  scope.get<Params>('/batches/:name/approve', { config: { right: 'approve' } }, async (request, reply) => {
    const view = await viewFor(request);
    const { name } = request.params;
    const look = await findBatchLook(reader, name);
    if (!look) throw new Declined(404, `There is no batch ${name}.`);
    const { shown, warnings, compared } = await actions.review(name, callerName(view.caller), {
      names: seesBank(view),
    });
    const largest = await largestIn(reader, name, mostLargest);
    const later = await laterOf(name);
    const mends = (await mendsOf(reader, name)).length;
    const columns = await columnTotals(reader, look.batch, config.intake.uniqueColumns);
    const last = await findLastAlike(reader, look.batch);
    const everybody = showsEverybody(request);
    const changed = await changedPayees(compared, view);
    const about = { warnings, largest, columns, last, mends, compared, ...changed, everybody, later, view };
    const main = approveView(look, shown, about);
    return send(request, reply, { title: `Approve ${name}`, place: '/batches', main, renews: 'still' });
  });

  scope.get<Params>('/batches/:name/columns', async (request, reply) => {
    const { name } = request.params;
    const look = await findBatchLook(reader, name);
    if (!look) throw new Declined(404, `There is no batch ${name}.`);
    const main = columnsView(look, await columnTotals(reader, look.batch, config.intake.uniqueColumns));
    return send(request, reply, { title: `Totals of ${name}`, place: '/batches', main, renews: 'still' });
  });

  scope.get('/payouts', { config: { right: 'read' } }, async (request, reply) => {
    const query = payoutQueryIn((name) => queryOf(request, name));
    const [batch, ...others] = query.batch === undefined ? [] : await batchesMeant(reader, query.batch);
    if (batch !== undefined && others.length > 0) {
      const main = whichBatchView('Payouts', [batch, ...others], { path: '/payouts', query });
      return send(request, reply, { title: 'Payouts', place: '/payouts', main, renews: 'still' });
    }
    if (batch !== undefined) query.batch = batch;
    const filter = payoutFilterOf(query, config.reports.timezone);
    if (filter === null) throw new Declined(422, 'One of the fields is no state or no day.');
    const after = /^\d{1,18}$/.exec(queryOf(request, 'after') ?? '')?.[0];
    const from = after === undefined ? undefined : BigInt(after);
    if (queryOf(request, 'format') === 'csv') {
      const pages = listPayouts(reader, filter, Number.MAX_SAFE_INTEGER);
      const account = config.reports.maskAccounts ? maskAccount : (text: string) => text;
      reply.headers({ 'content-disposition': 'attachment; filename="payouts.csv"' });
      return reply
        .type('text/csv; charset=utf-8')
        .send(Readable.from(payoutsCsv(pages, config.reports, account)));
    }
    const limit = perPage + 1;
    const first =
      from === undefined ? await payoutsWithSums(reader, filter, { limit, most: mostSummed }) : null;
    const rows = first?.rows ?? [];
    if (from !== undefined)
      for await (const page of listPayouts(reader, filter, limit, from)) rows.push(...page);
    const shown = rows.slice(0, perPage);
    const next = rows.length > perPage ? (shown.at(-1)?.id.toString() ?? null) : null;
    const sums = first && (first.sums ?? { over: mostSummed });
    const main = payoutsView({ query, rows: shown, sums, next }, await viewFor(request));
    return send(request, reply, { title: 'Payouts', place: '/payouts', main, renews: 'still' });
  });

  scope.get<Params>('/payouts/:name', async (request, reply) => {
    const { name } = request.params;
    const story = await storyOf(name);
    if (!story) throw new Declined(404, `There is no payout ${name}.`);
    const neighbours = await neighboursOf(reader, story.payout);
    const around: Story[] = [];
    for (const other of [neighbours.predecessor, neighbours.successor]) {
      const found = other === null ? undefined : await storyOf(other);
      if (found) around.push(found);
    }
    const chain = { ...neighbours, ...(await originOf(reader, story.payout)), around };
    const main = payoutView(story, chain, await viewFor(request));
    return send(request, reply, { title: story.payout.reference, place: '/payouts', main, renews: 'live' });
  });

  scope.get('/find', async (request, reply) => {
    const wanted = (queryOf(request, 'q') ?? '').trim();
    const reference = await findReference(reader, foldReference(wanted));
    if (reference !== undefined) return reply.redirect(`/payouts/${encodeURIComponent(reference)}`, 303);
    const [batch, other] = wanted === '' ? [] : await batchesNamed(reader, wanted);
    if (batch !== undefined && other === undefined)
      return reply.redirect(`/batches/${encodeURIComponent(batch)}`, 303);
    return reply.redirect(`/payouts?q=${encodeURIComponent(wanted)}`, 303);
  });

  scope.get('/reports/', { config: { right: 'read' } }, async (_request, reply) =>
    reply.redirect('/reports/index.html', 303),
  );
  scope.get<{ Params: { '*': string } }>(
    '/reports/*',
    { config: { right: 'read' } },
    async (request, reply) => {
      const path = request.params['*'];
      const file = await openReport(reports, path);
      if (!file) throw new Declined(404, await whyNoReport(reader, path, config.reports.keepDays));
      return sendReport(file, reply);
    },
  );
}

/** Why there is no report file of this path; of a run in words that say how to get it back. */
async function whyNoReport(db: Db, path: string, keepDays: number): Promise<string> {
  const name = runOfReport(path);
  const run = name === undefined ? undefined : await findRun(db, name);
  const isGone = run !== undefined && run.frozen !== null;
  return `There is no such report file.${isGone ? ` ${keptReportsTexts(run.id, keepDays).page} The page of the run writes them again.` : ''}`;
}

/** A larger page goes out as it lies on disk. */
const mostFramed = 16 * 1024 * 1024;

type ReportFile = NonNullable<Awaited<ReturnType<typeof openReport>>>;

async function sendReport(file: ReportFile, reply: FastifyReply): Promise<FastifyReply> {
  reply.headers({ ...file.headers, 'content-length': String(file.bytes) });
  if (file.bytes === 0) {
    await file.handle.close();
    return reply.send('');
  }
  if (file.isPage && file.bytes <= mostFramed) {
    const stream = file.handle.createReadStream({ start: 0, end: file.bytes - 1, autoClose: true });
    const page = Buffer.from(deskReport(await readText(stream)));
    return reply.header('content-length', String(page.length)).send(page);
  }
  // Not a byte beyond the length that was announced, though the file may be replaced meanwhile.
  return reply.send(file.handle.createReadStream({ start: 0, end: file.bytes - 1, autoClose: true }));
}
