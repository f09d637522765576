import { createHmac } from 'node:crypto';
import type { HttpReply, HttpRequest } from '../../src/core/service/transport.ts';
import { type Account, type Book, createBook, type Entry, type Order, stampOf } from './book.ts';
import type { PostFault, QuestionFault } from './coverage.ts';
import { type ListFlaw, type ListFlawKind, stranger } from './list-flaw.ts';
import { accepted, envelope, listPage, page, refused } from './replies.ts';
import type { Weather } from './weather.ts';
import type { World } from './world.ts';

const keys = { secret: 'sk_test_simulation', public: 'pk_test_simulation' };

/** Each account of the service: the address and the keys by which it is reached. */
export const accounts: Record<Account, { baseUrl: string; keys: { secret: string; public: string } }> = {
  home: { baseUrl: 'https://simulated', keys },
  address: { baseUrl: 'https://elsewhere', keys },
  key: { baseUrl: 'https://simulated', keys: { secret: 'sk_test_other', public: 'pk_test_other' } },
};

/** `silence`: no answer ever; `reset`: the connection breaks. `delayMs` is the service's own time. */
export type PostAnswer =
  | { kind: 'reply'; reply: HttpReply; delayMs: number }
  | { kind: 'reset' }
  | { kind: 'silence' };

export type Service = {
  book: Book;
  /** A whole POST came in. */
  post(request: HttpRequest, fault: PostFault | null, account: Account): PostAnswer;
  question(request: HttpRequest, fault: QuestionFault | null, account: Account): PostAnswer;
  /** What a look-up of the reference would show now. */
  shownNow(account: Account, reference: string): Entry | undefined;
  /** What keeps the list from being complete now, and since when, true time. */
  listFlaw(): { kind: ListFlawKind; since: number } | null;
  /** What was paid comes back now. */
  comeBack(entry: Entry): void;
  /** What failed, or came back, turns out to be paid now. */
  turn(entry: Entry): void;
  /** Everything shows itself at once, and nothing is late any more. */
  calmDown(): void;
};

const second = 1_000;
const minute = 60_000;
const year = 365 * 24 * 60 * minute;

