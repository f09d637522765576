import { z } from 'zod';
import type { App } from '../app/app.ts';
import { type Refused, refusedFor } from './obstacles.ts';
import { verb } from './verb.ts';

type Parts = Pick<App<'local'>, 'clock' | 'applyWebhooks' | 'reporting'>;
type Closed = Extract<Awaited<ReturnType<Parts['reporting']['closePeriod']>>, { kind: 'closed' }>;

/** `reports`: the files that were written. */
export type CloseOutcome = Closed & { reports: string[] };

/** Freezes the statement of a month that has ended, and writes its reports. */
export const closePeriodVerb = verb({
  name: 'close-period',
  can: 'decide',
  touchesMoney: false,
  input: z.strictObject({ month: z.string() }),
  async run(
    { clock, applyWebhooks, reporting }: Parts,
    { month },
    { name },
  ): Promise<CloseOutcome | Refused> {
    await applyWebhooks();
    const closed = await reporting.closePeriod(month, clock.iso(), name);
    if (closed.kind === 'refused') return refusedFor({ kind: 'not_closed', month, why: closed.why });
    const files = (await reporting.writePeriod(month)) ?? [];
    return { ...closed, reports: [...files, await reporting.writeIndex()] };
  },
});
