import type { FastifyInstance, FastifyRequest } from 'fastify';
import { readableMonth } from '../../../books/presentation.ts';
import type { Role } from '../../../core/settings/settings-schema.ts';
import { cancelVerb } from '../../../verbs/cancel.ts';
import { closePeriodVerb } from '../../../verbs/close-period.ts';
import {
  freshEvidence,
  freshUnpaid,
  retryAllOnEvidence,
  retryOnEvidence,
  settleOnEvidence,
} from '../../../verbs/fresh-evidence.ts';
import type { Refused } from '../../../verbs/obstacles.ts';
import { beginReconcile, reconcileVerb } from '../../../verbs/reconcile.ts';
import { rejectVerb } from '../../../verbs/reject.ts';
import { reportVerb } from '../../../verbs/report.ts';
import { resendVerb } from '../../../verbs/resend.ts';
import { retryVerb } from '../../../verbs/retry.ts';
import { settleVerb } from '../../../verbs/settle.ts';
import type { Person } from '../../../verbs/verb.ts';
import type { WeighedCase } from '../../../watching/evidence/weigh.ts';
import { reasonText } from '../../../words/advice-text.ts';
import { evidenceFactsOf } from '../../../words/evidence-words.ts';
import { periodWarningTexts } from '../../../words/period-words.ts';
import { cancelWords, resendWords } from '../../../words/results/payout-results.ts';
import { newFileText } from '../../../words/state-words.ts';
import { html } from '../kit/html.ts';
import { Declined, declinedPage, personOf } from './actions.ts';
import { form } from './forms.ts';
import { accountText, seesBank, type View } from './frame.ts';
import { laterAccounts } from './later-accounts.sql.ts';
import { dashboardBanner, exactAmount, facts, panel, sentence, time } from './parts.ts';
import { paidAgainWords, payAgainView } from './pay-again-view.ts';
import { orderIn, requireSure } from './post-routes.ts';
import type { Shared } from './shared.ts';

type Params = { Params: { name: string } };

/** How long a person waits for the answer to a request for a webhook; the list of what waits remembers it. */
const resendMs = 5000;

