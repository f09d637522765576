import type { TopLevelSpec } from 'vega-lite';
import { ageBuckets } from '../../../books/ageing.ts';
import { counted, grouped } from '../../../core/domain/counted.ts';
import { isReplaced } from '../../../core/domain/payout.ts';
import { bankText } from '../kit/parts.ts';
import { ageingSpec, type Bar, barsSpec, type WaterfallStep, waterfallSpec } from './charts-money.ts';
import { figure, numberColumn, type Part, textColumn } from './page-figure.ts';
import { amountText, plainKind, shortened } from './page-words.ts';

/** From what was ordered to what was paid: what each state takes away, in this order. */
const takenOff: [string, string[]][] = [
  ['not sent yet', ['held', 'ready']],
  ['cancelled', ['cancelled']],
  ['refused', ['refused']],
  ['failed', ['failed']],
  ['in flight', ['sending', 'pending']],
  ['unknown', ['unknown']],
  ['came back', ['returned']],
];

export const statePart: Part = async (rows, { currency, id, draw }) => {
  const minors = rows.map((row) => ({
    state: row.state ?? '',
    minor: BigInt((row.amount ?? '0').replace('.', '')),
  }));
  const digits = (rows[0]?.amount ?? '').split('.')[1]?.length ?? 0;
  const sum = (states: string[] | null): bigint =>
    minors.reduce(
      (all, row) =>
        all + ((states === null ? !isReplaced(row.state) : states.includes(row.state)) ? row.minor : 0n),
      0n,
    );
  const text = (minor: bigint): string => {
    const plain = `${minor}`.padStart(digits + 1, '0');
    return grouped(digits === 0 ? plain : `${plain.slice(0, -digits)}.${plain.slice(-digits)}`);
  };
  const draws = (minor: bigint): number => Number(minor) / 10 ** digits;
  const [ordered, paid] = [sum(null), sum(['success'])];
  const steps: WaterfallStep[] = [
    { step: 'ordered', from: 0, to: draws(ordered), kind: 'total', label: text(ordered) },
  ];
  let left = ordered;
  for (const [step, states] of takenOff) {
    const minor = sum(states);
    if (minor === 0n) continue;
    steps.push({
      step: `− ${step}`,
      from: draws(left - minor),
      to: draws(left),
      kind: 'less',
      label: `−${text(minor)}`,
    });
    left -= minor;
  }
  steps.push({ step: 'paid', from: 0, to: draws(paid), kind: 'total', label: text(paid) });
  const unknown = sum(['unknown']);
  const summary =
    `Of ${currency} ${text(ordered)} ordered, ${currency} ${text(paid)} is paid.` +
    (unknown > 0n
      ? ` ${currency} ${text(unknown)} is unknown: it may be paid, so do not pay it another way.`
      : '');
  const columns = [
    textColumn('State', 'state'),
    numberColumn('Payouts', 'count'),
    numberColumn(`Amount (${currency})`, 'amount'),
  ];
  // Where nothing was taken off, two equal bars would show nothing.
  const spec = steps.length > 2 ? waterfallSpec(steps) : null;
  const told = { id, currency, title: 'from ordered to paid', summary, columns, rows };
  return [await figure(draw, spec, told)];
};

export const agePart: Part = async (rows, { currency, id, draw }) => {
  const kinds = rows.map((row) => ({
    kind: plainKind(row.kind ?? ''),
    bucket: row.bucket ?? '',
    count: Number(row.count),
  }));
  const all = kinds.reduce((sum, { count }) => sum + count, 0);
  const old = kinds.reduce(
    (sum, { bucket, count }) => sum + (bucket === '8-30' || bucket === '31+' ? count : 0),
    0,
  );
  const ages = new Set(kinds.map(({ bucket }) => bucket));
  const [only = ''] = ages;
  const howOld = ages.size === 1 ? `for ${only} days` : `${grouped(`${old}`)} of them for 8 days or more`;
  const summary = `${counted(all, 'discrepancy', 'discrepancies')} open or acknowledged, ${howOld}.`;
  const columns = [
    textColumn('Kind', ({ kind = '' }) => plainKind(kind)),
    textColumn('Days open', 'bucket'),
    numberColumn('Discrepancies', 'count'),
    numberColumn(`Amount (${currency})`, 'amount'),
  ];
  const spec = ages.size > 1 ? ageingSpec(kinds, ageBuckets) : null;
  return [await figure(draw, spec, { id, currency, title: 'ageing of open items', summary, columns, rows })];
};

export const reasonPart: Part = async (rows, { currency, id, draw }) => {
  const all = rows.reduce((sum, row) => sum + Number(row.count), 0);
  const [first] = rows;
  const summary = `${counted(all, 'payout')} failed, refused or returned${rows.length > 1 ? `; most often (${grouped(first?.count ?? '0')})` : ''}: ${shortened(first?.reason ?? '', 80)} (${first?.state}).`;
  const bars = rows.map((row, index) => ({
    // Two long reasons may start alike: the number in front separates them, and points to the table's row.
    name: `${index + 1}. ${shortened(`${row.state}: ${row.reason}`, 26)}`,
    value: Number(row.count),
    label: grouped(row.count ?? ''),
  }));
  const columns = [
    textColumn('Reason', ({ reason }, index) => `${index + 1}. ${reason}`),
    textColumn('State', 'state'),
    numberColumn('Payouts', 'count'),
    numberColumn(`Amount (${currency})`, 'amount'),
  ];
  const title = 'why payouts were not paid';
  return [await figure(draw, barsOf(bars, 'payouts'), { id, currency, title, summary, columns, rows })];
};

export const bankPart: Part = async (rows, { currency, id, draw, banks }) => {
  const [first] = rows;
  const name = (row: Record<string, string> | undefined): string =>
    shortened(bankText(row?.bank_code ?? '', { banks }), 26);
  const summary = `${rows.length > 1 ? 'Most at' : 'All at'} bank ${name(first)}: ${grouped(first?.count ?? '0')} of ${counted(BigInt(first?.submitted ?? '0'), 'payout')} sent to it, ${amountText(currency, first?.amount ?? '')}.`;
  const bars = rows.map((row) => ({
    name: name(row),
    value: Number(row.count),
    label: grouped(row.count ?? ''),
  }));
  const columns = [
    textColumn('Bank', ({ bank_code: code = '' }) => bankText(code, { banks })),
    numberColumn('Failures', 'count'),
    numberColumn(`Amount (${currency})`, 'amount'),
    numberColumn('Sent', 'submitted'),
  ];
  const title = 'failures by bank';
  return [
    await figure(draw, barsOf(bars, 'payouts not paid'), { id, currency, title, summary, columns, rows }),
  ];
};

/** One bar compares with nothing. */
function barsOf(bars: Bar[], title: string): TopLevelSpec | null {
  return bars.length > 1 ? barsSpec(bars, title) : null;
}
