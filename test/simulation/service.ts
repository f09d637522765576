import { createHmac } from 'node:crypto';
import type { HttpReply, HttpRequest } from '../../src/service/transport.ts';
import { type Book, createBook, type Entry, type Order, stampOf } from './book.ts';
import type { PostFault, QuestionFault } from './coverage.ts';
import { accepted, envelope, listPage, page, refused } from './replies.ts';
import type { Weather } from './weather.ts';
import type { World } from './world.ts';

export const keys = { secret: 'sk_test_simulation', public: 'pk_test_simulation' };

/** `silence`: no answer ever; `reset`: the connection breaks. `delayMs` is the service's own time. */
export type PostAnswer =
  | { kind: 'reply'; reply: HttpReply; delayMs: number }
  | { kind: 'reset' }
  | { kind: 'silence' };

export type Service = {
  book: Book;
  /** A whole POST came in. */
  post(request: HttpRequest, fault: PostFault | null): PostAnswer;
  question(request: HttpRequest, fault: QuestionFault | null): PostAnswer;
  /** Everything shows itself at once, and nothing is late any more. */
  calmDown(): void;
};

const minute = 60_000;

/** The payments service, written from the interface document and sharing no code with the product that it judges. */
export function createService(
  world: World,
  weather: Weather,
  announce: (entry: Entry, occasion: 'taken' | 'settled' | 'returned' | 'asked') => void,
): Service {
  const random = world.random.fork('service');
  const book = createBook();
  let calm = false;
  const clock = (): number => world.now() + weather.serviceClockErrorMs;

  function take(order: Order): Entry {
    const entry = book.add(order, clock(), world.now() + (calm ? 0 : weather.drawVisibilityMs(random)));
    world.trace(`service takes ${order.reference} as ${entry.record.id}`);
    if (book.entries(order.reference).length > 1)
      world.trace(`service has ${order.reference} more than once`);
    announce(entry, 'taken');
    world.after(random.between(1_000, weather.slowestSettlementMs), null, () => settle(entry));
    return entry;
  }

  function settle(entry: Entry): void {
    const paid = !random.chance(weather.failedShare);
    change(entry, paid ? 'success' : 'failed');
    entry.moved = paid;
    announce(entry, 'settled');
    if (!paid || !random.chance(weather.returnedShare)) return;
    world.after(random.between(minute, 300 * minute), null, () => {
      entry.returned = true;
      change(entry, 'reversed');
      announce(entry, 'returned');
    });
  }

  function change(entry: Entry, status: string): void {
    entry.record.status = status;
    entry.record.updated_at = stampOf(clock());
    world.trace(`service: ${entry.record.reference} (${entry.record.id}) is ${status}`);
  }

  const say = (reply: HttpReply, delayMs = random.between(1, 400)): PostAnswer => ({
    kind: 'reply',
    reply,
    delayMs,
  });

  /** What the service does with an order that reached it unharmed. */
  function initiate(order: Order): HttpReply {
    const known = book.entries(order.reference);
    if (known.length > 0 && weather.duplicates !== 'accept')
      return refused(clock(), '09', order.reference, weather.duplicates === 'conflict' ? 409 : 400);
    return accepted(clock(), take(order).record.id, order.reference);
  }

  function post(request: HttpRequest, fault: PostFault | null): PostAnswer {
    const body = request.body?.toString('utf8') ?? '';
    const order = readOrder(body);
    const at = clock();
    const { reference } = order;
    const provesNothingTaken = fault !== null && turnedAway.has(fault);
    book.arrive({ at: world.now(), reference, body, mayBeTaken: !provesNothingTaken, fault });
    world.trace(`service hears POST ${reference}${fault ? ` (${fault})` : ''}`);
    if (request.headers.signature !== createHmac('sha512', keys.secret).update(body).digest('hex'))
      world.violate(
        'P2: the signature is over the bytes sent',
        'a body and its signature do not match',
        reference,
      );
    switch (fault) {
      case 'lost before acceptance':
        return { kind: 'reset' };
      case 'lost after acceptance':
        initiate(order);
        return { kind: 'reset' };
      case 'reset after body':
        if (random.chance(0.5)) initiate(order);
        return { kind: 'reset' };
      case '500 before acceptance':
        return say(page(at, 500));
      case '500 after acceptance':
        initiate(order);
        return say(page(at, 500));
      case 'HTML page':
        if (random.chance(0.5)) initiate(order);
        return say(page(at, random.pick([200, 302, 502, 504])));
      case '401 page':
        if (random.chance(0.5)) initiate(order);
        return say(page(at, random.pick([401, 403])));
      case 'hang, taken':
        return say(initiate(order), weather.timeoutMs + random.between(1, 20_000));
      case 'hang, not taken':
        return { kind: 'silence' };
      case 'wrong echo':
        return say(accepted(at, random.chance(0.3) ? take(order).record.id : 1, `${reference}-X`));
      case 'success without our reference':
        return say(envelope(at, 200, { success: true, status: '00', message: 'ok', data: {} }));
      case 'success that contradicts its status':
        if (random.chance(0.5)) initiate(order);
        return say(envelope(at, 200, { success: true, status: '09', message: 'ok', data: { reference } }));
      case '429 with envelope': {
        const slowly = { 'retry-after': String(random.between(1, 120)) };
        return say(envelope(at, 429, { success: false, status: '11', message: 'slow down' }, slowly));
      }
      case '429 without envelope':
        return say(page(at, 429));
      case 'refused 24':
        return say(refused(at, '24', reference));
      case 'halt 10':
        return say(refused(at, '10', reference));
      case 'code 100':
        if (random.chance(0.5)) initiate(order);
        return say(refused(at, '100', reference));
      case 'connection refused':
      case 'late on the network':
      case null:
        return say(initiate(order));
    }
  }

  const shown = (): Entry[] => book.all().filter((entry) => calm || entry.shownFrom <= world.now());

  function question(request: HttpRequest, fault: QuestionFault | null): PostAnswer {
    const at = clock();
    if (fault === 'no answer') return { kind: 'silence' };
    if (fault === 'server error') return say(page(at, random.pick([500, 502, 503])));
    if (fault === 'foreign page') return say(page(at, random.pick([200, 401, 302])));
    if (fault === 'throttled')
      return say(
        envelope(at, 429, { success: false, status: '11', message: 'slow down' }, { 'retry-after': '2' }),
      );
    const [, place = '', name = ''] = /^\/api\/v1\/([a-z_]+)(?:\/([^?]*))?/.exec(request.path) ?? [];
    const reference = decodeURIComponent(name);
    if (place === 'fetch_all_transfers') {
      const number = Number(/[?&]page=(\d+)/.exec(request.path)?.[1] ?? 1);
      const rows = shown().map(({ record }) => record);
      return say(listPage(at, rows.toReversed(), number, weather.perPage));
    }
    const found = shown().filter(({ record }) => record.reference === reference);
    const one = weather.detailsShow === 'first' ? found[0] : found.at(-1);
    if (!one) return say(refused(at, weather.notFoundCode, reference, 404));
    if (place === 'resend_payout_webhook') {
      announce(one, 'asked');
      return say(envelope(at, 200, { success: true, status: '00', message: 'sent' }));
    }
    return say(envelope(at, 200, { success: true, status: '00', message: 'found', data: { ...one.record } }));
  }

  return {
    book,
    post,
    question,
    calmDown() {
      calm = true;
    },
  };
}

/** Answers that prove that the order was not taken. */
const turnedAway: ReadonlySet<PostFault> = new Set([
  '429 with envelope',
  '429 without envelope',
  'refused 24',
]);

function readOrder(body: string): Order {
  const read: Record<string, unknown> = JSON.parse(body);
  const text = (key: string): string => {
    const value = read[key];
    return typeof value === 'string' ? value : '';
  };
  return {
    reference: text('reference'),
    amount: text('amount'),
    currency: text('currency'),
    account_number: text('account_number'),
    account_name: text('account_name'),
    bank_code: text('bank_code'),
    narration: text('narration'),
  };
}
