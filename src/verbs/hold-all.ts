import { z } from 'zod';
import { payoutOverview } from '../books/overview.sql.ts';
import type { Clock } from '../core/runtime/clock.ts';
import type { Ledger } from '../core/storage/ledger.ts';
import { halt } from '../sending/halts.sql.ts';
import { verb } from './verb.ts';

/** `sending`: the payouts already in a request, which nothing can hold. */
export type HoldAllOutcome = { kind: 'held_all'; sending: number };

/** The brake of everything (P21). */
export const holdAllVerb = verb({
  name: 'hold-all',
  can: 'decide',
  touchesMoney: true,
  input: z.strictObject({}),
  async run(
    { ledger, clock }: { ledger: Ledger; clock: Pick<Clock, 'iso'> },
    _input,
    { noted },
  ): Promise<HoldAllOutcome> {
    const cause = { kind: 'person' as const, ...(noted !== '' && { by: noted }) };
    await ledger.write((trx) => halt(trx, cause, clock.iso()));
    const { payouts } = await payoutOverview(ledger.db);
    return { kind: 'held_all', sending: payouts.sending ?? 0 };
  },
});
