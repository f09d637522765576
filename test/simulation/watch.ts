import type { Book, Entry } from './book.ts';
import type { BrakeWatch } from './brake-watch.ts';
import type { Decisions } from './decisions-made.ts';
import type { EvidenceWatch } from './evidence-watch.ts';
import type { Fall } from './fall.ts';
import type { Inspector, Told } from './inspector.ts';
import type { LateBytes } from './late-bytes.ts';
import type { Life } from './life.ts';
import type { ListWatch } from './list-watch.ts';
import type { Weather } from './weather.ts';
import type { World } from './world.ts';

/** The oracle while things happen: every commit is compared with what is true, every POST with what was ordered. */
export type Watch = {
  /** A transaction was committed, or a process ended. */
  committed(life: Life): void;
  /** The bytes of a bank transfer leave the process now. */
  leaving(life: Life, reference: string): void;
  /** The ledger went back in time: from here on it tells another history (P25). */
  wentBack(): void;
  /** POSTs that left; the service has heard those that are in its book. */
  left(reference: string): number;
  /** When an attempt was committed, true time. */
  begunAt(attempt: number): number;
};

export function createWatch(deps: {
  world: World;
  book: Book;
  inspector: Inspector;
  decisions: Decisions;
  weather: Weather;
  fall: Fall;
  brakes: BrakeWatch;
  evidence: EvidenceWatch;
  lateBytes: LateBytes;
  lists: ListWatch;
}): Watch {
  const { world, book, inspector, decisions, weather, fall, brakes, evidence, lateBytes, lists } = deps;
  const known = new Map<number, string>();
  const begun = new Map<number, number>();
  const departures = new Map<string, number>();
  let lastTold = 0;
  let lastAttempt = 0;
  let wasHalted = false;
  /** Answers in a row that left it unknown what became of a POST, since the last release. */
  let unknownInARow = 0;

  function committed(life: Life): void {
    fall.judgeWait();
    lists.judge();
    const halted = inspector.isHalted();
    if (wasHalted && !halted) unknownInARow = 0;
    const news = inspector.toldAfter(lastTold);
    countUnknown(news);
    for (const told of news) {
      lastTold = told.id;
      world.trace(
        `${life.name} commits ${told.reference}: ${told.event}, ${told.from_state} to ${told.to_state}`,
      );
      judge(told);
      evidence.noted(told);
      known.set(told.payout_id, told.to_state);
    }
    brakes.committed(news);
    for (const attempt of inspector.attemptsAfter(lastAttempt)) {
      lastAttempt = attempt.id;
      begun.set(attempt.id, world.now());
      brakes.began(attempt);
      lateBytes.began(life, attempt.reference);
      if (halted || wasHalted)
        world.violate('P11: nothing is begun while halted', `attempt ${attempt.id}`, attempt.reference);
      const open = inspector.possiblyTaken(attempt.payout_id);
      const allowed = 1 + decisions.retries(attempt.reference);
      if (open > allowed) {
        const detail = `${open} attempts may have been taken, ${allowed} were ordered`;
        world.violate('P1: one POST for each order', detail, attempt.reference);
      }
    }
    const most = weather.haltAfterUnknown;
    if (most > 0 && unknownInARow >= most && !halted)
      world.violate('P11: unknowns in a row halt', `${unknownInARow} in a row, ${most} allowed`);
    wasHalted = halted;
  }

  /** Answers of one commit have no order among themselves. */
  function countUnknown(news: readonly Told[]): void {
    const answers = news.filter(({ source }) => source === 'response');
    if (answers.length === 0) return;
    const unknown = answers.filter(({ event }) => event === 'unknown').length;
    unknownInARow = unknown === answers.length ? unknownInARow + unknown : 0;
  }

  function judge(told: Told): void {
    const fail = (invariant: string, detail: string): void =>
      world.violate(invariant, `${told.event} (${told.source}): ${detail}`, told.reference);
    const before = known.get(told.payout_id) ?? null;
    if (before === null && fall.fellAt() !== null && left(told.reference) > 0)
      decisions.orderAgain(told.reference);
    if (told.from_state !== before) fail('P27: history is whole', `from ${told.from_state}, was ${before}`);
    if (told.event === 'intent' && told.to_state !== 'sending')
      fail('P2: an intent needs a ready payout', `the payout is ${told.from_state}`);
    if (told.from_state === told.to_state) return;
    if (told.event === 'retry') judgeRetry(told);
    if (told.event.startsWith('settle')) decisions.settle(told.reference);
    const wrong = untrue(told);
    if (wrong) fail('nothing false is believed', wrong);
  }

  /** P16, P20: a second POST is ordered by a person, or once by absence that was confirmed. */
  function judgeRetry({ source, reference }: Told): void {
    const automatic = source === 'confirmed_absent';
    if (automatic) {
      const last = inspector.lastAttempt(reference);
      const waited = world.now() - (begun.get(last?.id ?? 0) ?? 0);
      // The product may trust its clock as far as it agrees with the service's.
      if (waited < weather.quietPeriodMs - 90_000)
        world.violate('P16: the quiet period is waited for', `${waited} ms`, reference);
      world.coverage.count('machine: resent by confirmed absence');
      const shown = book.entries(reference).some((entry) => entry.shownFrom <= world.now());
      if (shown) world.violate('P16: absence was confirmed', 'the service shows it', reference);
    }
    if (!(automatic ? decisions.confirmAbsent(reference) : decisions.hearRetry(reference)))
      world.violate(automatic ? 'P16: one automatic resend' : 'P20: a retry is ordered', source, reference);
  }

  /** What the ledger now believes that is not so; people may err, and are judged at the end. */
  function untrue(told: Told): string | null {
    if (told.event.startsWith('settle')) return null;
    // Of what it forgot it can know no more than what it is told again.
    const forgot = ['ready', 'refused', 'cancelled', 'failed'].includes(told.to_state);
    if (forgot && decisions.isOrderedAgain(told.reference)) return null;
    const entries = book.entries(told.reference);
    const paid = entries.filter(({ moved }) => moved);
    const late = decisions.isLate(told.reference);
    const underWay = left(told.reference) > book.arrivals(told.reference).length && !late;
    switch (told.to_state) {
      case 'pending':
        return entries.length === 0 ? 'the service never had it' : null;
      case 'success':
        if (!proves.test(told.event)) return `success by ${told.event}`;
        return paid.some((entry) => isSame(entry.record, told)) ? null : 'the service has not paid it';
      case 'returned':
        if (!proves.test(told.event) && told.event !== 'turned') return `returned by ${told.event}`;
        if (!entries.some(({ returnedAt }) => returnedAt !== null)) return 'the service has had nothing back';
        if (!entries.some((entry) => isSurelyBack(entry, world.now())))
          return 'P36: it may be paid again yet';
        return entries.some((entry) => stays(entry, world.now())) ? 'another transfer of it stays' : null;
      case 'failed':
        if (!proves.test(told.event)) return `failed by ${told.event}`;
        if (entries.length === 0) return 'the service never had it';
        return entries.some(({ record }) => record.status !== 'failed') || underWay
          ? 'a transfer of it is alive'
          : null;
      case 'refused':
        return entries.length > 0 || underWay ? 'the service has it' : null;
      case 'cancelled':
        return book.arrivals(told.reference).some(({ mayBeTaken }) => mayBeTaken)
          ? 'it was sent before'
          : null;
      case 'ready':
        if (told.event === 'retry' || told.event === 'intake') return null;
        // Between fall and adoption nothing is sent, and adoption doubts whatever is ready.
        if (fall.fellAt() !== null && fall.adoptedAt() === null) return null;
        if (told.event === 'release' && decisions.retries(told.reference) > 0) return null;
        return entries.length > 0 || underWay ? 'the service has it' : null;
      default:
        return null;
    }
  }

  function leaving(life: Life, reference: string): void {
    departures.set(reference, left(reference) + 1);
    world.trace(`${life.name} writes ${reference}`);
    if (!fall.maySend()) world.violate('P25: what went back in time sends nothing', 'it was sent', reference);
    const adoptedAt = fall.adoptedAt() ?? 0;
    // What the lost ledger sent to another account, no list of this one shows.
    const isListed = (e: Entry): boolean => e.account === life.account && e.shownFrom < adoptedAt;
    if (decisions.isOrderedAgain(reference) && book.entries(reference).some(isListed))
      world.violate('P15: what the service lists is not sent as new', 'it was sent', reference);
    const attempt = inspector.lastAttempt(reference);
    const fail = (invariant: string, detail: string): void => world.violate(invariant, detail, reference);
    if (!attempt) {
      fail('P1: intent first', 'bytes left without a committed intent');
      return;
    }
    if (attempt.worker_id !== life.name || attempt.outcome !== null) {
      fail('P3: only the holder of the claim sends', `attempt of ${attempt.worker_id}: ${attempt.outcome}`);
      return;
    }
    if (['ready', 'held', 'cancelled', 'refused'].includes(attempt.state)) {
      fail('P2: only what is being sent is sent', `the payout is ${attempt.state}`);
      return;
    }
    brakes.leaving(attempt.id);
    evidence.leaving(life, attempt, reference);
    if (!weather.long.sweeps && life.name.startsWith('serve'))
      fail('an empty schedule sends nothing', `${life.name} sent it`);
    const age = world.now() - (begun.get(attempt.id) ?? world.now());
    if (age > weather.sendDeadlineMs) fail('P3: nothing stale is sent', `the intent is ${age} ms old`);
    if (inspector.isUnasked(reference))
      fail('P8: a look-up comes before the POST after a rejection', 'nobody asked');
    const harmless = book.arrivals(reference).filter((arrival) => !arrival.mayBeTaken).length;
    const posts = left(reference) - 1 - harmless;
    if (posts > decisions.retries(reference))
      fail('P1: one POST for each order', `${posts} before, ${decisions.retries(reference)} ordered again`);
    const bodies = new Set(book.arrivals(reference).map(({ body }) => body));
    if (bodies.size > 1) fail('P2: the body is frozen', `${bodies.size} bodies`);
  }

  function left(reference: string): number {
    return departures.get(reference) ?? 0;
  }

  function wentBack(): void {
    const last = (table: 'history' | 'attempts'): number =>
      inspector.rows<{ id: number | null }>(`select max(id) as id from ${table}`)[0]?.id ?? 0;
    lastTold = last('history');
    lastAttempt = last('attempts');
    known.clear();
    for (const { id, state } of inspector.states()) known.set(id, state);
    for (const id of begun.keys()) if (id > lastAttempt) begun.delete(id);
    wasHalted = inspector.isHalted();
    unknownInARow = 0;
    brakes.wentBack();
    evidence.wentBack();
  }

  return { committed, leaving, wentBack, left, begunAt: (attempt) => begun.get(attempt) ?? world.now() };
}

/** `reconciliation.return_hours` where what was paid may come back as failed. */
export const returnHours = 2;

/** P36: it has been shown as failed for so long; the service's own word for a return needs no time. */
function isSurelyBack({ record, returnedAt }: Entry, now: number): boolean {
  if (returnedAt === null) return false;
  return record.status === 'reversed' || now - returnedAt >= returnHours * 3_600_000 - 60_000;
}

/** Shown as paid, for now and perhaps for good. */
function stays({ record, shownFrom, moved, returned }: Entry, now: number): boolean {
  return moved && !returned && record.status === 'success' && shownFrom <= now;
}

const proves = /^(details|listing) says /;

/** Amounts as the two sides write them: minor units here, a decimal there. */
export function isSame(record: { amount: string; account_number: string }, payout: Told): boolean {
  return (
    record.amount.replace('.', '') === String(payout.amount) &&
    record.account_number === payout.account_number
  );
}