/** What people decide about one payout, on its evidence, and about a batch as a whole. */
export function payoutDecisions(scope: FastifyInstance, shared: Shared, closing: AbortSignal): void {
  const { deps, looks, send, viewFor } = shared;
  const { app, background } = deps.desk;
  const parts = { ...app, signal: closing };
  const decide = { config: { right: 'decide' as const } };
  const path = (name: string): string => `/payouts/${encodeURIComponent(name)}`;

  for (const verb of ['retry', 'settle'] as const)
    scope.get<Params>(`/payouts/:name/${verb}`, decide, async (request, reply) => {
      const { name } = request.params;
      const seen = unlessDeclined(await freshEvidence(parts, name, verb));
      const view = await viewFor(request);
      const title = verb === 'retry' ? `Pay ${name} again` : `Settle ${name}`;
      const main = html`<h1>${title}</h1>
${panel('What is known, asked just now', evidence(seen.one, view))}
${verb === 'retry' ? retryForm(seen.one, seen.shown.digest, view) : settleForm(seen.one, seen.shown.digest, view)}`;
      return send(request, reply, { title, main, renews: 'still' });
    });

  scope.get<Params>('/batches/:name/again', decide, async (request, reply) => {
    const { name } = request.params;
    const seen = unlessDeclined(await freshUnpaid(parts, name));
    const later = await laterAccounts(
      deps.reader,
      seen.shown.cases.map(({ payout }) => payout),
    );
    const main = payAgainView(name, { ...seen, later }, await viewFor(request));
    return send(request, reply, { title: `Pay again of ${name}`, place: '/batches', main, renews: 'still' });
  });

  const post = (
    at: string,
    { can: right }: { can: Role },
    order: (given: { name: string; fields: URLSearchParams; person: Person }) => Promise<Said>,
  ): void => {
    scope.post<Params>(at, { config: { right } }, async (request: FastifyRequest<Params>, reply) => {
      const { by, fields } = orderIn(request, shared);
      const { name } = request.params;
      const said = await order({ name, fields, person: personOf(by) }).finally(looks.forget);
      deps.log.info({ by, action: at.split('/').at(-1), subject: name }, 'decided on the dashboard');
      const view = await viewFor(request);
      const lines = (said.lines ?? []).map((line) => html`<p>${sentence(line, view)}</p>`);
      const back = html`<p><a href="${said.back}">Go on</a></p>`;
      const main = dashboardBanner(said.undone ? 'warn' : 'good', said.title, html`${lines}${back}`);
      return send(request, reply, { title: said.title, main, renews: 'still' });
    });
  };

  post('/payouts/:name/retry', retryVerb, async ({ name, fields, person }) => {
    requireSure(fields);
    const order = { reference: name, evidence: fields.get('evidence') ?? '' };
    const done = unlessDeclined(await retryOnEvidence(parts, order, person));
    if (done.kind !== 'decided') throw changed(name);
    return { ...paidAgainWords(done.decided), back: path(done.decided[0]?.reference ?? name) };
  });
  post('/batches/:name/again', retryVerb, async ({ name, fields, person }) => {
    requireSure(fields);
    const references = (fields.get('references') ?? '').split(' ').filter((one) => one !== '');
    if (references.length === 0) throw new Declined(422, 'The form names no payout.');
    const order = { references, evidence: fields.get('evidence') ?? '' };
    const done = unlessDeclined(await retryAllOnEvidence(parts, order, person));
    if (done.kind === 'look') throw changed(name);
    return { ...paidAgainWords(done.decided), back: `/batches/${encodeURIComponent(name)}` };
  });
  post('/payouts/:name/settle', settleVerb, async ({ name, fields, person }) => {
    const as = fields.get('as');
    const note = (fields.get('note') ?? '').trim();
    if (as !== 'success' && as !== 'failed') throw new Declined(422, 'Say whether it was paid.');
    if (note === '') throw new Declined(422, 'Say how you know: it stands beside the payout for ever.');
    const order = { reference: name, as, note, evidence: fields.get('evidence') ?? '' } as const;
    const done = unlessDeclined(await settleOnEvidence(parts, order, person));
    if (done.kind !== 'settled') throw changed(name);
    const title = `${name} is settled as ${as === 'success' ? 'paid' : 'not paid'}`;
    return { title, lines: ['Later evidence from the service reopens it.'], back: path(name) };
  });
  post('/payouts/:name/cancel', cancelVerb, async ({ name, fields, person }) => {
    requireSure(fields);
    const done = unlessDeclined(await cancelVerb.run(app, { reference: name }, person));
    return { ...cancelWords(done), back: path(name) };
  });
  post('/payouts/:name/resend', resendVerb, async ({ name, person }) => {
    const signal = AbortSignal.any([closing, AbortSignal.timeout(resendMs)]);
    const asking = { ...app, signal, meanwhile: async () => undefined };
    const order = { references: [name], collections: false };
    return { ...resendWords(unlessDeclined(await resendVerb.run(asking, order, person))), back: path(name) };
  });
  post('/batches/:name/cancel', cancelVerb, async ({ name, fields, person }) => {
    requireSure(fields);
    const done = unlessDeclined(await cancelVerb.run(app, { batch: name }, person));
    return { ...cancelWords(done), back: `/batches/${encodeURIComponent(name)}` };
  });
  post('/batches/:name/reject', rejectVerb, async ({ name, fields, person }) => {
    const reason = (fields.get('note') ?? '').trim();
    if (reason === '') throw new Declined(422, 'Say why: the person who dropped the file reads it.');
    const done = unlessDeclined(
      await rejectVerb.run(app, { batch: name, reason, digest: fields.get('digest') ?? '' }, person),
    );
    return {
      ...cancelWords(done),
      title: `${name} is rejected`,
      back: `/batches/${encodeURIComponent(name)}`,
    };
  });
  post('/months/:name/close', closePeriodVerb, async ({ name, fields, person }) => {
    requireSure(fields);
    const done = unlessDeclined(await closePeriodVerb.run(app, { month: name }, person));
    const warnings = done.warnings.map((one) => `In spite of this: ${periodWarningTexts(one).page}.`);
    return { title: `${readableMonth(name)} is closed`, lines: warnings, back: `/months/${name}` };
  });
  post('/runs/:name/report', reportVerb, async ({ name, person }) => {
    unlessDeclined(await reportVerb.run(app, { run: name }, person));
    return { title: 'The files are written', back: `/runs/${encodeURIComponent(name)}` };
  });
  scope.post('/runs', { config: { right: reconcileVerb.can } }, async (request, reply) => {
    const { by, fields } = orderIn(request, shared);
    const full = fields.get('full') === 'yes';
    const begun = await beginReconcile(parts, { full, followUp: true });
    // Two presses make one run: the page says what it does.
    if (begun.kind === 'refused') return reply.redirect('/runs?already=yes', 303);
    deps.log.info({ by, action: 'reconcile', subject: full ? 'all' : 'window' }, 'decided on the dashboard');
    background(begun.ended.finally(looks.forget));
    looks.forget();
    return reply.redirect('/runs', 303);
  });
}

