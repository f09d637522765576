import { hash } from 'node:crypto';
import type { ListedTransfer } from '../domain/listed-transfer.ts';
import type { Mode } from '../domain/payout.ts';
import { isPlain, parseLossless } from './json.ts';
import type { ListPage, NamelessTransfer } from './types.ts';

type ReadPage = { kind: 'page'; page: ListPage } | { kind: 'bad'; why: string };
type Fields = Record<string, unknown>;

/** Thrown for a whole number too large to be exact: the text must be read losslessly. */
const inexact = Symbol('inexact');

/**
 * Reads one page of a transfer list (both envelopes), or says what is wrong with it. No id or amount loses a digit
 * (P13).
 */
export function readListPage(text: string, date: number | null): ReadPage {
  try {
    // Most pages hold no number with several spellings; then only the fields that count become text.
    if (isPlain(text)) return readPage(JSON.parse(text), date);
  } catch (error) {
    if (error !== inexact && !(error instanceof SyntaxError)) throw error;
  }
  return readPage(parseLossless(text), date);
}

/** The digest of a reply's text: two replies with the same digest are the same byte for byte. */
export function replyDigest(text: string): string {
  return hash('sha256', text, 'base64');
}

function readPage(json: unknown, date: number | null): ReadPage {
  const page = isFields(json) && json.success === true && json.status === '00' ? json.data : undefined;
  if (!isFields(page)) return bad('no success envelope with a page');
  const { data: rows } = page;
  const current = readCount(page.current_page);
  const lastPage = readCount(page.last_page);
  const perPage = readCount(page.per_page);
  const total = readCount(page.total);
  if (!Array.isArray(rows) || current === undefined || total === undefined)
    return bad('the page lacks data, current_page or total');
  const transfers = rows.map(readTransfer);
  const items = transfers.filter(isNamed);
  const nameless = transfers.flatMap((one) => (isNamed(one) ? [] : [one]));
  return {
    kind: 'page',
    page: {
      page: current,
      lastPage: lastPage ?? current,
      perPage: perPage ?? rows.length,
      total,
      date,
      items,
      ...(nameless.length > 0 && { nameless }),
    },
  };
}

/** The first transfer of another mode on the page, in words; undefined for none (P24). */
export function otherMode({ items, nameless = [] }: ListPage, mode: Mode): string | undefined {
  const other = [...items, ...nameless].find(({ domain }) => domain !== null && domain !== mode);
  return other && `a ${other.domain} transfer (${other.id ?? 'without an id'})`;
}

function isNamed(one: ListedTransfer | NamelessTransfer): one is ListedTransfer {
  return one.id !== null;
}

/**
 * Reads one transfer, which needs only an id. One made by hand at the service may lack a reference and must still be
 * seen.
 */
function readTransfer(row: unknown): ListedTransfer | NamelessTransfer {
  if (!isFields(row)) return { id: null, domain: null };
  const id = textOf(row.id);
  const domain = textOf(row.domain)?.toLowerCase() ?? null;
  if (id === null) return { id, domain };
  return {
    id,
    trx: textOf(row.trx),
    reference: textOf(row.reference) ?? '',
    // Upper case, because amounts are read by currency and currency tables use capitals.
    currency: (textOf(row.currency) ?? '').toUpperCase(),
    amount: textOf(row.amount) ?? '',
    fee: textOf(row.fee),
    account_name: textOf(row.account_name) ?? '',
    account_number: textOf(row.account_number) ?? '',
    bank_code: textOf(row.bank_code) ?? '',
    domain,
    status: textOf(row.status) ?? '',
    created_at: textOf(row.created_at) ?? '',
    updated_at: textOf(row.updated_at) ?? '',
  };
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * Returns text as it is, a whole number as text, and null for the rest. An empty trx or fee is not set yet: as a value
 * it would pair unrelated transfers.
 */
function textOf(value: unknown): string | null {
  if (typeof value === 'string') return value === '' ? null : value;
  if (typeof value !== 'number') return null;
  if (!Number.isSafeInteger(value)) throw inexact;
  return String(value);
}

function readCount(value: unknown): number | undefined {
  const text = textOf(value);
  return text !== null && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

function bad(why: string): { kind: 'bad'; why: string } {
  return { kind: 'bad', why };
}
