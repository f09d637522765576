import { onDesk } from '../../../words/desk-words.ts';
import { html } from '../kit/html.ts';
import { deskLinks } from './frame.ts';

/** No header of its own, as the page has one; and its own style, as that of an old page may lack it. */
const bar =
  html`<div style="max-width:1228px;margin:0 auto;padding:12px 24px 0">${deskLinks('/reports/')}</div>\n`.toString();

/** Where a page begins: behind the link that skips to its content. */
const beginning = /<body>\n(?:<a class="skip"[^\n]*\n)?/;

/** Commands for which the desk has a page. */
const pages: readonly (readonly [command: RegExp, link: string])[] = [
  [/<dt>Command<\/dt>/g, '<dt>See</dt>'],
  [/<code>counterfoil show ([\w-]+)<\/code>/g, '<a href="/payouts/$1">its page</a>'],
  [
    /<code>counterfoil discrepancies --kind (\w+)<\/code>/g,
    '<a href="/discrepancies?kind=$1">the list of them</a>',
  ],
  [/<code>counterfoil discrepancies[^<]*<\/code>/g, '<a href="/discrepancies">the list of discrepancies</a>'],
  [/<code>counterfoil reconcile<\/code>/g, '<a href="/runs">“Reconcile now”</a>'],
];

/** A report page for a reader at the desk: with the ways back to it, and without commands. The file on disk keeps its own text. */
export function deskReport(page: string): string {
  const linked = pages.reduce((text, [command, link]) => text.replaceAll(command, link), page);
  // A quote needs no escape between tags, and a command is known by it.
  const named = linked.replaceAll(
    /<span data-batch="([^"]*)">([^<]*)<\/span>/g,
    '<a href="/batches/$1">$2</a>',
  );
  const worded = named.replaceAll(/>[^<]*\bcounterfoil [^<]*</g, (text) =>
    onDesk(text.replaceAll('&#34;', '"')),
  );
  return worded.replace(beginning, (begin) => `${begin}${bar}`);
}
