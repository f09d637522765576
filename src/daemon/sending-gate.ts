import type { App } from '../app/app.ts';
import { dayAt } from '../sending/daily-limit.ts';

const dayMs = 24 * 3_600_000;

export type Gate = ReturnType<typeof createGate>;

/**
 * The one gate of sending in a daemon: `schedules.submit` alone decides. Opens with each run of that schedule on this
 * ledger, by any daemon, caught-up runs included. Stays open for the rest of that day in `schedules.timezone`, so that
 * later arrivals go too and work continues after a crash. An empty schedule never opens it.
 */
export function createGate({ config, clock, jobsStore }: Pick<App, 'config' | 'clock' | 'jobsStore'>) {
  const { submit: expression, timezone } = config.schedules;
  return {
    /**
     * Returns the scheduled run that lets payouts go now; null where there is none. `given`: the run under which a piece
     * of work began, which also covers the rest of that work past midnight.
     */
    async word(given?: string): Promise<string | null> {
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
