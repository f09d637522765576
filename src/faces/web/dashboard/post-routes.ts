import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { z } from 'zod';
import { approveVerb } from '../../../verbs/approve.ts';
import { acknowledgeVerb, resolveVerb } from '../../../verbs/decide-discrepancies.ts';
import { holdVerb } from '../../../verbs/hold.ts';
import { holdAllVerb } from '../../../verbs/hold-all.ts';
import type { Refused } from '../../../verbs/obstacles.ts';
import { releaseVerb } from '../../../verbs/release.ts';
import { releaseAllVerb } from '../../../verbs/release-all.ts';
import type { Verb } from '../../../verbs/verb.ts';
import { onDesk } from '../../../words/desk-words.ts';
import { haltCauseText } from '../../../words/halt-words.ts';
import type { ReaderSight } from '../../../words/hold-words.ts';
import { brakeWords, decisionWords, type ResultWords } from '../../../words/results/result-words.ts';
import { RefusedRequest } from '../../admin/access.ts';
import { html } from '../kit/html.ts';
import { Declined, type Parts } from './actions.ts';
import { callerName } from './forms.ts';
import { seesBank } from './frame.ts';
import { dashboardBanner } from './parts.ts';
import type { Shared } from './shared.ts';

type Params = { Params: { name?: string } };

/** What a form gives: the batch of the path, and the fields. */
type Given = { name: string; fields: URLSearchParams };

/** A form that orders one verb. `back`: where the person goes on. */
type VerbForm<Input extends z.ZodType, Outcome> = {
  back(name: string): string;
  input(given: Given): z.input<Input>;
  words(done: Outcome, sight: ReaderSight): ResultWords;
  /** What the log says of it; null for nothing. */
  logged(done: Outcome, given: Given): object | null;
  /** A decision about sending is ticked off: a button alone is pressed too easily. */
  sure: boolean;
};

/** The forms. Each needs the right of its verb, a page of this server, and a form made for this person. */
export function postRoutes(scope: FastifyInstance, shared: Shared): void {
  const { actions, looks, send } = shared;
  const post = <Input extends z.ZodType, Outcome extends { kind: string }>(
    path: string,
    verb: Verb<Parts, Input, Outcome | Refused>,
    form: VerbForm<Input, NoInfer<Outcome>>,
  ): void => {
    scope.post<Params>(path, { config: { right: verb.can } }, async (request, reply) => {
      const { name = '' } = request.params;
      const { by, fields } = orderIn(request, shared);
      if (form.sure) requireSure(fields);
      const given = { name, fields };
      const order = { by, input: form.input(given), logged: (one: Outcome) => form.logged(one, given) };
      const sight = { names: seesBank(request) };
      const done = form.words(await actions.order(verb, order).finally(looks.forget), sight);
      const lines = done.lines.map((line) => html`<p>${onDesk(line)}</p>`);
      const back = html`<p><a href="${form.back(name)}">Go on</a></p>`;
      const main = dashboardBanner(done.undone ? 'warn' : 'good', done.title, html`${lines}${back}`);
      return send(request, reply, { title: done.title, main, renews: 'still' });
    });
  };
  const onToday = { back: () => '/', words: brakeWords, sure: true };
  const onBatch = {
    back: (name: string) => `/batches/${encodeURIComponent(name)}`,
    words: brakeWords,
    sure: true,
  };
  post('/halt', holdAllVerb, {
    ...onToday,
    input: () => ({}),
    logged: () => ({ action: 'hold everything' }),
  });
  post('/release', releaseAllVerb, {
    ...onToday,
    input: ({ fields }) => ({ shown: shownIn(fields) }),
    logged: ({ lifted }) => ({
      action: 'release everything',
      cause: lifted ? haltCauseText(lifted.causes) : null,
    }),
  });
  post('/batches/:name/hold', holdVerb, {
    ...onBatch,
    input: ({ name: batch }) => ({ batch }),
    logged: ({ batch, moved }) => ({ action: 'hold', batch, moved }),
  });
  post('/batches/:name/release', releaseVerb, {
    ...onBatch,
    input: ({ name: batch, fields }) => ({ batch, shown: shownIn(fields) }),
    logged: ({ batch, released: { moved } }) => ({ action: 'release', batch, moved }),
  });
  post('/batches/:name/approve', approveVerb, {
    ...onBatch,
    input: ({ name: batch, fields }) => ({ batch, digest: fields.get('digest') ?? '' }),
    logged: ({ kind, batch, approval: { digest } }) =>
      kind === 'approved' ? { action: 'approve', batch, digest: digest.slice(0, 12) } : null,
  });
  for (const verb of [acknowledgeVerb, resolveVerb])
    post(`/discrepancies/${verb.name}`, verb, {
      back: () => '/discrepancies',
      sure: false,
      words: decisionWords,
      input: ({ fields }) => ({ ...pickedIn(fields), note: fields.get('note') ?? '' }),
      logged: ({ ids }) => ({ action: verb.name, discrepancy: ids.join(' ') }),
    });
}

/** The discrepancy of a form, or those that were ticked, each with the mark of what the person saw. */
function pickedIn(fields: URLSearchParams) {
  const id = fields.get('id');
  if (id !== null) return { ids: [id], shown: { [id]: fields.get('shown') ?? '' } };
  const picks = fields.getAll('pick').map((pick) => {
    const at = pick.lastIndexOf('.');
    return [pick.slice(0, at), pick.slice(at + 1)] as const;
  });
  if (picks.length === 0) throw new Declined(422, 'Tick at least one discrepancy.');
  return { ids: picks.map(([one]) => one), shown: Object.fromEntries(picks), apart: true };
}

/** The marks of what the person saw. */
function shownIn(fields: URLSearchParams): string[] {
  return (fields.get('shown') ?? '').split(' ');
}

/** Throws unless the box of the form was ticked, whatever the browser did. */
export function requireSure(fields: URLSearchParams): void {
  if (fields.get('sure') !== 'yes')
    throw new Declined(422, 'Tick the box first: it says what the decision means.');
}

export function orderIn(
  { caller, body }: FastifyRequest,
  { forms }: Shared,
): { by: string; fields: URLSearchParams } {
  const by = callerName(caller);
  if (!(body instanceof URLSearchParams)) throw new Declined(422, 'Use the forms of these pages.');
  demandForm(by, body.get('form'), forms);
  return { by, fields: body };
}

/** Throws a refusal unless the form was made for this person, who does not decide too often. */
export function demandForm(by: string, token: string | null, forms: Shared['forms']): void {
  if (!forms.isOurs(by, token))
    throw new RefusedRequest(403, {
      problem: 'the form is not from a page of this server, or serve was started again since',
      fix: 'load the page again and repeat the decision',
    });
  const wait = forms.waitSeconds(by);
  if (wait > 0)
    throw new RefusedRequest(429, {
      problem: 'too many decisions in a minute',
      fix: `wait ${wait} s`,
      retryAfterSeconds: wait,
    });
}
