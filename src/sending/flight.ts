import type { Outcome } from '../domain/outcome.ts';
import type { Clock } from '../runtime/clock.ts';
import type { Claim } from './claims.sql.ts';

/**
 * The end of an intent. `tried`: false when its request never began, because the intent grew too old (P3) or was taken
 * back. Then neither the network nor the service is to blame. `tookMs`: from the intent to the answer.
 */
export type Done = { claim: Claim; outcome: Outcome; tried: boolean; tookMs: number };

/** A committed intent, and the request that it allows. */
export type Order = { claim: Claim; send: () => Promise<Done> };

/** How long an answer that has come in waits for others to share its commit. */
const patienceMs = 4;

/**
 * Requests under way, orders that wait for one of the `atOnce` slots, and answers that the loop has not taken yet. After
 * an answer other than accepted or refused what waits is taken back: a halt or a pause may follow (P8, P11).
 */
export type Flight = {
  /** How many orders are under way or wait. */
  open(): number;
  launch(orders: readonly Order[]): void;
  /** Ends the orders that wait without a request: they come in as not sent. */
  takeBack(): void;
  /** Takes the answers that have come in, in their order. Throws what the client threw, which it never should. */
  take(): Done[];
  /** How many answers have come in since the last were taken. */
  answered(): number;
  /**
   * Resolves when `enough` answers have come in, when nothing is open any more, or when the first has waited a moment. A
   * commit for several costs little more than for one. While it runs, the service works on the rest. `or` ends the wait too.
   */
  gathered(enough: number, or?: Promise<void>): Promise<void>;
  /** Takes back what waits, waits until nothing is under way any more, and takes the last answers. */
  landed(): Promise<Done[]>;
};

export function createFlight(clock: Clock, atOnce: number): Flight {
  let underWay = 0;
  let waiting: Order[] = [];
  let done: Done[] = [];
  let isTroubled = false;
  let failure: { error: unknown } | undefined;
  let watch: { enough: number; wake: () => void } | undefined;

  const open = (): number => underWay + waiting.length;
  const look = (): void => {
    if (watch && (failure || open() === 0 || done.length >= watch.enough)) watch.wake();
  };
  const reached = (enough: number): Promise<void> =>
    new Promise((wake) => {
      watch = { enough, wake };
      look();
    });
  const taken = (): Done[] => {
    const all = done;
    done = [];
    isTroubled = false;
    return all;
  };
  const takeBack = (): void => {
    for (const { claim } of waiting) done.push({ claim, outcome: takenBack, tried: false, tookMs: 0 });
    waiting = [];
  };
  const start = ({ send }: Order): void => {
    underWay++;
    const landed = (): void => {
      underWay--;
      if (isTroubled || failure) takeBack();
      fill();
      look();
    };
    void send().then(
      (one) => {
        done.push(one);
        isTroubled ||= !isClear(one.outcome);
        landed();
      },
      (error: unknown) => {
        failure = { error };
        landed();
      },
    );
  };
  const fill = (): void => {
    for (const order of waiting.splice(0, atOnce - underWay)) start(order);
  };
  return {
    open,
    answered: () => done.length,
    launch(orders) {
      waiting.push(...orders);
      fill();
      if (isTroubled || failure) takeBack();
    },
    takeBack,
    take() {
      if (failure) throw failure.error;
      return taken();
    },
    async gathered(enough, or) {
      const first = reached(1);
      await (or ? Promise.race([first, or]) : first);
      if (done.length === 0 || done.length >= enough || open() === 0) return;
      const stop = new AbortController();
      await Promise.race([reached(enough), clock.sleep(patienceMs, stop.signal)]);
      // With a reason: without one the runtime would create an error, which costs more than the timer.
      stop.abort('gathered');
    },
    async landed() {
      failure = undefined;
      takeBack();
      if (underWay > 0) await reached(Number.POSITIVE_INFINITY);
      return taken();
    },
  };
}

const takenBack: Outcome = { kind: 'not_sent', message: 'taken back while it waited to be sent' };

/** True for an answer after which sending may go on as before. */
export function isClear({ kind }: Outcome): boolean {
  return kind === 'accepted' || kind === 'refused';
}
