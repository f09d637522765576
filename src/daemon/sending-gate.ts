import type { App } from '../app/app.ts';
import { dayAt } from '../sending/daily-limit.ts';

const dayMs = 24 * 3_600_000;

/** The one gate of sending in a daemon: `schedules.submit` decides, whatever asks. */
export type Gate = {
  /**
   * The word of the schedule that lets payouts go now; null where there is none. `given`: the word under which a piece of
   * work was begun, which holds for its rest past midnight too.
   */
  word(given?: string): Promise<string | null>;
};

/**
 * Opens with each run of the submit schedule on this ledger, of any daemon, a missed run that is caught up included, and
 * stays open for the rest of that day of `schedules.timezone`: what comes in later the same day goes too, and after a
 * crash the rest goes on. An empty schedule never opens it, nor does a run that another schedule ordered.
 */
export function createGate({ config, clock, jobsStore }: Pick<App, 'config' | 'clock' | 'jobsStore'>): Gate {
  const { submit: expression, timezone } = config.schedules;
  return {
    async word(given) {
      if (expression.trim() === '') return null;
      const past = await jobsStore.find('submit');
      if (past?.expression !== expression || past.lastRunAt === null) return null;
      const word = past.lastRunAt;
      const isSameDay = dayAt(word, timezone).day === dayAt(clock.iso(), timezone).day;
      const isBegun = given === word && Math.abs(clock.now() - Date.parse(word)) < dayMs;
      return isSameDay || isBegun ? word : null;
    },
  };
}