/** The payments service, written from the interface document and sharing no code with the product that it judges. */
export function createService(
  world: World,
  weather: Weather,
  announce: (entry: Entry, occasion: 'taken' | 'settled' | 'returned' | 'asked') => void,
): Service {
  const random = world.random.fork('service');
  const turns = world.random.fork('turns');
  const book = createBook();
  const began = world.now();
  let calm = false;
  if (weather.long.listFlaw?.kind === 'a stranger of next year') takeStranger(weather.long.listFlaw);
  const clock = (): number => world.now() + weather.serviceClockErrorMs;
  /** Of a proxy on our machine: its clock is wrong where ours is. */
  const edge = (): number => world.now() + world.wallError;

  function take(order: Order, account: Account): Entry {
    undoReturns(order);
    const shownFrom = world.now() + (calm ? 0 : weather.drawVisibilityMs(random));
    const entry = book.add(order, { account, at: clock(), shownFrom });
    world.trace(`service takes ${order.reference} as ${entry.record.id}`);
    if (book.entries(order.reference).length > 1)
      world.trace(`service has ${order.reference} more than once`);
    announce(entry, 'taken');
    const drawnMs = random.between(1_000, weather.slowestSettlementMs);
    world.after(weather.settlementOf?.(order.reference).ms ?? drawnMs, null, () => settle(entry));
    return entry;
  }

  /** Somebody else's transfer, which the list dates next year until the service mends it. */
  function takeStranger({ fromMs, untilMs }: ListFlaw): void {
    world.after(fromMs, null, () => {
      const entry = book.add(stranger, { account: 'home', at: clock() + year, shownFrom: world.now() });
      change(entry, 'success');
      if (untilMs === null) return;
      world.after(untilMs - fromMs, null, () => {
        entry.record.created_at = stampOf(clock());
        change(entry, 'success');
      });
    });
  }

  function listFlaw(): { kind: ListFlawKind; since: number } | null {
    const flaw = weather.long.listFlaw;
    if (!flaw) return null;
    const ms = world.now() - began;
    const isOver = ms < flaw.fromMs || (flaw.untilMs !== null && ms >= flaw.untilMs);
    return isOver ? null : { kind: flaw.kind, since: began + flaw.fromMs };
  }

  function settle(entry: Entry): void {
    const drawn = !random.chance(weather.failedShare);
    const paid = weather.settlementOf?.(entry.record.reference).paid ?? drawn;
    change(entry, paid ? 'success' : 'failed');
    entry.moved = paid;
    announce(entry, 'settled');
    if (!paid) turnLater(entry);
    if (!paid || !random.chance(weather.returnedShare)) return;
    world.after(random.between(minute, 300 * minute), null, () => comeBack(entry));
  }

  /** The interface has no status for what came back: it is shown as failed, or by a word of the service's own. */
  function comeBack(entry: Entry): void {
    const isFailed = weather.long.returns && !calm;
    if (isFailed) world.coverage.count('return: shown as failed');
    entry.returned = true;
    entry.returnedAt = world.now();
    change(entry, isFailed ? 'failed' : 'reversed');
    announce(entry, 'returned');
  }

  /** What came back is paid anew: now the service finds that the first did not come back after all. */
  function undoReturns(order: Order): void {
    if (!weather.long.returns) return;
    for (const entry of book.all()) {
      const { record, returned, undoneAt } = entry;
      const isLike = record.account_number === order.account_number && record.amount === order.amount;
      if (!isLike || !returned || undoneAt !== null || record.status !== 'failed' || turns.chance(0.1))
        continue;
      world.after(turns.between(second, 120 * minute), null, () => {
        if (calm) return;
        world.coverage.count('return: undone after it was paid again');
        turn(entry);
      });
    }
  }

  /** What failed turns out to be paid after all. */
  function turnLater(entry: Entry): void {
    const { turnsLate, drawTurnMs } = weather.long;
    if (calm || !turns.chance(turnsLate)) return;
    world.after(drawTurnMs(turns), null, () => {
      if (!calm) turn(entry);
    });
  }

  function turn(entry: Entry): void {
    if (entry.returned) entry.undoneAt = world.now();
    entry.returned = false;
    entry.turnedAt = world.now();
    entry.moved = true;
    change(entry, 'success');
    if (turns.chance(0.3)) announce(entry, 'settled');
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
  function initiate(order: Order, account: Account): HttpReply {
    const known = book.entries(order.reference).filter((entry) => entry.account === account);
    if (known.length > 0 && weather.duplicates !== 'accept')
      return refused(clock(), '09', order.reference, weather.duplicates === 'conflict' ? 409 : 400);
    return accepted(clock(), take(order, account).record.id, order.reference);
  }

  function post(request: HttpRequest, fault: PostFault | null, account: Account): PostAnswer {
    const body = request.body?.toString('utf8') ?? '';
    const order = readOrder(body);
    const at = clock();
    const { reference } = order;
    const provesNothingTaken = fault !== null && turnedAway.has(fault);
    book.arrive({ at: world.now(), reference, account, body, mayBeTaken: !provesNothingTaken, fault });
    world.trace(`service hears POST ${reference}${fault ? ` (${fault})` : ''}`);
    if (
      request.headers.signature !==
      createHmac('sha512', accounts[account].keys.secret).update(body).digest('hex')
    )
      world.violate(
        'P2: the signature is over the bytes sent',
        'a body and its signature do not match',
        reference,
      );
    switch (fault) {
      case 'lost before acceptance':
        return { kind: 'reset' };
      case 'lost after acceptance':
        initiate(order, account);
        return { kind: 'reset' };
      case 'reset after body':
        if (random.chance(0.5)) initiate(order, account);
        return { kind: 'reset' };
      case '500 before acceptance':
        return say(page(edge(), 500));
      case '500 after acceptance':
        initiate(order, account);
        return say(page(edge(), 500));
      case 'HTML page':
        if (random.chance(0.5)) initiate(order, account);
        return say(page(edge(), random.pick([200, 302, 502, 504])));
      case '401 page':
        if (random.chance(0.5)) initiate(order, account);
        return say(page(edge(), random.pick([401, 403])));
      case 'hang, taken':
        return say(initiate(order, account), weather.timeoutMs + random.between(1, 20_000));
      case 'hang, not taken':
        return { kind: 'silence' };
      case 'wrong echo':
        return say(accepted(at, random.chance(0.3) ? take(order, account).record.id : 1, `${reference}-X`));
      case 'success without our reference':
        return say(envelope(at, 200, { success: true, status: '00', message: 'ok', data: {} }));
      case 'success that contradicts its status':
        if (random.chance(0.5)) initiate(order, account);
        return say(envelope(at, 200, { success: true, status: '09', message: 'ok', data: { reference } }));
      case '429 with envelope': {
        const slowly = { 'retry-after': String(random.between(1, 120)) };
        return say(envelope(at, 429, { success: false, status: '11', message: 'slow down' }, slowly));
      }
      case '429 without envelope':
        return say(page(edge(), 429));
      case 'refused 24':
        return say(refused(at, '24', reference));
      case 'halt 10':
        return say(refused(at, '10', reference));
      case 'code 100':
        if (random.chance(0.5)) initiate(order, account);
        return say(refused(at, '100', reference));
      case 'connection refused':
      case 'late on the network':
      case null:
        return say(initiate(order, account));
    }
  }

  const isShown = (entry: Entry): boolean => calm || entry.shownFrom <= world.now();

  function shownNow(account: Account, reference: string): Entry | undefined {
    const found = book.entries(reference).filter((entry) => entry.account === account && isShown(entry));
    return weather.detailsShow === 'first' ? found[0] : found.at(-1);
  }

  function question(request: HttpRequest, fault: QuestionFault | null, account: Account): PostAnswer {
    const at = clock();
    if (fault === 'no answer') return { kind: 'silence' };
    if (fault === 'server error') return say(page(edge(), random.pick([500, 502, 503])));
    if (fault === 'foreign page') return say(page(edge(), random.pick([200, 401, 302])));
    if (fault === 'throttled')
      return say(
        envelope(at, 429, { success: false, status: '11', message: 'slow down' }, { 'retry-after': '2' }),
      );
    const [, place = '', name = ''] = /^\/api\/v1\/([a-z_]+)(?:\/([^?]*))?/.exec(request.path) ?? [];
    const reference = decodeURIComponent(name);
    if (place === 'fetch_all_transfers') {
      const number = Number(/[?&]page=(\d+)/.exec(request.path)?.[1] ?? 1);
      const listed = book.all().filter((entry) => entry.account === account && isShown(entry));
      const rows = listed.map(({ record }) => record);
      const more = account === 'home' && listFlaw()?.kind === 'counts one more' ? 1 : 0;
      return say(listPage(at, rows.toReversed(), { number, perPage: weather.perPage, more }));
    }
    const one = shownNow(account, reference);
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
    shownNow,
    listFlaw,
    comeBack,
    turn,
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
