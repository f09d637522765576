import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Role } from '../../../core/settings/settings-schema.ts';
import { RefusedRequest } from '../../admin/access.ts';
import { html } from '../kit/html.ts';
import { type ActionDone, Declined } from './actions.ts';
import { callerName } from './forms.ts';
import { dashboardBanner } from './parts.ts';
import type { Shared } from './shared.ts';

type Params = { Params: { name?: string } };

/** What a handler of a form gets: the batch of the path, who decides, and the fields. */
type Order = { name: string; by: string; fields: URLSearchParams };

/** The forms. Each needs its role, a page of this server, and a form made for this person. */
export function postRoutes(scope: FastifyInstance, shared: Shared): void {
  const { actions, looks, send } = shared;
  const post = (
    path: string,
    back: (name: string) => string,
    act: (order: Order) => Promise<ActionDone>,
    right: Role = 'decide',
  ): void => {
    scope.post<Params>(path, { config: { right } }, async (request, reply) => {
      const { name = '' } = request.params;
      const order = { name, ...orderIn(request, shared) };
      const done = await act(order).finally(looks.forget);
      const lines = done.lines.map((line) => html`<p>${line}</p>`);
      const main = dashboardBanner(
        'good',
        done.title,
        html`${lines}<p><a href="${back(name)}">Go on</a></p>`,
      );
      return send(request, reply, { title: done.title, main, renews: 'still' });
    });
  };
  const batchPage = (name: string): string => `/batches/${encodeURIComponent(name)}`;
  const today = (): string => '/';
  const discrepancies = (): string => '/discrepancies';
  post(
    '/halt',
    today,
    sure(({ by }) => actions.haltAll(by)),
  );
  post(
    '/release',
    today,
    sure(({ by, fields }) => actions.releaseAll(by, shownIn(fields))),
  );
  post(
    '/batches/:name/hold',
    batchPage,
    sure(({ name, by }) => actions.hold(name, by)),
  );
  post(
    '/batches/:name/release',
    batchPage,
    sure(({ name, by, fields }) => actions.release(name, by, shownIn(fields))),
  );
  const approve = sure(({ name, by, fields }) => actions.approve(name, by, fields.get('digest') ?? ''));
  post('/batches/:name/approve', batchPage, approve, 'approve');
  for (const verdict of ['acknowledge', 'resolve'] as const)
    post(`/discrepancies/${verdict}`, discrepancies, ({ by, fields }) =>
      actions.decide({
        id: fields.get('id') ?? '',
        by,
        verdict,
        note: fields.get('note') ?? '',
        shown: fields.get('shown') ?? '',
      }),
    );
}

/** The marks of what the person saw. */
function shownIn(fields: URLSearchParams): string[] {
  return (fields.get('shown') ?? '').split(' ');
}

function orderIn({ caller, body }: FastifyRequest, { forms }: Shared): Omit<Order, 'name'> {
  const by = callerName(caller);
  if (!(body instanceof URLSearchParams)) throw new Declined(422, 'Use the forms of these pages.');
  if (!forms.isOurs(by, body.get('form')))
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
  return { by, fields: body };
}

/** Every decision about sending is ticked off: a button alone is pressed too easily. */
function sure(act: (order: Order) => Promise<ActionDone>): (order: Order) => Promise<ActionDone> {
  return async (order) => {
    if (order.fields.get('sure') === 'yes') return act(order);
    throw new Declined(422, 'Tick the box first: it says what the decision means.');
  };
}
