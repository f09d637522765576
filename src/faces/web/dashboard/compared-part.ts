import { visible } from '../../../core/domain/hidden.ts';
import type { PayeeComparison } from '../../../core/ledger/payee-comparisons.ts';
import {
  amountWarnings,
  comparedText,
  payeeChangeNames,
  shownComparison,
} from '../../../sending/payee-facts.ts';
import { upperFirst } from '../../../words/results/obstacle-words.ts';
import { type Html, html } from '../kit/html.ts';
import { wideTable } from '../kit/table.ts';
import { seesBank, type View } from './frame.ts';
import { panel, sentence, to } from './parts.ts';

/**
 * How a batch differs from the last of its series, with a row for each change (P37). `file`: of a file that is not taken in,
 * which only those see who may see all of it.
 */
export function comparedPart(
  compared: PayeeComparison | null,
  dropper: string,
  view: View,
  { file = false } = {},
): Html {
  if (!compared) return html``;
  const hidden = !file && !seesBank(view);
  const found = shownComparison(compared, { mask: hidden });
  const changes = found.changes.map((one) => [
    String(one.row),
    file ? visible(one.reference) : to(['payouts', one.reference], one.reference),
    payeeChangeNames[one.kind],
    one.kind === 'name_changed' && hidden ? 'hidden' : one.old,
    one.kind === 'name_changed' && hidden ? 'hidden' : one.new,
    dropper,
  ]);
  const columns = [{ number: 'Row' }, 'Reference', 'What', 'Before', 'Now', 'Dropped by'];
  return panel(
    'Compared with last time',
    html`<p>${sentence(upperFirst(comparedText(found)), view)}</p>
${file ? [] : amountWarnings(found).map((text) => html`<p><strong>Warning:</strong> ${sentence(text, view)}</p>`)}
${changes.length > 0 && wideTable('Changed payees', columns, changes)}`,
  );
}
