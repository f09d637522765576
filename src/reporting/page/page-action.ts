import { counted, grouped } from '../../domain/counted.ts';
import { isUsable, type ListStanding } from '../../domain/verdict.ts';
import type { RunVerdict } from '../run-verdicts.sql.ts';
import { records } from '../sheet.ts';
import { badge, escapeHtml, markup, type Piece, paragraph, section, table } from './page-markup.ts';
import { amountText, localTimes, plainKind, shortened, when } from './page-words.ts';
import { listWords } from './verdict-words.ts';

type Row = Record<string, string>;
export type ActionSheets = { action?: string[][]; open?: string[][]; halt?: string[][] };

/** How many are listed one by one; the rest are counted. */
const shown = 40;
const gravity = ['high', 'medium', 'low'];

/** `list`: how far the run's list can be used; `trouble`: why it cannot be compared. */
type About = {
  zone: string;
  list: ListStanding | null;
  verdicts: readonly RunVerdict[];
  trouble: string | null;
};

/** What needs a person: a halt, an unusable list, then open discrepancies, the gravest first. */
export function actionSection(sheets: ActionSheets, about: About): string {
  const open = records(sheets.open).filter((row) => row.state === 'open');
  const acknowledged = total(records(sheets.open).filter((row) => row.state === 'acknowledged'));
  const parts = [
    ...records(sheets.halt).map((row) => haltCard(row, about.zone)),
    isUsable(about.list) ? '' : troubleCard(about),
    overturnedPart(about.verdicts),
    sheets.action === undefined
      ? paragraph('This run was made before figures were kept: see discrepancies.csv for what is open.')
      : openPart(sheets, open, about),
    acknowledged > 0n
      ? paragraph(
          `${counted(acknowledged, 'discrepancy', 'discrepancies')} more acknowledged: somebody is at work on them.`,
        )
      : '',
  ];
  return section('action', 'What needs action', parts.join(''));
}

/** Payouts that were reported as paid and are not. They come before all other open items. */
function overturnedPart(verdicts: readonly RunVerdict[]): string {
  const named = verdicts
    .filter(({ overturned }) => overturned > 0n)
    .map(({ currency, overturned }) => `${counted(overturned, 'payout')} in ${currency}`);
  if (named.length === 0) return '';
  return paragraph({
    html: `<strong class="bad">Reported as paid, failed at the service:</strong> ${escapeHtml(named.join(', '))}.`,
  });
}

function openPart(sheets: ActionSheets, open: Row[], { zone, list }: About): string {
  const count = total(open);
  const notChecked = isUsable(list)
    ? ''
    : paragraph({
        html: '<strong>Not checked:</strong> without a list to compare with, this run could not look for discrepancies.',
      });
  if (count === 0n)
    return (
      notChecked ||
      paragraph({
        html: '<span class="good">Nothing is open:</span> no discrepancy waits for a person.',
      })
    );
  const rows = records(sheets.action).slice(0, shown);
  const rest = count - BigInt(rows.length);
  const cards = rows.map((row) => `<li>${card(row, zone)}</li>\n`).join('');
  const more =
    rest > 0n
      ? paragraph(
          `… and ${grouped(rest.toString())} more in discrepancies.csv, in the same folder as this page.`,
        )
      : '';
  const closing =
    'When one is dealt with, close it: counterfoil discrepancies resolve ID, with --note and what was found out.';
  return `${notChecked}${summary(open, count)}<ol class="cards">\n${cards}</ol>\n${more}${paragraph({ html: `<span class="soft">${escapeHtml(closing)}</span>` })}`;
}

