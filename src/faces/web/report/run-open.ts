import { records, totalOf } from '../../../books/sheet.ts';
import { grouped } from '../../../core/domain/counted.ts';
import { isUsable, type ListStanding } from '../../../core/domain/verdict.ts';
import { type Html, html } from '../kit/html.ts';
import { badge, separated } from '../kit/parts.ts';

const gravity = ['high', 'medium', 'low'];

/** What a run left open, by severity, from its frozen sheet `open`. */
export function runOpenMarkup(sheet: string[][] | undefined, list: ListStanding | null): Html {
  if (sheet === undefined) return html`not counted`;
  const open = records(sheet).filter(({ state }) => state === 'open');
  const parts = gravity.flatMap((severity) => {
    const count = totalOf(open.filter((one) => one.severity === severity));
    return count > 0n ? [badge(severity, `${grouped(`${count}`)} ${severity}`)] : [];
  });
  if (!isUsable(list)) parts.push(parts.length > 0 ? html`others not checked` : html`not checked`);
  return parts.length > 0 ? separated(parts, ' ') : html`none`;
}
