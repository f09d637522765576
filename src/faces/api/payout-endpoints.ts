import type { z } from 'zod';
import { payoutStory } from '../../books/overview.sql.ts';
import { dayOrInstant } from '../../core/domain/local-day.ts';
import { maskAccount } from '../../core/domain/redact.ts';
import { listPayees, payeeAfter, payeeCursor } from '../../core/ledger/payee-list.ts';
import { listPayouts, type PayoutFilter, sumPayouts } from '../../core/ledger/payout-list.ts';
import { cancelVerb } from '../../verbs/cancel.ts';
import { retryOnEvidence, settleOnEvidence } from '../../verbs/fresh-evidence.ts';
import { resendVerb } from '../../verbs/resend.ts';
import type { Weighed, WeighedCase } from '../../watching/evidence/weigh.ts';
import { reasonText } from '../../words/advice-text.ts';
import type { ReaderSight } from '../../words/hold-words.ts';
import { evidenceJson, watchOf } from '../json/evidence-json.ts';
import { listedPayoutJson, payeeJson, payoutTotalsJson } from '../json/list-json.ts';
import { cancelJson, resendJson } from '../json/order-json.ts';
import { aroundPayout, payoutStoryJson } from '../json/show-payout.ts';
import { type ApiDeps, jsonAnswer, type Runs } from './endpoint.ts';
import type { payoutOperations } from './payout-operations.ts';
import { ApiProblem, declined, unlessRefused } from './problem.ts';

type Filters = z.infer<(typeof payoutOperations)['listPayouts']['query']>;

function filterOf(query: Filters, zone: string): PayoutFilter {
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

/** Nothing was decided: the caller must look at the evidence, and repeat its digest. */
function lookFirst(
  app: ApiDeps['app'],
  { shown, sight }: { shown: Weighed; sight: ReaderSight },
  given: string | undefined,
): ApiProblem {
  const { evidence_digest, evidence } = evidenceJson(shown, watchOf(app), sight);
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

/** The evidence does not allow the decision. */
function cannot(kind: 'no_retry' | 'no_settling', one: WeighedCase): ApiProblem {
  const { reference, state } = one.payout;
  const why =
    kind === 'no_retry' && one.judgement.kind === 'no'
      ? reasonText(one.judgement)
      : `it is ${state}, and nothing contradicts that`;
  const fix =
    one.remedies.length > 0 ? `what may be done: ${one.remedies.join(', ')}` : 'nothing has to be done';
  return new ApiProblem(409, { kind, problem: `${reference}: ${why}`, fix });
}

export const payoutEndpoints: Runs<typeof payoutOperations> = {
  async listPayouts({ app }, { query }) {
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

  async listPayees({ app }, { query: { after, limit, changed, accounts } }) {
    const from = after === undefined ? undefined : payeeAfter(after);
    if (from === null) throw wrongQuery('after is no cursor of this list');
    const page = { changed: changed === 'true', limit, ...(from && { after: from }) };
    const found = await listPayees(app.ledger.db, page);
    const account = accounts === 'whole' ? inWhole : maskAccount;
    const last = found.at(-1);
    const next = last && found.length === limit ? payeeCursor(last) : null;
    return jsonAnswer({ payees: found.map((one) => payeeJson(one, account)), next });
  },

  async getPayout({ app }, { params: { reference }, query }) {
    const story = await payoutStory(app.ledger, reference);
    if (!story) throw declined({ kind: 'no_payout', references: [reference] });
    const { around } = await aroundPayout(app, story);
    return jsonAnswer(payoutStoryJson(story, around, query.accounts === 'whole' ? inWhole : maskAccount));
  },

  async retryPayout({ app, closing: signal }, { params: { reference }, body, person, sight }) {
    const order = { reference, evidence: body.evidence };
    const done = unlessRefused(await retryOnEvidence({ ...app, signal }, order, person));
    if (done.kind === 'cannot') throw cannot('no_retry', done.one);
    if (done.kind === 'look') throw lookFirst(app, { shown: done.shown, sight }, body.evidence);
    const decided = done.decided.map((one) => {
      return { reference: one.reference, pays_again: one.predecessor, state: one.state, message: null };
    });
    return jsonAnswer({ ...evidenceJson(done.shown, watchOf(app), sight), decided, waits: null });
  },

  async settlePayout({ app, closing: signal }, { params: { reference }, body, person, sight }) {
    const as = body.as === 'paid' ? 'success' : 'failed';
    const order = { reference, as, note: body.note, evidence: body.evidence } as const;
    const done = unlessRefused(await settleOnEvidence({ ...app, signal }, order, person));
    if (done.kind === 'cannot') throw cannot('no_settling', done.one);
    if (done.kind === 'look') throw lookFirst(app, { shown: done.shown, sight }, body.evidence ?? '');
    const { shown, settled } = done;
    return jsonAnswer({
      ...evidenceJson(shown, watchOf(app), sight),
      settled,
      not_settled: [],
      note: body.note,
    });
  },

  async resendPayout({ app, closing }, { params: { reference }, person }) {
    // Longer than a request should take, the list of what waits remembers it.
    const signal = AbortSignal.any([closing, AbortSignal.timeout(5000)]);
    const parts = { ...app, signal, meanwhile: async () => undefined };
    return jsonAnswer(
      resendJson(
        unlessRefused(await resendVerb.run(parts, { references: [reference], collections: false }, person)),
      ),
    );
  },

  async cancelPayout({ app }, { params: { reference }, person }) {
    const done = unlessRefused(await cancelVerb.run(app, { reference }, person));
    if (done.kind === 'payout' && done.done.cancelled + done.done.withdrawn === 0)
      throw new ApiProblem(409, {
        kind: 'not_cancelled',
        problem: done.done.why === null ? `${done.reference} is ${done.state}` : reasonText(done.done.why),
        fix: 'only what was never sent can be cancelled',
      });
    return jsonAnswer(cancelJson(done));
  },
};
