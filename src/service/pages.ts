import { asObject, asText, readEnvelope } from './json.ts';
import type { ListedTransfer, ListPage } from './types.ts';

/** Reads one page of a transfer list (both envelopes), or says what is wrong with it. Numbers arrive as text. */
export function readListPage(
  json: unknown,
  date: number | null,
): { kind: 'page'; page: ListPage } | { kind: 'bad'; why: string } {
  const envelope = readEnvelope(json);
  if (!envelope?.success || envelope.status !== '00' || !envelope.data)
    return bad('no success envelope with a page');
  const { data: rows } = envelope.data;
  const [page, lastPage, perPage, total] = ['current_page', 'last_page', 'per_page', 'total'].map((key) =>
    readCount(envelope.data?.[key]),
  );
  if (!Array.isArray(rows) || page === undefined || total === undefined)
    return bad('the page lacks data, current_page or total');
  const items: ListedTransfer[] = [];
  for (const row of rows) {
    const item = readTransfer(row);
    if (!item) return bad('a transfer in the list lacks id, reference, amount, currency or status');
    items.push(item);
  }
  return {
    kind: 'page',
    page: { page, lastPage: lastPage ?? page, perPage: perPage ?? items.length, total, date, items },
  };
}

function readTransfer(row: unknown): ListedTransfer | undefined {
  const source = asObject(row);
  if (!source) return undefined;
  // An empty trx or fee is one not set yet; taken for a value it would pair strangers.
  const text = (key: string): string | null => asText(source[key]) || null;
  const [id, reference, currency, amount, status] = [
    text('id'),
    text('reference'),
    text('currency'),
    text('amount'),
    text('status'),
  ];
  if (!id || !reference || !currency || !amount || !status) return undefined;
  return {
    id,
    trx: text('trx'),
    reference,
    currency,
    amount,
    fee: text('fee'),
    account_name: text('account_name') ?? '',
    account_number: text('account_number') ?? '',
    bank_code: text('bank_code') ?? '',
    domain: text('domain'),
    status,
    created_at: text('created_at') ?? '',
    updated_at: text('updated_at') ?? '',
  };
}

function readCount(value: unknown): number | undefined {
  const text = asText(value);
  return text !== null && /^\d{1,15}$/.test(text) ? Number(text) : undefined;
}

function bad(why: string): { kind: 'bad'; why: string } {
  return { kind: 'bad', why };
}
