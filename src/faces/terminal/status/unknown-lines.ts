import { counted } from '../../../core/domain/counted.ts';
import type { Named } from '../../../sending/attention.sql.ts';
import { plainCause } from '../../../words/plain-words.ts';
import { firstOf } from '../../../words/row-messages.ts';

/** The payouts that may be paid, by reference, and what to do; empty if there are none. */
export function unknownLines({ count, first }: Named): string[] {
  if (count === 0) return [];
  const [only] = first;
  if (count === 1 && only)
    return [
      `  ! ${only.reference} is unknown: ${causeOf(only.why)}. It may be paid.`,
      '    Do not pay it another way. The next reconcile asks the service again.',
    ];
  const names = first.map(({ reference }) => reference);
  const others = Array.from({ length: count - names.length }, () => '');
  return [
    `  ! ${counted(count, 'payout')} are unknown: they may be paid. Do not pay them another way.`,
    `    ${firstOf([...names, ...others])}`,
    '    The next reconcile asks the service again.',
  ];
}

/** The cause without its technical part, which `show` has. */
function causeOf(message: string): string {
  return plainCause(message).replace(/ \([^()]*\)$/, '') || 'no clear answer came';
}

/** Payouts held just before sending, because they would have been paid twice; each with its reason. */
export function withheldLines(count: number, first: readonly { reference: string; why: string }[]): string[] {
  const rest = count - first.length;
  return [
    ...first.map(({ reference, why }) => `  held: ${reference}: ${why}`),
    ...(rest > 0 ? [`  and ${rest} more like these`] : []),
  ];
}
