import type { LookUpReply } from '../../../src/core/service/types.ts';
import type { Random } from '../../simulation/random.ts';
import { at } from '../../support/ledger.ts';

/** One attempt of a payer to pay, and what became of it when, in milliseconds. */
type Try = { trx: string; amount: string; moves: { at: number; status: string }[] };
export type Shown = { trx: string; amount: string; status: string };
/** What the service holds about one collection, and what was promised of it. */
export type Booked = { reference: string; promised: bigint | null; tries: Try[] };

const second = 1_000;
const promise = 10_000n;

/** One collection whose life the seed decides: never paid, paid, short, in vain and again, or reversed. */
export function bookOne(random: Random, reference: string): Booked {
  const promised = random.chance(0.7) ? promise : null;
  const starts = random.between(0, 200) * second;
  const later = (from: number) => from + random.between(1, 150) * second;
  const paid = later(starts);
  const pending = { at: starts, status: 'pending' };
  const one = (amount: string, ...moves: Try['moves']): Try => ({ trx: `${reference}-1`, amount, moves });
  const good = { at: paid, status: 'success' };
  const bad = { at: paid, status: 'failed' };
  const again = later(paid);
  const next = { trx: `${reference}-2`, amount: '100.00', moves: [{ at: again, status: 'success' }] };
  const lives: [Try[], ...Try[][]] = [
    [],
    [one('100.00', pending)],
    [one('100.00', pending, good)],
    [one('60.00', pending, good)],
    [one('100.00', pending, bad)],
    [one('100.00', pending, bad), next],
    [one('100.00', pending, good, { at: again, status: 'returned' })],
  ];
  return { reference, promised, tries: random.pick(lives) };
}

/** What the book shows of each try at that time, the last one first. */
function shownAt({ tries }: Booked, ms: number): Shown[] {
  return tries
    .flatMap(({ trx, amount, moves }) => {
      const last = moves.filter((move) => move.at <= ms).at(-1);
      return last ? [{ trx, amount, status: last.status }] : [];
    })
    .toReversed();
}

/** True where the book holds, at that time, what was promised; of what nobody promised, any success. */
export function holds(booked: Booked, ms: number): boolean {
  return shownAt(booked, ms).some(
    ({ status, amount }) => status === 'success' && (booked.promised === null || amount === '100.00'),
  );
}

/** True where the book held it at any moment of the span. */
export function heldWithin(booked: Booked, from: number, to: number): boolean {
  const moments = booked.tries.flatMap(({ moves }) => moves.map((move) => move.at));
  return [from, ...moments.filter((ms) => ms >= from && ms <= to)].some((ms) => holds(booked, ms));
}

export type Answer = { reply: LookUpReply; word: Shown | null };

/**
 * What the verify endpoint writes about the book as it is at that time, in one of many shapes. With weather it sometimes
 * leaves out the money or does not find what is there; and payers write into their metadata whatever they like.
 */
export function answerOf(random: Random, booked: Booked, ms: number, weather: boolean): Answer {
  const shown = shownAt(booked, ms);
  const [last] = shown;
  const sentence = { success: false, status: '05', message: 'Transaction not found' };
  if (!last || (weather && random.chance(0.1))) return { reply: replyOf(sentence, 404), word: null };
  const bare = weather && random.chance(0.15);
  const claim = {
    reference: booked.reference,
    status: 'success',
    trx: 'X',
    amount: '100.00',
    currency: 'NGN',
  };
  const rows = shown.map(({ trx, amount, status }) => ({
    ...{ reference: booked.reference, trx, status, domain: 'test' },
    ...(bare ? {} : { amount, currency: 'NGN' }),
    ...(random.chance(0.4) ? { [random.pick(['metadata', 'extra', 'order'])]: claim } : {}),
  }));
  const [row] = rows;
  const data = random.pick<unknown>([
    row,
    rows,
    { transaction: row },
    { reference: booked.reference, transaction: row, metadata: claim },
    { data: rows },
    { result: { transactions: rows }, meta: claim },
  ]);
  const word = bare ? { ...last, amount: '' } : last;
  return { reply: replyOf({ success: true, status: '00', message: 'found', data }, 200), word };
}

function replyOf(json: unknown, httpStatus: number): LookUpReply {
  return { kind: 'reply', httpStatus, json, raw: JSON.stringify(json), date: null };
}

/** A delivery that the receiver would store: what one webhook tells, some of it false. */
export type Told = { at: number; body: string; reference: string; trx: string };

/** The webhooks about one collection: lost, doubled, late and out of order, and now and then contradicting the book. */
export function webhooksOf(random: Random, { reference, tries }: Booked): Told[] {
  return tries.flatMap(({ trx, amount, moves }) =>
    moves.flatMap((move): Told[] => {
      if (random.chance(0.3)) return [];
      const liar = random.chance(0.06);
      const told = { status: liar ? 'success' : move.status, amount: liar ? '70.00' : amount };
      const money = { currency: 'NGN', domain: 'test', sent: at(move.at) };
      const body = JSON.stringify({ event: 'transaction', data: { reference, trx, ...told, ...money } });
      const times = random.chance(0.3) ? 2 : 1;
      return Array.from({ length: times }, () => ({
        at: move.at + random.between(0, 400) * second,
        ...{ body, reference, trx },
      }));
    }),
  );
}
