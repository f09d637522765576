import { findCollectionWitness } from '../../../src/core/domain/collection-witness.ts';
import { decimalToMinor, exponentOf } from '../../../src/core/domain/money.ts';
import { type ExpectedTransfer, findWitness, isNotFound } from '../../../src/core/domain/witness.ts';
import { createServiceClient } from '../../../src/core/service/client.ts';
import { readAccountName, readBalances } from '../../../src/core/service/extras.ts';
import type { HttpReply, HttpRequest, RequestEnd } from '../../../src/core/service/http.ts';
import { readListPage } from '../../../src/core/service/pages.ts';
import type { ServiceClient } from '../../../src/core/service/types.ts';
import type { Door } from './evolve.ts';

const ours: ExpectedTransfer = {
  reference: 'ACME-0001',
  referenceKey: 'acme-0001',
  transferId: '98765',
  trx: null,
  amount: 150_000n,
  currency: 'NGN',
  accountNumber: '0123456789',
  bankCode: '058',
  mode: 'test',
  firstIntentAt: '2026-11-21T10:00:00.000Z',
  accepted: true,
};

const transfer =
  '{"transfer_id":"98765","id":98765,"trx":"T1","reference":"ACME-0001","amount":"1500.00","currency":"NGN","fee":26.88,"account_name":"Ada","account_number":"0123456789","bank_code":"058","domain":"test","status":"success","created_at":"2026-11-21T10:00:05.000000Z","updated_at":"2026-11-21T10:00:06.000000Z"}';
const envelope = (data: string): string => `{"success":true,"status":"00","message":"ok","data":${data}}`;
const words = [
  ...(transfer.match(/"\w+"/g) ?? []),
  ...['"success"', '"failed"', '"pending"', '"returned"', '"data"', '"00"', '"01"', '"96"', '"current_page"'],
  ...[
    '"ZAR"',
    '"JPY"',
    '"KWD"',
    'retry-after: 5\n',
    'date: Sat, 21 Nov 2026 10:00:00 GMT\n',
    '1500.005',
    '-5',
  ],
];

/** A client whose service always gives this reply. `replyTo` sets it. */
function clientOf(): { client: ServiceClient; replyTo(reply: HttpReply): void } {
  let now: HttpReply = { status: 200, headers: {}, text: '' };
  const end = (): RequestEnd => ({ kind: 'reply', reply: now });
  const deliver = async (request: HttpRequest): Promise<RequestEnd> => {
    request.answers?.(now);
    const asks = request.body !== undefined && request.control?.(now) !== undefined;
    return asks ? { kind: 'reply', reply: now, control: { next: end(), alone: true } } : end();
  };
  const client = createServiceClient({
    baseUrl: 'http://127.0.0.1:1',
    transport: { deliver, close: async () => undefined },
    secretKey: 'sk_test_1',
    orderKey: 'ok_test_1',
    signingKey: 'sign',
    rules: { codes: { '25': 'halt' }, edgeRejections: [403, 503] },
    redact: (text) => text.replaceAll('sk_test_1', '[secret]'),
  });
  return {
    client,
    replyTo(reply) {
      now = reply;
    },
  };
}

/** `STATUS\nname: value\n…\n\nBODY`. */
function replyOf(input: Buffer): HttpReply {
  const [, status = '200', head = '', text = ''] =
    /^(\d{0,3})[^\n]*((?:\n[^\n]+)*)\n\n([\s\S]*)$/.exec(input.toString('utf8')) ?? [];
  const headers = head.split('\n').map((line) => /^([\w-]+): ?(.*)$/.exec(line)?.slice(1) ?? []);
  return { status: Number(status), headers: Object.fromEntries(headers), text };
}

/** A reply's envelope as plain JSON has it. */
function envelopeOf(text: string): { success?: unknown; status?: unknown } {
  try {
    return JSON.parse(text.replace(/^\ufeff/, '')) ?? {};
  } catch {
    return {};
  }
}

