import type { App } from '../app/app.ts';
import { listOpen } from '../books/discrepancies/discrepancies.sql.ts';
import { paidSums } from '../books/overview.sql.ts';
import { amountText, counted } from '../core/domain/counted.ts';
import { decimalToMinor, formatMinor } from '../core/domain/money.ts';
import type { Sandbox } from '../sandbox/sandbox.ts';
import { plan, stranger } from './plan.ts';

export type BookComparison = { lines: string[]; agree: boolean };

/** Compares planted with found faults, one line each. They agree when none was missed and nothing else was found. */
export async function compareFindings(app: App<'local'>): Promise<BookComparison> {
  const open = await listOpen(app.ledger.db, { states: ['open'] });
  const openKeys = new Set(open.map((d) => `${d.kind} ${d.reference}`));
  const planted = [...plan, stranger].map((p) => ({ ...p, key: p.kind ? `${p.kind} ${p.reference}` : null }));
  const lines = planted.map(({ reference, what, kind, key }) => {
    const verdict = key === null ? 'none, rightly' : openKeys.has(key) ? 'found' : 'MISSED';
    return `  ${reference.padEnd(20)} ${(kind ?? '-').padEnd(21)} ${verdict.padEnd(14)} ${what}`;
  });
  const keys = new Set(planted.map((p) => p.key));
  const unexpected = [...openKeys].filter((key) => !keys.has(key));
  lines.push(...unexpected.map((key) => `  NOT PLANTED: ${key}`));
  return {
    lines,
    agree: unexpected.length === 0 && planted.every(({ key }) => key === null || openKeys.has(key)),
  };
}

type Sum = { count: number; minor: bigint };
/** Money that left according to the service's book, per currency: the total, and the part that we did not order. */
export type BookSums = Map<string, { moved: Sum; extra: Sum }>;

/** Reads the sandbox's own book. A second transfer under one reference, or one not ordered, is extra. */
export function bookSums(sandbox: Sandbox): BookSums {
  const sums: BookSums = new Map();
  const seen = new Set<string>();
  for (const transfer of sandbox.book.transfers('test')) {
    if (!transfer.moneyMoved) continue;
    const { currency, reference } = transfer;
    const sum = sums.get(currency) ?? { moved: { count: 0, minor: 0n }, extra: { count: 0, minor: 0n } };
    const minor = decimalToMinor(transfer.amount, currency) ?? 0n;
    add(sum.moved, minor);
    if (seen.has(reference) || reference === stranger.reference) add(sum.extra, minor);
    seen.add(reference);
    sums.set(currency, sum);
  }
  return sums;
}

/** Compares the service's book with the ledger, per currency, to the kobo. */
export async function compareBooks(app: App<'local'>, book: BookSums): Promise<BookComparison> {
  const paid = await paidSums(app.ledger.db);
  const lines: string[] = [];
  let agree = true;
  for (const currency of new Set([...book.keys(), ...paid.keys()])) {
    const none = { count: 0, minor: 0n };
    const { moved, extra } = book.get(currency) ?? { moved: none, extra: none };
    const ours = paid.get(currency) ?? none;
    const same = ours.count + extra.count === moved.count && ours.minor + extra.minor === moved.minor;
    agree &&= same;
    const show = ({ count, minor }: Sum): string =>
      `${counted(count, 'transfer')}, ${amountText(currency, formatMinor(minor, currency))}`;
    lines.push(
      `  ledger paid ${show(ours)}; not ours (reported above): ${show(extra)}; service's book: ${show(moved)}: ${same ? 'agree' : 'DIFFER'}`,
    );
  }
  return { lines, agree };
}

function add(sum: Sum, minor: bigint): void {
  sum.count += 1;
  sum.minor += minor;
}
