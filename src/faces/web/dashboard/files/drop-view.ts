import { type KnownColumn, knownColumn } from '../../../../core/domain/batch-rules.ts';
import { safeCell } from '../../../../core/domain/csv-cell.ts';
import { visible } from '../../../../core/domain/hidden.ts';
import type { Mend } from '../../../../core/ledger/mends.ts';
import { hasRight } from '../../../admin/access.ts';
import { type Html, html } from '../../kit/html.ts';
import { whole } from '../../kit/parts.ts';
import { wideTable } from '../../kit/table.ts';
import { comparedPart } from '../compared-part.ts';
import { form, whoMay } from '../forms.ts';
import { seesBank, type View } from '../frame.ts';
import { countText, dashboardBanner, facts, panel, sentence, time, to } from '../parts.ts';
import { type Drop, type DropCheck, mostMendable } from './drops.ts';

/** Rows of problems on a page. */
const perPage = mostMendable;
const mostShown = 50;
/** A fix of so many characters may repeat. */
const shortFix = 60;

/** Whether the caller may see what is in the file: bank details are for the role `read`, and for its own people. */
export function seesDrop({ caller }: Pick<View, 'caller'>, { by, preparers }: Drop): boolean {
  if (caller.kind !== 'token') return false;
  const own = [by, ...preparers.flatMap(({ name, uid }) => (uid === null ? [name] : []))];
  const isOwn = own.some((name) => name.toLowerCase() === caller.name.toLowerCase());
  return isOwn || seesBank({ caller });
}

/** What the check of a dropped file found, and what a person does with the file. */
export function dropView(
  drop: Drop,
  about: { found: DropCheck | null; batch: string | null; until: string; page: number; everybody: boolean },
  view: View,
): Html {
  const { found, batch } = about;
  const title = visible(drop.name);
  if (batch !== null)
    return html`<h1>${title}</h1>${dashboardBanner(
      'warn',
      'Its content is in a batch already',
      html`<p>It was taken in as ${to(['batches', batch], batch)}, and is not taken in twice.</p>${orders(drop, { isFit: false }, view)}`,
    )}`;
  if (!drop.checked || !found)
    return html`<h1>${title}</h1>${dashboardBanner(
      'none',
      'It is being checked',
      html`<p>Load this page again in a moment. If it stays like this, check it again.</p>${again(drop, view, html``)}`,
    )}`;
  const { check } = found;
  const { ok, problems } = drop.checked;
  const sees = seesDrop(view, drop);
  const left =
    check.skipped > 0
      ? `${countText(check.skipped)} of ${countText(check.rows)} rows have problems and would be left out`
      : null;
  const verdict = ok
    ? dashboardBanner(
        left === null && found.holds.length === 0 ? 'good' : 'warn',
        left ?? (found.holds.length > 0 ? 'It can be taken in, and would be held' : 'It can be taken in'),
        html`<p>Nothing is paid before it is taken in.</p>${orders(drop, { isFit: true }, view)}`,
      )
    : dashboardBanner(
        'bad',
        problems === 1 ? '1 problem' : `${countText(problems)} problems`,
        html`<p>Nothing of it is paid. ${found.cells.length > 0 ? 'Change the cells below and check again, or discard it and mend the file itself.' : 'Mend the file itself, and drop it again.'}</p>${orders(drop, { isFit: false }, view)}`,
      );
  return html`<h1>${title}</h1>
${verdict}
${panel('The file', fileFacts(drop, about.until, check, view))}
${sees ? details(drop, found, about, view) : html`<p>What is in the file is for ${drop.by}, who dropped it. ${whoMay(view, 'read')}</p>`}
${drop.mends.length > 0 && panel('What was changed', mendsTable(drop.mends, sees, view))}`;
}

/** A file of the inbox has its dropper, and the person who took it to the desk. */
function handedBy({ mends, preparers }: Drop): string {
  if (mends.length > 0) return 'Mended by';
  return preparers.some(({ did }) => did === 'dropped') ? 'Taken to be mended by' : 'Dropped by';
}

function fileFacts(drop: Drop, until: string, check: DropCheck['check'], view: View): Html {
  // The sums leave out the rows with problems.
  const totalName = check.problem_count > 0 ? 'Total of the rows without problems' : 'Total';
  const totals = Object.entries(check.totals);
  return facts([
    ['Rows', countText(check.rows)],
    ...totals.map(([currency, total]) => [totalName, sentence(`${currency} ${total}`, view)] as const),
    ['Columns are separated by', check.delimiter ?? 'nothing that is known'],
    [handedBy(drop), html`${drop.by}, ${time(drop.at, view)}`],
    ...drop.preparers.map(({ name, did }) => [did === 'mended' ? 'Mended by' : 'Dropped by', name] as const),
    ['Checked', time(drop.checked?.at ?? null, view)],
    ['Removed, if nobody decides', time(until, view)],
  ]);
}

function details(
  drop: Drop,
  { check, holds, warnings, cells, payees, compared }: DropCheck,
  { page, everybody }: { page: number; everybody: boolean },
  view: View,
): Html {
  const listed = (title: string, texts: readonly string[]): Html =>
    texts.length === 0
      ? html``
      : panel(
          title,
          html`<ul>${texts.slice(0, mostShown).map((text) => html`<li>${sentence(visible(text), view)}</li>`)}</ul>${
            texts.length > mostShown && html`<p>and ${countText(texts.length - mostShown)} more</p>`
          }`,
        );
  const alike = check.duplicates
    .slice(0, mostShown)
    .map(({ row, reference, earlier }) => [String(row), whole(visible(reference)), visible(earlier)]);
  return html`${comparedPart(compared, drop.by, view, { nameOf: ({ row }) => payees[row], everybody })}
${check.problems.length > 0 && panel('Problems', problemsForm(drop, { check, cells, payees }, page, view))}
${listed('It would be held', holds)}
${listed('It would wait', check.waits)}
${listed('Warnings', warnings)}
${alike.length > 0 && panel('Possible duplicates', html`${wideTable('Possible duplicates', [{ number: 'Row' }, 'Reference', 'Looks like'], alike)}${check.duplicates.length > mostShown && html`<p>and ${countText(check.duplicates.length - mostShown)} more</p>`}`)}`;
}

