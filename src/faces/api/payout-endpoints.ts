import { z } from 'zod';
import { payoutStory } from '../../books/overview.sql.ts';
import { dayOrInstant } from '../../core/domain/local-day.ts';
import { maskAccount } from '../../core/domain/redact.ts';
import { listPayouts, type PayoutFilter, sumPayouts } from '../../core/ledger/payout-list.ts';
import { jsonShapes } from '../../core/shapes/json-shapes.ts';
import { payoutsShape } from '../../core/shapes/list-shapes.ts';
import { payoutStateShape, text } from '../../core/shapes/parts.ts';
import { cancelVerb } from '../../verbs/cancel.ts';
import { askedBeforeRetry, freshEvidence } from '../../verbs/fresh-evidence.ts';
import { resendVerb } from '../../verbs/resend.ts';
import { retryVerb } from '../../verbs/retry.ts';
import { settleVerb } from '../../verbs/settle.ts';
import type { Weighed } from '../../watching/evidence/weigh.ts';
import { reasonText } from '../../words/advice-text.ts';
import { evidenceJson, watchOf } from '../json/evidence-json.ts';
import { listedPayoutJson, payoutTotalsJson } from '../json/list-json.ts';
import { cancelJson, resendJson } from '../json/order-json.ts';
import { aroundPayout, payoutStoryJson } from '../json/show-payout.ts';
import { type ApiDeps, endpoint, jsonAnswer } from './endpoint.ts';
import { none, paging } from './parts.ts';
import { ApiProblem, declined, unlessRefused } from './problem.ts';

const payoutParams = z.object({ reference: z.string() });

const filters = paging.extend({
  state: payoutStateShape.optional(),
  batch: z.string().optional().describe('its whole name'),
  currency: z
    .string()
    .regex(/^[A-Za-z]{3}$/)
    .optional()
    .describe('ISO 4217'),
  bank: z.string().optional().describe('the bank code'),
  since: z.string().optional().describe('taken in then or later: a day or an instant, ISO 8601'),
  reference: z.string().optional().describe('how the reference begins'),
  accounts: z.enum(['masked', 'whole']).default('masked').describe('how account numbers are shown'),
});

function filterOf(query: z.infer<typeof filters>, zone: string): PayoutFilter {
  const { state, batch, currency, bank, since, reference } = query;
  const from = since === undefined ? undefined : dayOrInstant(since, zone);
  if (from === null) throw wrongQuery(`since is no day and no instant: ${since}`);
  return { state, batch, currency: currency?.toUpperCase(), bank, since: from, reference };
}

function wrongQuery(problem: string): ApiProblem {
  return new ApiProblem(422, { kind: 'query', problem, fix: 'see GET /openapi.json' });
}

function cursorOf(after: string | undefined): bigint | undefined {
  if (after === undefined) return undefined;
  if (!/^\d{1,18}$/.test(after)) throw wrongQuery('after is no cursor of this list');
  return BigInt(after);
}

const inWhole = (account: string): string => account;

/** Finds the payout. Throws {@link ApiProblem} where there is none. */
async function payoutNamed({ app }: ApiDeps, reference: string) {
  const [payout] = (await app.decisions.find([reference])).payouts;
  if (!payout) throw declined({ kind: 'no_payout', references: [reference] });
  return payout;
}

/** Nothing was decided: the caller must look at the evidence, and repeat its digest. */
function lookFirst(app: ApiDeps['app'], shown: Weighed, given: string | undefined): ApiProblem {
  const { evidence_digest, evidence } = evidenceJson(shown, watchOf(app));
  return new ApiProblem(given === undefined ? 422 : 409, {
    kind: given === undefined ? 'evidence_needed' : 'evidence_changed',
    problem:
      given === undefined
        ? 'a decision repeats the digest of its evidence'
        : 'the evidence changed; nothing was done',
    fix: `read the evidence, then send {"evidence": "${evidence_digest}"}`,
    more: { evidence_digest, evidence: [...evidence] },
  });
}

const evidence = z.string().optional().describe('the digest of the evidence that the person read (P20)');

const payoutPage = payoutsShape.partial({ matching: true, totals: true }).extend({
  next: text
    .nullable()
    .describe('for `after`; null at the end. `matching` and `totals` stand on the first page'),
});

