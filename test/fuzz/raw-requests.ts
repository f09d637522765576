import fc from 'fast-check';
import { exchange, type Running, requestBytes, statusesOf } from '../support/receiver.ts';

/** One conversation: what is written, in pieces, and whether it holds nothing but one flawless delivery. */
export type Conversation = { pieces: Buffer[]; flawless: string | null };

const proper = fc.constantFrom('POST /webhooks/test HTTP/1.1', 'POST /webhooks/test?a=b HTTP/1.0');
const methods = fc.constantFrom(
  'POST',
  'GET',
  'HEAD',
  'PUT',
  'OPTIONS',
  'TRACE',
  'CONNECT',
  'PATCH',
  'M-SEARCH',
  '',
  'post',
);
const targets = fc.oneof(
  fc.constantFrom(
    '/webhooks/test',
    '/webhooks/live',
    '/',
    '*',
    'http://x/webhooks/test',
    '/webhooks/%00',
    '/webhooks/test/..',
  ),
  fc.webUrl({ withQueryParameters: true, withFragments: true }),
  fc.string({ unit: 'binary', maxLength: 60 }),
);
const versions = fc.constantFrom('HTTP/1.1', 'HTTP/1.0', 'HTTP/1.1', 'HTTP/0.9', 'HTTP/2.0', 'HTTPS/1.1', '');
const line = fc.oneof(
  { weight: 4, arbitrary: proper },
  { weight: 2, arbitrary: fc.tuple(methods, targets, versions).map((parts) => parts.join(' ')) },
  { weight: 1, arbitrary: fc.string({ unit: 'binary', maxLength: 200 }) },
);
const bodies = fc.oneof(
  fc.json({ maxDepth: 6 }),
  fc
    .record({
      event: fc.constantFrom('payout', 'transaction', 'x'),
      reference: fc.anything(),
      trx: fc.string(),
    })
    .map((value) => JSON.stringify(value, noBigint)),
  fc.string({ unit: 'binary', maxLength: 300 }),
  fc.constantFrom('', '[', '{"__proto__":{}}', `${'['.repeat(3000)}`, 'x'.repeat(70_000)),
);
const oddHeader = fc.oneof(
  fc.constantFrom(
    { 'transfer-encoding': 'chunked' },
    { 'transfer-encoding': 'chunked, chunked' },
    { 'content-length': '5' },
    { 'content-length': '-5' },
    { 'content-length': null },
    { 'content-length': '1e9' },
    { 'content-encoding': 'gzip' },
    { expect: '100-continue' },
    { expect: 'x' },
    { connection: 'close' },
    { connection: 'keep-alive, Upgrade', upgrade: 'websocket' },
    { host: null },
    { host: 'a\r\nhost: b' },
    { timestamp: '99999999999999999999' },
    { timestamp: 'yesterday' },
    { payloadsignature: null },
    { payloadsignature: 'ab'.repeat(64) },
    { authorization: 'Basic eDp5' },
    { merchantsignature: '' },
    { 'x-forwarded-for': ','.repeat(500) },
    { cookie: 'x'.repeat(17_000) },
    { trailer: 'x', te: 'trailers' },
  ),
  fc
    .tuple(fc.string({ unit: 'binary', maxLength: 20 }), fc.string({ unit: 'binary', maxLength: 80 }))
    .map(([name, value]) => ({ [name]: value })),
);
/** Headers that change nothing for a delivery. */
const harmless = fc.constantFrom<Record<string, string>>(
  {},
  { 'content-type': 'text/html' },
  { 'x-other': 'ä' },
  { date: 'never' },
  { accept: '*/*' },
);

const flawless = fc
  .tuple(fc.json({ maxDepth: 4 }), proper, harmless, fc.array(fc.nat(2000), { maxLength: 4 }))
  .map(([body, request, headers, cuts]) => ({
    pieces: cut(requestBytes(body, { line: request, headers }), cuts),
    flawless: body,
  }));
const odd = fc
  .tuple(
    fc.array(fc.tuple(line, bodies, fc.array(oddHeader, { maxLength: 3 })), { minLength: 1, maxLength: 3 }),
    fc.array(fc.nat(3000), { maxLength: 4 }),
    fc.nat(100),
  )
  .map(([requests, cuts, kept]) => {
    const bytes = Buffer.concat(
      requests.map(([request, body, headers]) =>
        requestBytes(body, { line: request, headers: Object.assign({}, ...headers) }),
      ),
    );
    // Some break off in the middle.
    return {
      pieces: cut(kept < 80 ? bytes : bytes.subarray(0, Math.floor((bytes.length * kept) / 100)), cuts),
      flawless: null,
    };
  });
const noise = fc
  .array(fc.uint8Array({ maxLength: 400 }), { maxLength: 4 })
  .map((pieces) => ({ pieces: pieces.map((piece) => Buffer.from(piece)), flawless: null }));

/** Conversations with a receiver: flawless ones, odd ones, pipelined ones, broken-off ones and noise. */
const conversations: fc.Arbitrary<Conversation> = fc.oneof(
  { weight: 3, arbitrary: flawless },
  { weight: 6, arbitrary: odd },
  { weight: 1, arbitrary: noise },
);

export type Verdict = { held: number; statuses: Map<number, number>; problems: string[] };

/**
 * Holds `runs` conversations that the seed alone decides, many at a time. A problem is any 5xx but 503 with Retry-After,
 * a flawless delivery without its 200, a body in the ledger that nobody signed, and one answered 200 that is not in it.
 */
export async function holdConversations(
  running: Running,
  options: { runs: number; seed: number },
): Promise<Verdict> {
  const all = fc.sample(conversations, { numRuns: options.runs, seed: options.seed });
  const verdict: Verdict = { held: 0, statuses: new Map(), problems: [] };
  const acknowledged = new Set<string>();
  let next = 0;
  const hold = async (): Promise<void> => {
    for (let at = next++; at < all.length; at = next++) {
      const one = all[at];
      if (!one) return;
      const reply = await exchange(running.port, one.pieces, { ms: 20_000 });
      const statuses = statusesOf(reply);
      verdict.held += 1;
      for (const status of statuses) verdict.statuses.set(status, (verdict.statuses.get(status) ?? 0) + 1);
      const told = `seed ${options.seed}, conversation ${at}: ${statuses.join(' ')}`;
      if (statuses.some((status) => status >= 500 && status !== 503)) verdict.problems.push(`5xx: ${told}`);
      if (statuses.includes(503) && !/retry-after: \d/i.test(reply))
        verdict.problems.push(`503 without Retry-After: ${told}`);
      if (one.flawless !== null && statuses.at(-1) !== 200)
        verdict.problems.push(`flawless and not taken: ${told}`);
      if (one.flawless !== null) acknowledged.add(one.flawless);
    }
  };
  await Promise.all(Array.from({ length: 32 }, hold));
  const kept = new Set(await running.bodies());
  for (const body of acknowledged)
    if (!kept.has(body)) verdict.problems.push(`acknowledged and not kept: ${body.slice(0, 80)}`);
  return verdict;
}

function cut(bytes: Buffer, at: number[]): Buffer[] {
  const places = [0, ...at.filter((place) => place < bytes.length).toSorted((a, b) => a - b), bytes.length];
  return places.slice(1).map((end, i) => bytes.subarray(places[i], end));
}

function noBigint(_key: string, value: unknown): unknown {
  return typeof value === 'bigint' ? String(value) : value;
}
