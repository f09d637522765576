import { records, totalOf } from '../../../books/sheet.ts';
import { grouped } from '../../../core/domain/counted.ts';
import { isUsable, type ListStanding } from '../../../core/domain/verdict.ts';
import { badge, markup } from './page-markup.ts';

const gravity = ['high', 'medium', 'low'];

/** What a run left open, by severity, from its frozen sheet `open`: markup. */
export function runOpenMarkup(sheet: string[][] | undefined, list: ListStanding | null): string {
  if (sheet === undefined) return 'not counted';
  const open = records(sheet).filter(({ state }) => state === 'open');
  const parts = gravity.flatMap((severity) => {
    const count = totalOf(open.filter((one) => one.severity === severity));
    return count > 0n ? [markup(badge(severity, `${grouped(`${count}`)} ${severity}`))] : [];
  });
  if (!isUsable(list)) parts.push(parts.length > 0 ? 'others not checked' : 'not checked');
  return parts.length > 0 ? parts.join(' ') : 'none';
}
