import type { NamedCells } from '../../../books/sheet.ts';
import type { Banks } from '../../../core/domain/banks.ts';
import { counted } from '../../../core/domain/counted.ts';
import { type Html, html } from '../kit/html.ts';
import { bankText, batchMark } from '../kit/parts.ts';
import type { Item } from './action-groups.ts';
import { amountText, groupedInside, headingTime, localTimes, shortened } from './page-words.ts';

/** In which zone times are shown, and the names of banks where they are known. */
export type Shown = { zone: string; banks?: Banks | undefined };

const mostNamed = 20;

/** What is known of a discrepancy, what to do in full, and the command. Facts that are not known are left out. */
export function discrepancyStory(item: Item, shown: Shown): Html {
  const [row] = item;
  const { zone } = shown;
  return html`<p>${localTimes(row.action ?? '', zone)}</p>\n${item.length > 1 ? groupList(item, zone) : facts(row, shown)}`;
}

function facts(row: NamedCells, { zone, banks }: Shown): Html {
  const who = [
    row.account_name,
    row.account_number && `account ${row.account_number}`,
    row.bank_code && `bank ${bankText(row.bank_code, { banks })}`,
  ];
  const known: [string, Html | string | undefined][] = [
    ['Reference', row.reference],
    // The service's own ids are for a letter to the service.
    ['Transfer id', row.transfer_id],
    ['Trx', row.trx],
    ['Beneficiary', who.filter(Boolean).join(', ')],
    ['Amount', row.amount && amountText(row.currency ?? '', row.amount)],
    ['Evidence', row.evidence && groupedInside(localTimes(row.evidence, zone))],
    [
      'Found',
      `${headingTime(row.first_seen_at ?? '', zone)}, ${counted(BigInt(row.age_days || '0'), 'day')}`,
    ],
    ['Batch', row.batch && batchMark(row.batch)],
    ['Discrepancy', row.discrepancy_id],
  ];
  const list = known.flatMap(([name, value]) =>
    value
      ? [html`<dt>${name}</dt><dd>${typeof value === 'string' ? shortened(value, 400) : value}</dd>`]
      : [],
  );
  return html`<dl>${list}<dt>Command</dt><dd><code>${row.command ?? ''}</code></dd></dl>`;
}

function groupList(item: Item, zone: string): Html {
  const rows = item.slice(0, mostNamed).map((row) => {
    const parts = [
      row.reference,
      row.account_name,
      row.amount && amountText(row.currency ?? '', row.amount),
      `found ${headingTime(row.first_seen_at ?? '', zone)}`,
      row.discrepancy_id,
    ];
    return html`<li>${shortened(parts.filter(Boolean).join(' · '), 200)}</li>`;
  });
  const rest = item.length - rows.length;
  const more =
    rest > 0 && html`<p>… and ${counted(rest, 'more payout', 'more payouts')} in discrepancies.csv.</p>`;
  const command = `counterfoil discrepancies --kind ${item[0].kind ?? ''}`;
  return html`<ul class="group">${rows}</ul>${more}<p><code>${command}</code></p>`;
}
