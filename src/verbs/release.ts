import { z } from 'zod';
import { batchCounts } from '../core/ledger/batches.ts';
import { type HoldReason, readReasons, reasonMark } from '../core/ledger/hold-reasons.ts';
import type { Clock } from '../core/runtime/clock.ts';
import type { Config } from '../core/settings/settings.ts';
import type { Ledger } from '../core/storage/ledger.ts';
import { releaseWhole } from '../sending/decisions/whole-batch.ts';
import type { Halt } from '../sending/halt.ts';
import { findHalt, haltMarks } from '../sending/halts.sql.ts';
import { lookAgain } from './look-again.ts';
import { livingFor, type Refused } from './obstacles.ts';
import { verb } from './verb.ts';

type Parts = {
  ledger: Ledger;
  clock: Pick<Clock, 'iso'>;
  config: Pick<Config, 'submission' | 'intake' | 'reports'>;
};

/** `seen`: the reasons that the person saw. `halt`: why nothing is sent all the same. */
export type ReleaseOutcome = Awaited<ReturnType<typeof releaseWhole>> & {
  kind: 'released';
  batch: string;
  seen: HoldReason[];
  sending: number;
  halt: Halt | undefined;
};

/** Lets a held batch go; one that needs an approval stays held. */
export const releaseVerb = verb({
  name: 'release',
  can: 'decide',
  touchesMoney: true,
  /**
   * `shown`: the marks of the reasons, and of the failure of its canary, that the person saw: only these are lifted.
   * Without it, those that stand now.
   */
  input: z.strictObject({ batch: z.string(), shown: z.array(z.string()).optional() }),
  async run(
    { ledger, clock, config }: Parts,
    { batch, shown },
    { noted: by },
  ): Promise<ReleaseOutcome | Refused> {
    const { db } = ledger;
    const found = await livingFor(db, batch);
    if (found.kind === 'refused') return found;
    const reasons = readReasons(found.batch.hold_reasons);
    const seen = shown ? reasons.filter((reason) => shown.includes(reasonMark(reason))) : reasons;
    const halts = shown ?? (await haltMarks(db));
    const { dailyLimit } = config.submission;
    const at = clock.iso();
    const look = lookAgain(found.batch, { config, at });
    const done = await releaseWhole(ledger, { batch, at, dailyLimit, by, seen, halts, look });
    const [now] = await batchCounts(db, [batch]);
    const sending = now?.counts.sending ?? 0;
    return { kind: 'released', batch, seen, ...done, sending, halt: await findHalt(db) };
  },
});
