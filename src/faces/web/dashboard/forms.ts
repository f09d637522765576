import { createHmac, randomBytes, timingSafeEqual } from 'node:crypto';
import type { Clock } from '../../../core/runtime/clock.ts';
import type { Role } from '../../../core/settings/settings-schema.ts';
import { upperFirst } from '../../../words/results/obstacle-words.ts';
import { askFor } from '../../../words/who-may.ts';
import { type Caller, hasRight } from '../../admin/access.ts';
import { type Html, html } from '../kit/html.ts';
import type { View } from './frame.ts';

/** How many decisions a minute one person may post. */
const mostPosts = 30;
const windowMs = 60_000;

export type Forms = ReturnType<typeof createForms>;

/** Guards the forms: a token bound to the person by a key that only this process has, and a limit on their number. */
export function createForms(clock: Pick<Clock, 'monotonic'>) {
  const key = randomBytes(32);
  const posts = new Map<string, { beganMs: number; count: number }>();
  const sign = (name: string): Buffer => createHmac('sha256', key).update(name).digest();
  return {
    /** The token for forms of this caller; null for one without a name. It is worth nothing after a restart. */
    tokenFor: (caller: Caller) => (caller.kind === 'token' ? sign(caller.name).toString('base64url') : null),
    /** Whether a form came from a page of this server that was made for this person. */
    isOurs(name: string, token: string | null): boolean {
      const given = Buffer.from(token ?? '', 'base64url');
      const own = sign(name);
      return given.length === own.length && timingSafeEqual(given, own);
    },
    /** Counts a decision. Seconds until this person may decide again; 0: now. */
    waitSeconds(name: string): number {
      const nowMs = clock.monotonic();
      const last = posts.get(name);
      const turn = last && nowMs - last.beganMs < windowMs ? last : { beganMs: nowMs, count: 0 };
      posts.set(name, turn);
      turn.count += 1;
      return turn.count > mostPosts ? Math.max(1, Math.ceil((turn.beganMs + windowMs - nowMs) / 1000)) : 0;
    },
  };
}

/** The person behind a decision: the name of the token. */
export function callerName(caller: Caller): string {
  if (caller.kind !== 'token') throw new Error('a decision without a name');
  return caller.name;
}

type Field =
  | { kind: 'hidden'; name: string; value: string }
  | { kind: 'sure'; label: string }
  | { kind: 'note'; label: string; id: string; required: boolean };

type Order = {
  /** The name by which fields outside the form belong to it. */
  id?: string;
  action: string;
  /** The role that the order needs; `decide` unless it is named. */
  role?: Role;
  fields: readonly Field[];
  /** What stands between the fields and the buttons. */
  content?: Html;
  /** `value`: a field that this button adds. `plain`: not the button that a person usually presses. */
  buttons: readonly {
    name: string;
    to?: string;
    value?: readonly [string, string];
    plain?: boolean;
  }[];
};

/** What a reader does who may not: sign in, or ask those who have the role. `not`: people who may not in this case. */
export function whoMay({ holders, formToken }: View, role: Role, not?: (name: string) => boolean): Html {
  if (formToken === null) return html`<a href="/signin">Sign in</a>: this needs a token.`;
  return html`${upperFirst(askFor(role, holders(role), not))}.`;
}

/** A form that posts to `action`; for a reader who may not order that, what it takes instead. */
export function form(view: View, order: Order): Html {
  const { role = 'decide' } = order;
  if (view.formToken === null || !hasRight(view.caller, role))
    return html`<p class="soft">${whoMay(view, role)}</p>`;
  return html`<form class="decide"${order.id !== undefined && html` id="${order.id}"`} method="post" action="${order.action}">
<input type="hidden" name="form" value="${view.formToken}">
${order.fields.map(fieldOf)}${order.content ?? ''}
${order.buttons.map((one, index) => html`<button${index === 0 && one.plain !== true && html` class="go"`}${one.to !== undefined && html` formaction="${one.to}"`}${one.value !== undefined && html` name="${one.value[0]}" value="${one.value[1]}"`}>${one.name}</button>`)}
</form>`;
}

/** A decision behind its name: a box that says what it means, and one button. */
export function decision(
  view: View,
  {
    shown = [],
    ...about
  }: {
    id: string;
    name: string;
    action: string;
    sure: string;
    /** The marks of what the person sees and decides about. */
    shown?: readonly string[];
  },
): Html {
  const { id, name, action, sure } = about;
  return html`<details id="${id}"><summary>${name}…</summary>${form(view, {
    action,
    fields: [
      ...(shown.length > 0 ? [{ kind: 'hidden' as const, name: 'shown', value: shown.join(' ') }] : []),
      { kind: 'sure', label: sure },
    ],
    buttons: [{ name }],
  })}</details>`;
}

function fieldOf(field: Field): Html {
  switch (field.kind) {
    case 'hidden':
      return html`<input type="hidden" name="${field.name}" value="${field.value}">`;
    case 'sure':
      return html`<label><input type="checkbox" name="sure" value="yes" required>${field.label}</label>`;
    case 'note':
      return html`<label for="${field.id}">${field.label}<textarea id="${field.id}" name="note" rows="2" maxlength="2000"${field.required && html` required`}></textarea></label>`;
  }
}
