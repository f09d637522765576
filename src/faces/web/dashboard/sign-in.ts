import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { RouteDeps } from '../../admin/admin-server.ts';
import { type Html, html } from '../kit/html.ts';
import { Declined } from './actions.ts';
import { dashboardBanner } from './parts.ts';
import type { Shared } from './shared.ts';

/** Whether a person reads the answer in a browser. */
export function isBrowser({ headers }: FastifyRequest): boolean {
  return (headers.accept ?? '').includes('text/html');
}

/** The form of `/signin`. `back`: the page of this server that asked for it. */
export function signInForm(back = '/'): Html {
  return html`<form class="decide" method="post" action="/signin">
<input type="hidden" name="back" value="${back}">
<input name="username" value="counterfoil" autocomplete="username" hidden>
<label for="token">Your token<input id="token" name="token" type="password" required autofocus autocomplete="current-password" size="40"></label>
<button class="go">Sign in</button>
</form>
<p class="soft">Tokens are in COUNTERFOIL_ADMIN_TOKENS, each under a name. You are signed out after 30 minutes without a click.</p>`;
}

/** A page with one field, and the way out. */
export function signInRoutes(scope: FastifyInstance, { send }: Shared, admin: RouteDeps): void {
  scope.get<{ Querystring: { back?: string } }>(
    '/signin',
    { config: { right: 'none' } },
    async (request, reply) => {
      const back = pathOnly(request.query.back);
      if (request.caller.kind === 'token') return reply.redirect(back, 303);
      const main = html`<h1>Sign in</h1>${signInForm(back)}`;
      return send(request, reply, { title: 'Sign in', main, renews: 'still' });
    },
  );
  scope.post('/signin', { config: { right: 'none' } }, async (request, reply) => {
    if (!(request.body instanceof URLSearchParams)) throw new Declined(422, 'Use the form of this page.');
    const cookie = admin.signIn(request, (request.body.get('token') ?? '').trim());
    return reply.header('set-cookie', cookie).redirect(pathOnly(request.body.get('back')), 303);
  });
  scope.post('/signout', { config: { right: 'none' } }, async (request, reply) => {
    reply.header('set-cookie', admin.signOut(request));
    request.caller = { kind: 'nobody' };
    const main = dashboardBanner(
      'none',
      'You are signed out',
      html`<p><a href="/signin">Sign in again</a></p>`,
    );
    return send(request, reply, { title: 'Signed out', main, renews: 'still' });
  });
}

/** A path of this server; anything else would lead the person elsewhere. */
function pathOnly(path: string | null | undefined): string {
  return path !== null && path !== undefined && /^\/(?![/\\])[\x21-\x7e]*$/.test(path) ? path : '/';
}