function summary(open: Row[], count: bigint): string {
  const groups = Map.groupBy(open, (row) => `${row.severity}\n${row.kind}`);
  const rows = [...groups.values()]
    .toSorted(
      (a, b) =>
        gravity.indexOf(a[0]?.severity ?? '') - gravity.indexOf(b[0]?.severity ?? '') ||
        Number(total(b) - total(a)) ||
        ((a[0]?.kind ?? '') < (b[0]?.kind ?? '') ? -1 : 1),
    )
    .map((group): Piece[] => {
      const amounts = group
        .toSorted((a, b) => ((a.currency ?? '') < (b.currency ?? '') ? -1 : 1))
        .map((row) => amountText(row.currency ?? '', row.amount ?? ''));
      const { severity = '', kind = '' } = group[0] ?? {};
      return [
        plainKind(kind),
        badge(severity, plainKind(severity)),
        grouped(`${total(group)}`),
        amounts.join(' · '),
      ];
    });
  return (
    paragraph({
      html: `<strong>${escapeHtml(counted(count, 'discrepancy', 'discrepancies'))} open.</strong>`,
    }) +
    table(
      'Open discrepancies by kind',
      [{ name: 'Kind' }, { name: 'Severity' }, { name: 'Open', number: true }, { name: 'Money concerned' }],
      rows,
    )
  );
}

function card(row: Row, zone: string): string {
  const { severity = '', kind = '', age_days: age = '', currency = '' } = row;
  const level = gravity.includes(severity) ? ` is-${severity}` : '';
  const who = [
    row.account_name,
    row.account_number && `account ${row.account_number}`,
    row.bank_code && `bank ${row.bank_code}`,
  ];
  const difference = row.difference ? `; difference ${row.difference}` : '';
  const facts: [string, Piece][] = [
    ['Reference', row.reference ? shortened(row.reference) : 'none'],
    ...namedByService(row),
    ['Who', shortened(who.filter(Boolean).join(', ')) || 'not known'],
    ['How much', row.amount ? amountText(currency, row.amount) : 'not known'],
    ['What', shortened(`expected ${row.expected || '–'}; found ${row.actual || '–'}${difference}`, 300)],
    ['How old', `${counted(BigInt(age || '0'), 'day')}, since ${when(row.first_seen_at ?? '')}`],
    ['Batch', row.batch || 'none'],
    ['Command', { html: `<code>${escapeHtml(row.command ?? '')}</code>` }],
  ];
  const list = facts.map(([name, value]) => `<dt>${name}</dt><dd>${markup(value)}</dd>`).join('');
  return `<article class="card${level}"><h3>${markup(badge(severity, plainKind(severity)))}: ${escapeHtml(plainKind(kind))} <span class="soft">${escapeHtml(row.discrepancy_id ?? '')}</span></h3>
<p><strong>${escapeHtml(localTimes(row.action ?? '', zone))}</strong></p>
<dl>${list}</dl></article>`;
}

/** The service's own ids, for a letter to the service; absent when not known. */
function namedByService(row: Row): [string, Piece][] {
  const names = { 'Transfer id': row.transfer_id, Trx: row.trx };
  return Object.entries(names).flatMap(([what, value]) => (value ? [[what, shortened(value)]] : []));
}

function haltCard(row: Row, zone: string): string {
  const cause = localTimes(row.cause ?? '', zone);
  // A ledger barrier says itself how to lift it.
  const way = row.kinds === 'barrier' ? '' : ' When the cause is gone: counterfoil release --mode.';
  return `<div class="card is-high"><h3>${markup(badge('high', 'Sending is halted'))}</h3>
<p>Since ${escapeHtml(when(row.since ?? ''))}: ${escapeHtml(cause)}.${way} counterfoil status says whether it still stands.</p></div>\n`;
}

function troubleCard({ zone, list, trouble }: About): string {
  const why = trouble ?? 'the reason is not known';
  return `<div class="card is-high"><h3>${markup(badge('high', listWords[list ?? 'unread']))}</h3>
<p>${escapeHtml(sentence(localTimes(why, zone)))} The statement was not compared with it. Run <code>counterfoil reconcile</code> again.</p></div>\n`;
}

/** Ends with a full stop where no other mark ends it. */
function sentence(text: string): string {
  return /[.?!]$/.test(text) ? text : `${text}.`;
}

function total(rows: Row[]): bigint {
  return rows.reduce((sum, row) => sum + BigInt(row.count ?? '0'), 0n);
}
