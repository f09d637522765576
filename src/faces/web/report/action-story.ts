import type { NamedCells } from '../../../books/sheet.ts';
import { counted } from '../../../core/domain/counted.ts';
import type { Item } from './action-groups.ts';
import { escapeHtml } from './page-markup.ts';
import { amountText, groupedInside, headingTime, localTimes, shortened } from './page-words.ts';

const mostNamed = 20;

/** What is known of a discrepancy, what to do in full, and the command. Facts that are not known are left out. */
export function discrepancyStory(item: Item, zone: string): string {
  const [row] = item;
  const action = `<p>${escapeHtml(localTimes(row.action ?? '', zone))}</p>`;
  return item.length > 1 ? `${action}\n${groupList(item, zone)}` : `${action}\n${facts(row, zone)}`;
}

function facts(row: NamedCells, zone: string): string {
  const who = [
    row.account_name,
    row.account_number && `account ${row.account_number}`,
    row.bank_code && `bank ${row.bank_code}`,
  ];
  const known: [string, string | undefined][] = [
    ['Reference', row.reference],
    // The service's own ids are for a letter to the service.
    ['Transfer id', row.transfer_id],
    ['Trx', row.trx],
    ['Beneficiary', who.filter(Boolean).join(', ')],
    ['Amount', row.amount && amountText(row.currency ?? '', row.amount)],
    ['Evidence', row.evidence && groupedInside(localTimes(row.evidence, zone))],
    [
      'Open since',
      `${headingTime(row.first_seen_at ?? '', zone)}, ${counted(BigInt(row.age_days || '0'), 'day')}`,
    ],
    ['Batch', row.batch],
    ['Discrepancy', row.discrepancy_id],
  ];
  const list = known.flatMap(([name, value]) =>
    value ? [`<dt>${name}</dt><dd>${escapeHtml(shortened(value, 400))}</dd>`] : [],
  );
  return `<dl>${list.join('')}<dt>Command</dt><dd><code>${escapeHtml(row.command ?? '')}</code></dd></dl>`;
}

function groupList(item: Item, zone: string): string {
  const rows = item.slice(0, mostNamed).map((row) => {
    const parts = [
      row.reference,
      row.account_name,
      row.amount && amountText(row.currency ?? '', row.amount),
      `since ${headingTime(row.first_seen_at ?? '', zone)}`,
      row.discrepancy_id,
    ];
    return `<li>${escapeHtml(shortened(parts.filter(Boolean).join(' · '), 200))}</li>`;
  });
  const rest = item.length - rows.length;
  const more =
    rest > 0 ? `<p>… and ${counted(rest, 'more payout', 'more payouts')} in discrepancies.csv.</p>` : '';
  const command = `counterfoil discrepancies --kind ${item[0].kind ?? ''}`;
  return `<ul class="group">${rows.join('')}</ul>${more}<p><code>${escapeHtml(command)}</code></p>`;
}
