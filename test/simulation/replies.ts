import type { HttpReply } from '../../src/core/service/transport.ts';
import type { ListEnvelope, TransferRecord } from '../../src/core/service/wire.ts';

/** A reply in the service's envelope; `at` is the service's clock, which `Date` shows in whole seconds. */
export function envelope(
  at: number,
  status: number,
  body: Record<string, unknown>,
  headers: Record<string, string> = {},
): HttpReply {
  return {
    status,
    headers: { date: new Date(at).toUTCString(), 'content-type': 'application/json', ...headers },
    text: JSON.stringify(body),
  };
}

/** What an edge or a crashed server writes: no envelope. */
export function page(at: number, status: number): HttpReply {
  const headers = { date: new Date(at).toUTCString(), 'content-type': 'text/html' };
  return { status, headers, text: `<html><body><h1>${status}</h1></body></html>` };
}

export function accepted(at: number, transferId: number, reference: string): HttpReply {
  const data = { transfer_id: String(transferId), reference, status: 'pending' };
  return envelope(at, 200, { success: true, status: '00', message: 'Transfer initiated', data });
}

export function refused(at: number, code: string, reference: string, status = 400): HttpReply {
  return envelope(at, status, { success: false, status: code, message: `code ${code}`, data: { reference } });
}

/** One page of "List all transfers", newest first; its total counts so many `more` than there are. */
export function listPage(
  at: number,
  rows: TransferRecord[],
  { number, perPage, more }: { number: number; perPage: number; more: number },
): HttpReply {
  const from = (number - 1) * perPage;
  const data = rows.slice(from, from + perPage);
  const lastPage = Math.max(1, Math.ceil(rows.length / perPage));
  const url = (n: number): string => `https://simulated/api/v1/fetch_all_transfers?page=${n}`;
  const body: ListEnvelope = {
    success: true,
    status: '00',
    data: {
      current_page: number,
      data,
      first_page_url: url(1),
      from: from + 1,
      last_page: lastPage,
      last_page_url: url(lastPage),
      links: [],
      next_page_url: number < lastPage ? url(number + 1) : null,
      path: url(1),
      per_page: perPage,
      prev_page_url: number > 1 ? url(number - 1) : null,
      to: from + data.length,
      total: rows.length + more,
    },
  };
  return envelope(at, 200, body);
}

/** What a look-up of a payout was answered; null for every other question, and for what is no answer to it. */
export function readLookUp(
  path: string,
  { status, text }: HttpReply,
): { reference: string; status: string | null } | null {
  const [, name] = /\/fetch_transfer_details\/([^/?]+)$/.exec(path) ?? [];
  if (name === undefined || !text.startsWith('{')) return null;
  const reference = decodeURIComponent(name);
  const { success, data }: { success: boolean; data?: { status?: string } } = JSON.parse(text);
  if (!success) return status === 404 ? { reference, status: null } : null;
  return data?.status === undefined ? null : { reference, status: data.status };
}