function problemsForm(
  drop: Drop,
  { check, cells, payees }: Pick<DropCheck, 'check' | 'cells' | 'payees'>,
  page: number,
  view: View,
): Html {
  const { problems, problem_count: count } = check;
  const from = (page - 1) * perPage;
  const mends = hasRight(view.caller, 'drop');
  const columns = [{ number: 'Row' }, 'Payee', 'Column', 'Value', 'What is wrong', 'How to mend it'];
  const open = new Map(cells.map((cell) => [`${cell.row} ${cell.column}`, cell]));
  const firstRows = new Map<string, number>();
  const rows = problems.slice(from, from + perPage).map(({ row, column, value, problem, fix }) => {
    const key = `${row} ${column}`;
    const cell = page === 1 && mends ? open.get(key) : undefined;
    // The first problem of a cell has its field.
    open.delete(key);
    const field =
      cell &&
      html`<input name="cell-${cell.row}.${cell.index}" value="${visible(cell.text)}" aria-label="Row ${row}, ${column}" autocomplete="off" spellcheck="false">`;
    return [
      row === 0 ? 'the file' : String(row),
      { content: visible(payees[row] ?? ''), look: 'payee' },
      visible(column),
      field ?? whole(visible(value)),
      problem,
      fixOnce(fix, row, firstRows),
    ];
  });
  const path = `/files/checks/${drop.id}`;
  const more = count > problems.length ? ` The list has the first ${countText(problems.length)}.` : '';
  const many =
    count > perPage
      ? html`<p>The first ${perPage} problems can be mended here. Mend the others in the file itself.${more}</p>`
      : html``;
  const links = [
    ...(page > 1 ? [[page - 1, 'Earlier problems'] as const] : []),
    ...(from + perPage < problems.length ? [[page + 1, 'More problems'] as const] : []),
  ].map(([number, name]) => html`<li><a href="${path}?page=${number}">${name}</a></li>`);
  const table = html`${wideTable('Problems', columns, rows)}${links.length > 0 && html`<nav aria-label="Pages"><ul>${links}</ul></nav>`}`;
  return html`<p class="screen"><a href="${path}/errors.csv">Download the problems (CSV)</a></p>${many}${mends ? again(drop, view, table) : table}`;
}

/** A long way to mend stands beside the first row of a page that needs it; the others name that row. */
function fixOnce(fix: string, row: number, firstRows: Map<string, number>): string {
  const first = firstRows.get(fix);
  if (first !== undefined && fix.length > shortFix) return `as for row ${first}`;
  if (first === undefined) firstRows.set(fix, row);
  return fix;
}

/** The form that checks the file again, with what was changed in `content`. */
function again(drop: Drop, view: View, content: Html): Html {
  const button = form(view, {
    action: `/files/checks/${drop.id}/mend`,
    role: 'drop',
    fields: [],
    buttons: [{ name: 'Check again' }],
    content,
  });
  return html`<div class="mend">${button}</div>`;
}

/** The buttons of a file: take it in, discard it. */
function orders(drop: Drop, { isFit }: { isFit: boolean }, view: View): Html {
  const path = `/files/checks/${drop.id}`;
  const hidden = (name: string, value: string) => ({ kind: 'hidden' as const, name, value });
  const fields = [hidden('digest', drop.sha256), hidden('content', drop.checked?.content ?? '')];
  if (!seesDrop(view, drop)) return html``;
  const content = html`<label>Do not send before (optional) <input type="date" name="pay_on" aria-describedby="pay-on"></label>
<p class="soft" id="pay-on">Empty: it goes as soon as it may. A row with a day of its own in the column pay_on keeps that day.</p>`;
  const take = { action: `${path}/take`, role: 'drop' as const, fields, content };
  return html`<div class="orders">${isFit && form(view, { ...take, buttons: [{ name: 'Take it in' }] })}${form(
    view,
    { action: `${path}/discard`, role: 'drop', fields: [], buttons: [{ name: 'Discard', plain: true }] },
  )}</div>`;
}

/** Columns that hold no bank details: `read` is not needed to see what was changed there. */
const open: ReadonlySet<KnownColumn | null> = new Set(['reference', 'amount', 'currency', 'type', 'pay_on']);

/** Who changed which cell, from what to what. `sees`: also where bank details stand. */
export function mendsTable(mends: readonly Mend[], sees: boolean, view: View): Html {
  return wideTable(
    'Changed cells',
    [{ number: 'Row' }, 'Column', 'Was', 'Became', 'By'],
    mends.map(({ row, column, was, became, by, at }) => [
      String(row),
      visible(column),
      ...[was, became].map((text) =>
        sees || open.has(knownColumn(column)) ? whole(visible(text)) : 'hidden',
      ),
      html`${by}, ${time(at, view)}`,
    ]),
  );
}

/** The problems as cells of a CSV file. */
export function problemCells({ check }: DropCheck): string[][] {
  return [
    ['row', 'column', 'value', 'problem', 'fix'],
    ...check.problems.map(({ row, column, value, problem, fix }) => [
      row === 0 ? '' : String(row),
      ...[column, value, problem, fix].map(safeCell),
    ]),
  ];
}