export const payoutEndpoints = [
  endpoint({
    method: 'get',
    path: '/payouts',
    name: 'listPayouts',
    does: 'Payouts that match, the newest first, with the totals of all that match.',
    right: 'read',
    params: none,
    query: filters,
    body: null,
    answers: {
      200: { does: 'A page of payouts.', shape: payoutPage },
    },
    async run({ app }, { query }) {
      const filter = filterOf(query, app.config.reports.timezone);
      const account = query.accounts === 'whole' ? inWhole : maskAccount;
      const found = [];
      for await (const page of listPayouts(app.ledger.db, filter, query.limit, cursorOf(query.after)))
        found.push(...page);
      // Later pages belong to the same list, and counting it takes longer than reading a page.
      const totals = query.after === undefined && payoutTotalsJson(await sumPayouts(app.ledger.db, filter));
      const next = found.length < query.limit ? null : (found.at(-1)?.id.toString() ?? null);
      return jsonAnswer({ payouts: found.map((one) => listedPayoutJson(one, account)), ...totals, next });
    },
  }),
  endpoint({
    method: 'get',
    path: '/payouts/{reference}',
    name: 'getPayout',
    does: 'The whole story of one payout, each fact with its source and time.',
    right: 'read',
    params: payoutParams,
    query: z.object({ accounts: filters.shape.accounts }),
    body: null,
    answers: { 200: { does: 'Its story.', shape: jsonShapes.show.shape } },
    async run({ app }, { params: { reference }, query }) {
      const story = await payoutStory(app.ledger, reference);
      if (!story) throw declined({ kind: 'no_payout', references: [reference] });
      const { around } = await aroundPayout(app, story);
      return jsonAnswer(payoutStoryJson(story, around, query.accounts === 'whole' ? inWhole : maskAccount));
    },
  }),
  endpoint({
    method: 'post',
    path: '/payouts/{reference}/retry',
    name: 'retryPayout',
    orders: 'retry',
    does: 'Orders it again: an unknown one under the same reference, one that came to nothing as a successor. The service is asked first.',
    right: 'decide',
    params: payoutParams,
    query: none,
    body: z.strictObject({ evidence }),
    answers: { 200: { does: 'The evidence, and what was decided.', shape: jsonShapes.retry.shape } },
    async run(deps, { params: { reference }, body, person }) {
      const { app, closing: signal } = deps;
      const { id } = await payoutNamed(deps, reference);
      const { shown, since } = await freshEvidence(app, [id], { states: askedBeforeRetry, signal });
      const [one] = shown.cases;
      if (one?.judgement.kind === 'no')
        throw new ApiProblem(409, {
          kind: 'no_retry',
          problem: `${one.payout.reference}: ${reasonText(one.judgement)}`,
          fix: one.had ? 'nothing needs sending again' : `what may be done: ${one.remedies.join(', ')}`,
        });
      if (body.evidence !== shown.digest) throw lookFirst(app, shown, body.evidence);
      const order = { references: [reference], since, digest: shown.digest };
      const done = unlessRefused(await retryVerb.run(app, order, person));
      if (done.kind === 'changed') throw lookFirst(app, done.now, body.evidence);
      const decided = done.decided.map(({ predecessor, ...rest }) => {
        return { reference: rest.reference, pays_again: predecessor, state: rest.state, message: null };
      });
      return jsonAnswer({ ...evidenceJson(shown, watchOf(app)), decided, waits: null });
    },
  }),
  endpoint({
    method: 'post',
    path: '/payouts/{reference}/settle',
    name: 'settlePayout',
    orders: 'settle',
    does: "A person's word on a payout that evidence has not made final (P32). The service is asked first; later evidence reopens it.",
    right: 'decide',
    params: payoutParams,
    query: none,
    body: z.strictObject({
      as: z.enum(['paid', 'not-paid']),
      note: z.string().trim().min(1).max(2000).describe('how the person knows'),
      evidence,
    }),
    answers: { 200: { does: 'The evidence, and what was settled.', shape: jsonShapes.settle.shape } },
    async run(deps, { params: { reference }, body, person }) {
      const { app, closing: signal } = deps;
      const payout = await payoutNamed(deps, reference);
      const { shown, since } = await freshEvidence(app, [payout.id], { states: askedBeforeSettling, signal });
      const [one] = shown.cases;
      if (!one?.remedies.includes('settle'))
        throw new ApiProblem(409, {
          kind: 'no_settling',
          problem: `${payout.reference} is ${one?.payout.state ?? payout.state} by evidence, and nothing contradicts that`,
          fix: `what may be done: ${one?.remedies.join(', ') || 'nothing is needed'}`,
        });
      if (body.evidence !== undefined && body.evidence !== shown.digest)
        throw lookFirst(app, shown, body.evidence);
      const order = {
        payouts: [{ reference: payout.reference, digest: shown.digest }],
        as: body.as === 'paid' ? ('success' as const) : ('failed' as const),
        note: body.note,
        since,
      };
      const { settled, changed } = unlessRefused(await settleVerb.run(app, order, person));
      if (changed.length > 0)
        throw lookFirst(app, await app.decisions.weigh([payout.id], since), shown.digest);
      return jsonAnswer({ ...evidenceJson(shown, watchOf(app)), settled, not_settled: [], note: body.note });
    },
  }),
  endpoint({
    method: 'post',
    path: '/payouts/{reference}/resend',
    name: 'resendPayout',
    orders: 'resend',
    does: 'Asks the service to send its webhook again, inside the throttle.',
    right: 'decide',
    params: payoutParams,
    query: none,
    body: z.strictObject({}),
    answers: { 200: { does: 'What the service answered.', shape: jsonShapes.resend.shape } },
    async run({ app, closing }, { params: { reference }, person }) {
      // Longer than a request should take, the list of what waits remembers it.
      const signal = AbortSignal.any([closing, AbortSignal.timeout(5000)]);
      const parts = { ...app, signal, meanwhile: async () => undefined };
      return jsonAnswer(
        resendJson(
          unlessRefused(await resendVerb.run(parts, { references: [reference], collections: false }, person)),
        ),
      );
    },
  }),
  endpoint({
    method: 'post',
    path: '/payouts/{reference}/cancel',
    name: 'cancelPayout',
    orders: 'cancel',
    does: 'Cancels it where it was never sent.',
    right: 'decide',
    params: payoutParams,
    query: none,
    body: z.strictObject({}),
    answers: { 200: { does: 'Its state.', shape: jsonShapes.cancel.shape } },
    async run({ app }, { params: { reference }, person }) {
      const done = unlessRefused(await cancelVerb.run(app, { reference }, person));
      if (done.kind === 'payout' && done.done.cancelled + done.done.withdrawn === 0)
        throw new ApiProblem(409, {
          kind: 'not_cancelled',
          problem: done.done.why === null ? `${done.reference} is ${done.state}` : reasonText(done.done.why),
          fix: 'only what was never sent can be cancelled',
        });
      return jsonAnswer(cancelJson(done));
    },
  }),
];

/** A payout that is being sent gets its answer from the request. */
const askedBeforeSettling = payoutStateShape.options.filter((state) => state !== 'sending');
