import type { FastifyInstance, FastifyRequest } from 'fastify';
import { Refused } from '../admin/access.ts';
import { Declined, type Done } from './actions.ts';
import { html } from './html.ts';
import { banner } from './parts.ts';
import type { Shared } from './shared.ts';

type Params = { Params: { name?: string } };

/** What a handler of a form gets: who decides, and the fields. */
type Order = { by: string; fields: URLSearchParams };

/** The forms. Each needs the right to change, a page of this server, and a form made for this person. */
export function postRoutes(scope: FastifyInstance, shared: Shared): void {
  const { actions, looks, send } = shared;
  const post = (
    path: string,
    back: (name: string) => string,
    act: (name: string, order: Order) => Promise<Done>,
  ): void => {
    scope.post<Params>(path, { config: { right: 'change' } }, async (request, reply) => {
      const order = orderIn(request, shared);
      const { name = '' } = request.params;
      const done = await act(name, order).finally(looks.forget);
      const lines = done.lines.map((line) => html`<p>${line}</p>`);
      const main = banner('good', done.title, html`${lines}<p><a href="${back(name)}">Go on</a></p>`);
      return send(request, reply, { title: done.title, main, renews: 'still' });
    });
  };
  const batchPage = (name: string): string => `/batches/${encodeURIComponent(name)}`;
  const today = (): string => '/';
  const discrepancies = (): string => '/discrepancies';
  post('/halt', today, async (_name, { by, fields }) => {
    demandSure(fields);
    return actions.haltAll(by);
  });
  post('/release', today, async (_name, { by, fields }) => {
    demandSure(fields);
    return actions.releaseAll(by);
  });
  post('/batches/:name/hold', batchPage, async (name, { by, fields }) => {
    demandSure(fields);
    return actions.hold(name, by);
  });
  post('/batches/:name/release', batchPage, async (name, { by, fields }) => {
    demandSure(fields);
    return actions.release(name, by);
  });
  post('/batches/:name/approve', batchPage, async (name, { by, fields }) => {
    demandSure(fields);
    return actions.approve(name, by, fields.get('digest') ?? '');
  });
  for (const verdict of ['acknowledge', 'resolve'] as const)
    post(`/discrepancies/${verdict}`, discrepancies, async (_name, { by, fields }) =>
      actions.decide({ id: fields.get('id') ?? '', by, verdict, note: fields.get('note') ?? '' }),
    );
}

function orderIn({ caller, body }: FastifyRequest, { forms }: Shared): Order {
  if (caller.kind !== 'token') throw new Error('a decision without a name');
  if (!(body instanceof URLSearchParams)) throw new Declined(422, 'Use the forms of these pages.');
  if (!forms.isOurs(caller.name, body.get('form')))
    throw new Refused(403, {
      problem: 'the form is not from a page of this server, or serve was started again since',
      fix: 'load the page again and repeat the decision',
    });
  const wait = forms.waitSeconds(caller.name);
  if (wait > 0)
    throw new Refused(429, {
      problem: 'too many decisions in a minute',
      fix: `wait ${wait} s`,
      retryAfterSeconds: wait,
    });
  return { by: caller.name, fields: body };
}

/** Every decision about sending is ticked off: a button alone is pressed too easily. */
function demandSure(fields: URLSearchParams): void {
  if (fields.get('sure') !== 'yes')
    throw new Declined(422, 'Tick the box first: it says what the decision means.');
}
