import { type Html, html } from '../kit/html.ts';
import { addressOf } from './query.ts';

/** A part of a long list: its number, from 1, and whether more follows. */
export type PartOfList = { more: boolean; number: number };

/** The ways to the parts before and behind. `query`: what the list is narrowed to. */
export function pages(
  path: string,
  { more, number }: PartOfList,
  query: Record<string, string> = {},
  [before, after]: readonly [string, string] = ['Newer', 'Older'],
): Html {
  const way = (page: number, name: string): Html =>
    html`<li><a href="${addressOf(path, { ...query, page: `${page}` })}">${name}</a></li>`;
  return html`<nav aria-label="Pages"><ul>${number > 1 && way(number - 1, before)}${more && way(number + 1, after)}</ul></nav>`;
}

/** The way on through a list that is read behind a row. */
export function onwards(address: string | null): Html {
  return html`${address !== null && html`<nav aria-label="Pages"><ul><li><a href="${address}">Older</a></li></ul></nav>`}`;
}
