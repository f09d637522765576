import { decimalsOf, type NamedCells, records, totalOf } from '../../../books/sheet.ts';
import { counted, grouped } from '../../../core/domain/counted.ts';
import { isReplaced, replacedStates } from '../../../core/domain/payout.ts';
import { isUsable, type ListStanding } from '../../../core/domain/verdict.ts';
import { stateWords } from '../../../words/state-words.ts';
import { type Html, html } from '../kit/html.ts';
import { amountText } from './page-words.ts';

/** The currencies that a tile names; the rest are counted. */
const mostNamed = 3;

/** A tile's payouts are those in these states; null: all whose money counts here. */
const tiles: [string, string[] | null][] = [
  ['Ordered', null],
  ['Paid', ['success']],
  ['In flight', ['sending', 'pending']],
  ['Unknown', ['unknown']],
  ['Failed or refused', ['failed', 'refused']],
];
/** What no tile but the first counts, so that a reader can add them up. */
const besides: [string, string[]][] = [
  ['not sent yet', ['held', 'ready']],
  ['cancelled', ['cancelled']],
  ['came back after they were paid', ['returned']],
];

/** How many payouts stand where and how much that is, then what needs a person. */
export function tileSection(sheets: Record<string, string[][]>, list: ListStanding | null): Html {
  const rows = records(sheets.states);
  const among = (states: string[] | null): NamedCells[] =>
    rows.filter(({ state = '' }) => (states === null ? !isReplaced(state) : states.includes(state)));
  const money =
    sheets.states === undefined ? [] : tiles.map(([name, states]) => stateTile(name, among(states)));
  const others = besides.flatMap(([what, states]) => {
    const some = among(states);
    return some.length === 0 ? [] : [`${grouped(`${totalOf(some)}`)} ${what} (${amounts(some).join(', ')})`];
  });
  const again = replacedStates.flatMap((state) => {
    const some = among([state]);
    return some.length === 0
      ? []
      : [`${grouped(`${totalOf(some)}`)} ${stateWords[state]} (${amounts(some).join(', ')})`];
  });
  const notes = [
    ...(others.length > 0 ? [`Also ordered: ${others.join('; ')}.`] : []),
    ...(again.length > 0 ? [`Under another reference, where each counts: ${again.join('; ')}.`] : []),
  ].map((text) => html`<p class="soft">${text}</p>\n`);
  return html`<section id="totals" aria-label="Totals">\n<div class="tiles">\n${money}${actionTile(sheets, list)}</div>\n${notes}</section>\n`;
}

function stateTile(name: string, rows: NamedCells[]): Html {
  return tile(name, grouped(`${totalOf(rows)}`), amounts(rows));
}

/** What is open. Without a usable list the number cannot be known, and a zero would be false. */
function actionTile(sheets: Record<string, string[][]>, list: ListStanding | null): Html {
  if (sheets.open === undefined) return tile('Needs action', '–', ['not counted']);
  const open = records(sheets.open).filter(({ state }) => state === 'open');
  const count = totalOf(open);
  const unchecked = isUsable(list) ? [] : [count === 0n ? 'no list to compare with' : 'others not checked'];
  const value = count === 0n && unchecked.length > 0 ? 'not checked' : grouped(`${count}`);
  const ages = records(sheets.action).map((row) => Number(row.age_days));
  const oldest = ages.length > 0 ? [`oldest ${counted(Math.max(...ages), 'day')}`] : [];
  return tile('Needs action', value, [...amounts(open), ...oldest, ...unchecked]);
}

function tile(name: string, value: string, small: string[]): Html {
  const lines = small.map((line) => html`<small>${line}</small>`);
  return html`<div class="tile"><span>${name}</span> <strong>${value}</strong>${lines}</div>\n`;
}

/** The amount of each currency; currencies are never added together. */
function amounts(rows: NamedCells[]): string[] {
  const sums = [...Map.groupBy(rows, ({ currency = '' }) => currency)]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .map(([currency, some]) => amountText(currency, decimalsOf(some)));
  const more = sums.length - mostNamed;
  if (more <= 0) return sums;
  return [...sums.slice(0, mostNamed), `and ${counted(more, 'more currency', 'more currencies')}`];
}