/** Replies to an order, to a question about it, and to the extras. */
export async function openReplies(): Promise<Door> {
  const { client, replyTo } = clientOf();
  return {
    seeds: [
      `200\n\n${envelope(transfer)}`,
      '400\n\n{"success":false,"status":"12","message":"no such bank","data":null}',
      '429\nretry-after: 7\n\n{"success":false,"status":"01","message":"slow"}',
      `404\n\n{"success":false,"status":"05","message":"not found","data":[{"reference":"ACME-0001"}]}`,
      `200\ndate: Sat, 21 Nov 2026 10:00:00 GMT\n\n${envelope(`[${transfer},${transfer.replace('success', 'failed')}]`)}`,
      `200\n\n${envelope('{"wallets":[{"currency":"NGN","available_balance":"12.345"}]}')}`,
      `200\n\n${envelope('{"account_name":"Ada O"}')}`,
      '503\n\n<html>bad gateway</html>',
    ],
    words,
    async enter(input) {
      const reply = replyOf(input);
      replyTo(reply);
      const { success, status } = envelopeOf(reply.text);
      const outcome = await client.bankTransfer('{}', ours.reference, () => true);
      if (outcome.kind === 'accepted' && (success !== true || status !== '00'))
        return 'accepted without a success';
      if (outcome.kind === 'refused' && (success !== false || reply.status >= 500))
        return 'refused without a refusal';
      if (outcome.kind === 'not_sent') return 'answered, and not sent';
      const told = await client.fetchTransferDetails(ours.reference);
      if (told.kind !== 'reply') return undefined;
      const found = findWitness(told.json, ours, 'details');
      const isSaid = found.kind !== 'witness' || success !== false || found.witness.status === 'pending';
      if (!isSaid) return 'an end in a reply that says no';
      if (isNotFound(told.json, told.httpStatus) && success !== false) return 'absent without a no';
      findCollectionWitness(told.json, { referenceKey: ours.referenceKey, trx: 'T1' });
      readAccountName(told.json);
      const balances = readBalances(told.json);
      if (typeof balances === 'string') return undefined;
      return [...balances.minor.values()].some((minor) => minor > 2n ** 63n)
        ? 'a balance beyond 64 bits'
        : undefined;
    },
  };
}

const page = (rows: string): string =>
  envelope(`{"data":[${rows}],"current_page":1,"last_page":2,"per_page":50,"total":51}`);

/** Pages of the list of transfers. */
export async function openListPages(): Promise<Door> {
  const { client, replyTo } = clientOf();
  return {
    seeds: [
      page(transfer),
      page(`${transfer},{"id":"7"},{"id":null},5,${transfer.replaceAll('1500.00', '-0.10')}`),
      page(transfer.replace('"1500.00"', '1500.10').replace('98765', '9007199254740993')),
      '{"success":true,"status":"00","data":{"data":[],"current_page":"1","total":"0"}}',
    ],
    words: [...words, '"last_page"', '"per_page"', '"total"'],
    async enter(input) {
      const text = input.toString('utf8');
      replyTo({ status: 200, headers: {}, text });
      const answer = await client.listPage(1);
      const read = readListPage(text, null);
      if (answer.kind === 'page' && read.kind !== 'page') return 'the client reads a page that is none';
      // The same page with a number of several spellings is read losslessly: the two ways must agree.
      const slow = readListPage(text.replace(/^\s*\{(?=\s*")/, '{"zz":-1.5,'), null);
      if (JSON.stringify(read) !== JSON.stringify(slow) && read.kind === 'page')
        return 'two ways of reading differ';
      if (read.kind !== 'page' || text.includes('\\')) return undefined;
      for (const { id, amount, currency } of read.page.items) {
        if (!text.includes(id) || !text.includes(amount)) return `not in the text: ${id} ${amount}`;
        const what = wrongMinor(amount, currency);
        if (what !== undefined) return what;
      }
      return undefined;
    },
  };
}

/** What is false of how an amount was read; by adding decimals up, digit by digit. */
export function wrongMinor(text: string, currency: string): string | undefined {
  const minor = decimalToMinor(text, currency);
  if (minor === null) return undefined;
  const digits = exponentOf(currency) ?? 0;
  const [whole = '', fraction = ''] = text.trim().replace('-', '').split('.');
  let sum = 0n;
  for (const digit of whole + fraction.slice(0, digits).padEnd(digits, '0')) sum = sum * 10n + BigInt(digit);
  const meant = text.trim().startsWith('-') ? -sum : sum;
  if (/[^0]/.test(fraction.slice(digits))) return `a fraction was lost: ${text} ${currency}`;
  return meant === minor ? undefined : `${text} ${currency} was read as ${minor}`;
}