type Said = { title: string; lines?: string[]; undone?: true; back: string };

function unlessDeclined<Done extends { kind: string }>(done: Done | Refused): Done {
  if (done.kind === 'refused' && 'why' in done) throw declinedPage(done.why);
  // oxlint-disable-next-line typescript/no-unsafe-type-assertion -- a refusal was thrown
  return done as Done;
}

function changed(name: string): Declined {
  return new Declined(
    409,
    `What is known of ${name} changed, or does not allow it. Nothing was done: look at it again.`,
  );
}

function evidence(one: WeighedCase, view: View) {
  const { payout } = one;
  const known = evidenceFactsOf(one, (instant) => instant ?? '–');
  return facts([
    ['payee', seesBank(view) ? payout.account_name : 'hidden'],
    ['account', accountText(payout, view)],
    ['amount', exactAmount(payout.currency, payout.amount)],
    ...known.map(([label, text]) => [label, sentence(text, view)] as const),
  ]);
}

function retryForm(one: WeighedCase, digest: string, view: View) {
  const { judgement, payout } = one;
  if (judgement.kind === 'no')
    return dashboardBanner(
      'warn',
      'It cannot be paid again now',
      html`<p>${sentence(reasonText(judgement), view)}</p>`,
    );
  const again =
    judgement.kind === 'again'
      ? 'It goes out again under the same reference.'
      : 'It is paid again under a new reference.';
  return panel(
    'Decide',
    html`<p>${again}</p>${form(view, {
      action: `/payouts/${encodeURIComponent(payout.reference)}/retry`,
      fields: [
        { kind: 'hidden', name: 'evidence', value: digest },
        { kind: 'sure', label: 'I have read what is known, and it should be paid' },
      ],
      buttons: [{ name: 'Pay it again' }],
    })}`,
  );
}

function settleForm(one: WeighedCase, digest: string, view: View) {
  const { remedies, payout } = one;
  if (!remedies.includes('settle'))
    return dashboardBanner(
      'warn',
      'Nothing needs settling',
      html`<p>Evidence says how it ended, since ${time(payout.final_at, view)}.</p>`,
    );
  return panel(
    'Decide',
    html`<p>It counts as you say, and nothing is sent. If the service shows otherwise later, it is reopened.</p><p>${newFileText}</p>${form(
      view,
      {
        action: `/payouts/${encodeURIComponent(payout.reference)}/settle`,
        fields: [
          { kind: 'hidden', name: 'evidence', value: digest },
          { kind: 'note', label: 'How you know', id: 'settle-note', required: true },
        ],
        buttons: [
          { name: 'It was not paid', value: ['as', 'failed'], plain: true },
          { name: 'It was paid', value: ['as', 'success'] },
        ],
      },
    )}`,
  );
}
